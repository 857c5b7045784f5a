"""Whether threadgroup memory is written before it is read: for each read a write that is found."""

from .initialised import ABOUT, initialised

__all__ = ["ABOUT", "initialised"]

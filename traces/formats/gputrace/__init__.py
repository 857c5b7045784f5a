"""Captures of Xcode's (`.gputrace`), as far as public knowledge of them goes."""

from .read import SUFFIX, read_gputrace

__all__ = ["SUFFIX", "read_gputrace"]

"""Changes to MSL source: where its statements stand, and texts with parts replaced."""

from .statements import Node, statements
from .text import Edit, applied, offset_of

__all__ = ["Edit", "Node", "applied", "offset_of", "statements"]

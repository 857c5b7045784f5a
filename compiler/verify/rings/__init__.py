"""Rings of buffers in threadgroup memory: who has which when, and which barriers they need."""

from .redundant import Need, needs_of
from .rotation import Rotation, rotations

__all__ = ["Need", "Rotation", "needs_of", "rotations"]

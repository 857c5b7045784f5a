"""Rings of buffers in threadgroup memory: who has which when, and which barriers they need."""

from .redundant import Need
from .report import Rings, rings_of
from .rotation import Rotation

__all__ = ["Need", "Rings", "Rotation", "rings_of"]

"""Rings of buffers in threadgroup memory: who has which when, and which barriers they need."""

from .redundant import Need
from .report import RESTS_ON, Rings, rings_of, rotations_of
from .rotation import Rotation
from .tiles import Tiles

__all__ = ["RESTS_ON", "Need", "Rings", "Rotation", "Tiles", "rings_of", "rotations_of"]

"""Straight-line instructions as Python closures over the register list."""

from __future__ import annotations

# Importing them fills the registry.
from . import buffers, globals, lists, references
from .registry import Registers, Step, build

__all__ = ["Registers", "Step", "buffers", "build", "globals", "lists", "references"]

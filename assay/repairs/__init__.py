"""Repairs: the smallest change of a source after which a kernel is proved."""

from .repair import Repair, repaired

__all__ = ["Repair", "repaired"]

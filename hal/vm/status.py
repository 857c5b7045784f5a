"""The error that everything in this package raises to its callers."""

from __future__ import annotations

from ..status import StatusError as VmError

__all__ = ["VmError"]

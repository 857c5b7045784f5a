"""Parameter files: large constants kept outside the module, looked up by scope and key."""

from __future__ import annotations

from .index import ParameterEntry, ParameterIndex, open_parameters

__all__ = ["ParameterEntry", "ParameterIndex", "open_parameters"]

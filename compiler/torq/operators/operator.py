"""What all operators have: named operands and one result."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

from .tensors import TensorType


@dataclass(frozen=True, kw_only=True)
class Operator:
    """An operator: fields that are types are its operands, `y` is its result.

    `weights` are constants: only their type is known here.
    """

    y: TensorType

    @cached_property
    def operands(self) -> dict[str, TensorType]:
        """What it reads that is no constant, by name."""
        found: dict[str, TensorType] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, TensorType) and field.name not in ("y", "weights"):
                found[field.name] = value
        return found

    @cached_property
    def tensors(self) -> dict[str, TensorType]:
        """Operands and result, by name."""
        return {**self.operands, "y": self.y}

"""Values that are known only when a kernel is dispatched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import FoundryError


@dataclass(frozen=True, slots=True)
class DynamicValue:
    """Stands for a field's value until dispatch, which looks `name` up among its values."""

    name: str


def dynamic(name: str) -> Any:
    """A field's value that dispatch gives: `Params(n=dynamic("n"))` is packed with `n=128`."""
    return DynamicValue(name)


def resolve(value: Any, values: Mapping[str, Any], where: str) -> Any:
    """The value itself, or what dispatch gives for it. Raises FoundryError naming the field."""
    if not isinstance(value, DynamicValue):
        return value
    if value.name not in values:
        given = ", ".join(values) or "none"
        raise FoundryError(
            "dynamic-value",
            f'{where} waits for a value of "{value.name}", which the dispatch does not give '
            f"(given: {given})",
        )
    return values[value.name]

"""How Python functions become importable by VM modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

NativeFunction = Callable[..., Any]
F = TypeVar("F", bound=NativeFunction)

_MARK = "_vm_exports"


def export(name: str, *conventions: str) -> Callable[[F], F]:
    """Export a method under a name, for modules that declare it with one of the conventions."""

    def mark(function: F) -> F:
        setattr(function, _MARK, (name, conventions))
        return function

    return mark


class NativeModule:
    """A module written in Python: methods marked with `export`."""

    name: str
    version: int = 0

    def exports(self) -> Mapping[str, tuple[tuple[str, ...], NativeFunction]]:
        """Name -> (calling conventions, bound function)."""
        found: dict[str, tuple[tuple[str, ...], NativeFunction]] = {}
        for attribute in dir(type(self)):
            marked = getattr(getattr(type(self), attribute), _MARK, None)
            if marked is not None:
                found[marked[0]] = (marked[1], getattr(self, attribute))
        return found

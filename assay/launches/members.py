"""Members of structs as they are given: by name, in tables of TOML or dictionaries of Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .inputs import Number


class MemberError(Exception):
    """What is given for a member is no number; `path` are the names down to it."""

    def __init__(self, path: tuple[str, ...], message: str) -> None:
        super().__init__(message)
        self.path = path


def members_given(
    values: Mapping[str, Any], path: tuple[str, ...] = ()
) -> dict[str, tuple[Number, ...]]:
    """Numbers by the members' names; a struct's in the struct as `inner.name`.

    Several structs in a list count as members by their numbers. Raises MemberError.
    """
    found: dict[str, tuple[Number, ...]] = {}
    for name, given in values.items():
        inner = _inner(given)
        if inner:
            below = members_given(inner, (*path, name))
            found |= {f"{name}.{each}": numbers for each, numbers in below.items()}
            continue
        found[name] = _numbers(given, (*path, name))
    return found


def _numbers(given: Any, path: tuple[str, ...]) -> tuple[Number, ...]:
    numbers = given if isinstance(given, list | tuple) else [given]
    if isinstance(given, np.ndarray | np.generic):
        numbers = given.reshape(-1).tolist()
    if not numbers or not all(is_number(number) for number in numbers):
        raise MemberError(path, f"expected a number or a list of numbers, not {given!r}")
    return tuple(numbers)


def _inner(value: Any) -> Mapping[str, Any]:
    """What is given for a struct in a struct, or by their numbers for several; nothing else."""
    if isinstance(value, list | tuple) and all(isinstance(each, Mapping) for each in value):
        return {str(number): each for number, each in enumerate(value)}
    return value if isinstance(value, Mapping) else {}


def is_number(value: Any) -> bool:
    """Whether it is a number as TOML has them, or a truth value."""
    return isinstance(value, bool | int | float)

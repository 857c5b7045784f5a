"""The values that a run-time variable may have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from ..errors import FoundryError
from ..structs.names import PLAIN
from ..structs.types import Scalar

Value = int | str


@dataclass(frozen=True, slots=True)
class Domain:
    """Integers from `least` to `most`, both included; those of `names` stand for names in order."""

    least: int
    most: int
    names: tuple[str, ...] = ()
    is_truth: bool = False

    def number(self, value: Any, where: str) -> int:
        """The integer for a value. Raises FoundryError for one that the variable cannot have."""
        if self.names:
            if value not in self.names:
                raise _cannot(value, where, " or ".join(map(repr, self.names)))
            return self.names.index(value)
        is_integer = isinstance(value, int | np.integer | np.bool_)
        if not is_integer or not self.least <= int(value) <= self.most:
            raise _cannot(value, where, f"{self.least} to {self.most}")
        return int(value)

    def shown(self, number: int) -> str:
        """How people write a value of it."""
        if self.names:
            return repr(self.names[number])
        return str(bool(number)) if self.is_truth else str(number)


def domain_of(declared: Any, where: str) -> Domain:
    """What a declaration allows: `range(1, 9)`, `("row", "column")`, or a type such as `uint`.

    Raises FoundryError for anything else.
    """
    if isinstance(declared, Domain):
        return declared
    if isinstance(declared, range) and declared and declared.step == 1:
        return Domain(declared.start, declared.stop - 1)
    if declared is bool:
        return Domain(0, 1, is_truth=True)
    if _is_names(declared):
        return Domain(0, len(declared) - 1, tuple(declared))
    marks = (mark for mark in get_args(declared)[1:] if isinstance(mark, Scalar))
    scalar = PLAIN.get(declared) if isinstance(declared, type) else next(marks, None)
    if scalar is None or np.dtype(scalar.dtype).kind not in "iu":
        raise FoundryError(
            "conditional-variable",
            f"{where}: {declared!r} is no set of values; give an integer type, a range without "
            "steps, or a tuple of names",
        )
    limits = np.iinfo(scalar.dtype)
    return Domain(int(limits.min), int(limits.max))


def _is_names(declared: Any) -> bool:
    return (
        isinstance(declared, Sequence)
        and not isinstance(declared, str | range)
        and len(declared) == len(set(declared)) > 0
        and all(isinstance(each, str) for each in declared)
    )


def _cannot(value: Any, where: str, allowed: str) -> FoundryError:
    return FoundryError("conditional-value", f"{where} cannot be {value!r}; it is {allowed}")

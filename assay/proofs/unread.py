"""Numbers that a kernel is given and never reads, but that say how long its buffers are."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.compiler.verify.answers import Counterexample

from .run_numbers import sizes_of
from .stated import Numbers

if TYPE_CHECKING:
    from assay.compiler.verify import Launch, Scalar

_MOST_TRIED = 4096


def with_unread(launch: Launch, example: Counterexample, lengths: Mapping[str, int]) -> Numbers:
    """The numbers of a counterexample, and of arguments that it does not tell some with which the
    buffers are as long as they are to be, if there are small ones.

    Args:
        launch: what is assumed of runs.
        example: what the solver found.
        lengths: bytes of buffers.
    """
    numbers = dict(example.arguments)
    for name, text in launch.lengths.items():
        wanted = lengths.get(name)
        search = _Search(launch, example, numbers)
        if wanted is not None and (open := search.open(text)):
            value = search.value(text, open[0], wanted)
            if value is not None:
                for scalar in open:
                    chosen = value if scalar is open[0] else 1
                    numbers[scalar.argument, scalar.offset] = f"i{scalar.width}", chosen
    return numbers


def smallest(launch: Launch, example: Counterexample) -> Counterexample | None:
    """A counterexample in one threadgroup, and with the number 1 for what the kernel never reads:
    the solver looks for small ones only of what it does read. None if that is all.

    Args:
        launch: what is assumed of runs.
        example: what the solver found.
    """
    search = _Search(launch, replace(example, groups=(1, 1, 1)), example.arguments)
    texts = {name: launch.lengths.get(name, "") for name in example.lengths}
    open = any(search.open(text) for text in texts.values() if text)
    lengths = {name: search.length(text) for name, text in texts.items() if text}
    if not open or any(length is None for length in lengths.values()):
        return None
    ones = {
        (each.argument, each.offset): (f"i{each.width}", 1)
        for each in launch.names.scalars.values()
    }
    return replace(
        example,
        groups=(1, 1, 1),
        arguments={**ones, **example.arguments},
        lengths={**example.lengths, **lengths},  # type: ignore[dict-item]
    )


class _Search:
    """Looks for a number with which an expression is what it should be."""

    def __init__(self, launch: Launch, example: Counterexample, numbers: Numbers) -> None:
        self._names = launch.names
        self._numbers = numbers
        self._sizes = sizes_of(example.groups, launch.size)

    def open(self, text: str) -> list[Scalar]:
        """The arguments that an expression names and that have no number."""
        found: dict[tuple[str, int], Scalar] = {}

        def note(scalar: Scalar) -> int:
            found[scalar.argument, scalar.offset] = scalar
            return 1

        self._of(text, note)
        return list(found.values())

    def length(self, text: str) -> int | None:
        """What an expression is if all that has no number is 1."""
        return self._of(text, lambda _: 1)

    def value(self, text: str, scalar: Scalar, wanted: int) -> int | None:
        """The least number of an argument with which an expression is what it should be."""
        at = scalar.argument, scalar.offset

        def of(value: int) -> Callable[[Scalar], int]:
            return lambda each: value if (each.argument, each.offset) == at else 1

        values = range(min(wanted, _MOST_TRIED) + 1)
        return next((each for each in values if self._of(text, of(each)) == wanted), None)

    def _of(self, text: str, otherwise: Callable[[Scalar], int]) -> int | None:
        from assay.compiler.verify import AssumptionError

        def find(name: str) -> int | None:
            scalar = self._names.scalar(name)
            if scalar is None:
                return self._sizes.get(name)
            known = self._numbers.get((scalar.argument, scalar.offset))
            if known is None:
                return otherwise(scalar)
            number = known[1]
            is_negative = scalar.is_signed and number >> (scalar.width - 1)
            return number - (1 << scalar.width) if is_negative else number

        with contextlib.suppress(AssumptionError, ZeroDivisionError):
            return self._names.length(text, find)
        return None

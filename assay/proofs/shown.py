"""The run that shows a counterexample, for people who want to repeat it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..launches.grid import size_text
from ..launches.inputs import Size
from .run_numbers import numbers_of

if TYPE_CHECKING:
    from assay.compiler.verify import Launch

    from ..launches.plan import Plan

_MOST = 12  # numbers, and lengths, that are told


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBy:
    """What was launched when a run showed that a property fails.

    Attributes:
        about: the property.
        threads: of the grid.
        numbers: integers that the kernel was given, by name.
        lengths: bytes of the buffers whose length is stated, by name.
    """

    about: str
    threads: Size
    numbers: tuple[tuple[str, int], ...]
    lengths: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        told = [f"{name} = {number}" for name, number in self.numbers[:_MOST]]
        told += [f"{length} bytes of {name}" for name, length in self.lengths[:_MOST]]
        numbers = f", {', '.join(told)}" if told else ""
        return f"a grid of {size_text(self.threads)} threads{numbers}"

    def to_json(self) -> dict[str, Any]:
        """The same as data."""
        return {
            "threads": list(self.threads),
            "numbers": dict(self.numbers),
            "lengths": dict(self.lengths),
        }


def shown_by(about: str, plan: Plan, launch: Launch) -> ShownBy:
    """What a run of a kernel is.

    Args:
        about: the property that it shows to fail.
        plan: the run.
        launch: what is assumed of runs.
    """
    find = numbers_of(plan, launch.names)
    numbers = ((name, find(name)) for name in launch.names.scalars)
    return ShownBy(
        about=about,
        threads=plan.grid.size,
        numbers=tuple((name, number) for name, number in numbers if number is not None),
        lengths=tuple(
            (each.argument.name, each.length)
            for each in plan.bound
            if each.argument.name in launch.lengths and not each.argument.is_reference
        ),
    )

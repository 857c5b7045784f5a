"""Which runs are among those that are assumed: what others show says nothing of a kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..launches.inputs import Given, Raw, Setup
from .run_numbers import numbers_of
from .stated import LONGEST

if TYPE_CHECKING:
    from assay.compiler.verify import Launch

    from ..launches.grid import Grid
    from ..launches.plan import Plan


class Allowed:
    """What is assumed of runs, but for the numbers in their buffers.

    Args:
        launch: what is assumed.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch

    def is_stated(self, name: str) -> bool:
        """Whether it is known how long an argument's memory is."""
        return name in self._launch.lengths

    def is_among(self, plan: Plan) -> bool:
        """Whether a run is as it is assumed. Raises AssumptionError if it lacks a number."""
        names, find = self._launch.names, numbers_of(plan, self._launch.names)
        holds = all(names.holds(text, find) for text in self._launch.holds)
        return holds and self._has_grid(plan.grid) and not self._too_short(plan)

    def in_full(self, setup: Setup, grid: Grid) -> Setup:
        """A setup whose last threadgroups are full, if they are assumed to be."""
        if grid.threads is None or self._launch.ragged:
            return setup
        x, y, z = (
            -(-of // size) * size for of, size in zip(grid.threads, grid.threadgroup, strict=True)
        )
        return replace(setup, threads=(x, y, z))

    def lengthened(self, setup: Setup, plan: Plan) -> Setup:
        """A setup whose buffers are as long as is stated of them with the numbers of its run, which
        may be others than a counterexample has: it does not tell those that a kernel never reads.

        Raises AssumptionError if it lacks a number.
        """
        one = {each.argument.name for each in plan.bound if each.argument.is_reference}
        longer: dict[str, Given] = {
            name: Raw(bytes=length)
            for name, length in self._too_short(plan).items()
            if name not in one and length <= LONGEST
        }
        return replace(setup, arguments={**setup.arguments, **longer})

    def _has_grid(self, grid: Grid) -> bool:
        if grid.threadgroup != self._launch.size:
            return False
        if self._launch.ragged or grid.threads is None:
            return True
        return not any(of % by for of, by in zip(grid.threads, grid.threadgroup, strict=True))

    def _too_short(self, plan: Plan) -> dict[str, int]:
        """Bytes that arguments should have which have less, a byte at least. Raises
        AssumptionError.
        """
        find = numbers_of(plan, self._launch.names)
        stated = {
            each: self._launch.names.length(text, find)
            for each, text in self._launch.lengths.items()
        }
        has = {each.argument.name: each.length for each in plan.bound}
        return {
            name: max(length, 1)
            for name, length in stated.items()
            if name in has and (length < 1 or has[name] < length)
        }

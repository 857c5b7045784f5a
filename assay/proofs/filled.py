"""Runs of counterexamples whose buffers hold what is assumed of their numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..launches.inputs import Exact, Setup
from ..launches.plan import Plan, make_plan
from .run_numbers import numbers_of

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction
    from assay.compiler.verify import Contents, Names, Scalar

_LEAST, _MOST = 4096, 1 << 14  # numbers of a buffer
_Arrays = dict[str, NDArray[Any]]
_Find = Callable[[str], int | None]


class Filled:
    """What is assumed of the numbers in a kernel's buffers, as runs need it.

    Args:
        kernel: the kernel.
        names: what assumptions speak of.
        holds: what is assumed.
    """

    def __init__(self, kernel: KernelFunction, names: Names, holds: Collection[str]) -> None:
        self._kernel = kernel
        self._names = names
        self._contents: Contents = names.contents(holds)

    @property
    def buffers(self) -> dict[str, Scalar]:
        """The buffers that are spoken of, by name."""
        return {each.name: each for each in self._contents.buffers}

    def setup(self, setup: Setup) -> Setup | None:
        """A setup with buffers that hold what is assumed; None if none are found.

        Raises:
            LaunchInputError: if the setup does not fit the kernel.
            CannotPlan: if the kernel cannot be run.
        """
        if not self.buffers:
            return setup
        plan = make_plan(self._kernel, setup)
        numbers = numbers_of(plan, self._names)
        held = self._held(plan)
        if not self._are_fulfilled(held, numbers):
            held = self._made(numbers, min(max(_LEAST, plan.grid.total), _MOST))
        if not self._are_fulfilled(held, numbers):
            return None
        given = {name: Exact(array=array) for name, array in held.items()}
        return replace(setup, arguments={**setup.arguments, **given})

    def _held(self, plan: Plan) -> _Arrays:
        data = {each.argument.name: each.data for each in plan.bound}
        found = {}
        for name, scalar in self.buffers.items():
            raw, size = data[name], scalar.width // 8
            assert raw is not None
            found[name] = raw[: len(raw) // size * size].view(_dtype(scalar))
        return found

    def _are_fulfilled(self, held: Mapping[str, NDArray[Any]], numbers: _Find) -> bool:
        for each in self._contents.elements:
            values = np.unique(held[each.of.name]).tolist()
            if len(values) == 0 or not all(each.holds(numbers, value) for value in values):
                return False
        for key in self._contents.distinct:
            rows = list(zip(*(held[each.name].tolist() for each in key.of), strict=False))
            if len(set(rows)) != len(rows):
                return False
        return True

    def _made(self, numbers: _Find, count: int) -> _Arrays:
        """The least numbers that are allowed: at random, but in order where they have to differ,
        so that neighbours are close.
        """
        random = np.random.default_rng(count)
        allowed = {
            name: [
                value
                for value in range(min(2 * count, _numbers_from_0(scalar)))
                if all(
                    each.holds(numbers, value)
                    for each in self._contents.elements
                    if each.of.name == name
                )
            ]
            for name, scalar in self.buffers.items()
        }
        found: _Arrays = {
            name: random.choice(np.array(values or [0], _dtype(self.buffers[name])), count)
            for name, values in allowed.items()
        }
        for key in self._contents.distinct:
            names = list(dict.fromkeys(each.name for each in key.of))
            # The first number goes slowest, so that those behind it are all taken.
            rows = [*itertools.islice(itertools.product(*(allowed[n] for n in names)), count)]
            for name, column in zip(names, zip(*rows, strict=True), strict=False):
                found[name] = np.array(column, _dtype(self.buffers[name]))
        return found


def _dtype(scalar: Scalar) -> np.dtype[Any]:
    return np.dtype(f"{'i' if scalar.is_signed else 'u'}{scalar.width // 8}")


def _numbers_from_0(scalar: Scalar) -> int:
    """How many numbers a type has that are not negative."""
    return 1 << scalar.width - scalar.is_signed

"""Arguments of a run, with the numbers in them that a counterexample tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ..launches.inputs import Exact, Setup
from ..launches.plan import make_plan

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction

Numbers = Mapping[tuple[str, int], tuple[str, int]]
"""By argument and byte: the type of an integer, and what it is."""

LONGEST: Final = 1 << 28
"""Bytes of an argument that is made longer."""


def with_numbers(kernel: KernelFunction, setup: Setup, numbers: Numbers) -> Setup:
    """A setup in which arguments hold numbers, and are else as they would be; of those that are not
    long enough, what is before is 0.

    Args:
        kernel: the kernel.
        setup: how it is run.
        numbers: of some of its arguments.

    Raises:
        LaunchInputError: if the setup does not fit the kernel.
        CannotPlan: if the kernel cannot be run.
    """
    if not numbers:
        return setup
    given = dict(setup.arguments)
    for bound in make_plan(kernel, setup).bound:
        name = bound.argument.name
        own = {at: number for (of, at), number in numbers.items() if of == name}
        if own and bound.data is not None:
            given[name] = Exact(array=_holding(bound.data, own))
    return replace(setup, arguments=given)


def _holding(data: NDArray[Any], numbers: Mapping[int, tuple[str, int]]) -> NDArray[Any]:
    """Bytes, with integers at some of them."""
    written = {
        at: number.to_bytes(max(int(element[1:]) // 8, 1), "little")
        for at, (element, number) in numbers.items()
        if 0 <= at < LONGEST
    }
    length = max([data.nbytes, *(at + len(raw) for at, raw in written.items())])
    made = np.zeros(length, np.uint8)
    made[: data.nbytes] = data.view(np.uint8)
    for at, raw in written.items():
        made[at : at + len(raw)] = np.frombuffer(raw, np.uint8)
    return made

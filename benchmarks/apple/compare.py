"""One kernel compiled twice, by Apple and by us, run on the same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.launches.constants import compiled_kernel
from assay.launches.inputs import Setup
from assay.launches.plan import Plan, make_plan
from assay.sim.simt import KernelFault, Memory, dispatch

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction, KernelLibrary

Bytes = NDArray[np.uint8]
# Assumed buffers grow until a kernel stays inside of them, as `assay check` lets them.
_GROWTH = (1, 16, 256, 4096)
_FUEL = 1 << 31


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What came out: how many bytes differ, or why the two could not be compared."""

    name: str
    different: int = 0
    problem: str = ""


def compared(ours: KernelLibrary, theirs: KernelLibrary, name: str) -> Comparison:
    """Run a kernel of both libraries with what is assumed for ours, and compare all buffers."""
    try:
        mine, _ = compiled_kernel(ours, name, {})
        other, _ = compiled_kernel(theirs, name, {})
        plan, left, right = _run_both(mine, other, ours)
    except Exception as error:
        return Comparison(name=name, problem=f"{type(error).__name__}: {error}")
    if left.keys() != right.keys():
        return Comparison(name=name, problem="the two take other buffers")
    given = {each.argument.index: each.data for each in plan.bound if each.data is not None}
    if all(np.array_equal(left[index], given[index]) for index in left):
        return Comparison(name=name, problem="it writes nothing under what is assumed")
    different = sum(int((left[index] != right[index]).sum()) for index in left)
    return Comparison(name=name, different=different)


def _run_both(
    mine: KernelFunction, other: KernelFunction, library: KernelLibrary
) -> tuple[Plan, dict[int, Bytes], dict[int, Bytes]]:
    sources = library.sources().values()
    for growth in _GROWTH:
        plan = make_plan(mine, Setup(), growth=growth, sources=sources)
        try:
            return plan, _run(mine, plan), _run(other, plan)
        except KernelFault as fault:
            if growth == _GROWTH[-1] or not plan.can_grow(fault.buffer):
                raise
    raise AssertionError("the last growth returns or raises")


def _run(kernel: KernelFunction, plan: Plan) -> dict[int, Bytes]:
    """The bytes of each buffer after the run, by index."""
    bound = {(each.argument.kind, each.argument.index): each for each in plan.bound}
    memory, buffers, arguments = Memory(), {}, []
    for argument in kernel.arguments:
        given = bound[(argument.kind, argument.index)]
        if given.data is None:
            arguments.append(given.length)
            continue
        buffers[argument.index] = np.array(given.data, copy=True)
        arguments.append(memory.register(buffers[argument.index], name=argument.name))
    grid = plan.grid
    dispatch(
        kernel.program().specialise(grid.threadgroup),
        memory,
        arguments,
        threads=grid.threads,
        threadgroups=grid.threadgroups,
        fuel=_FUEL,
        workers=1,  # in one order: what is assumed may let threadgroups write over each other
    )
    return buffers

"""One kernel compiled twice, by Apple and by us, run on the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.hw.apple.core.sampled import sampled_dispatch
from assay.hw.apple.facts.chips import Chip, chip
from assay.hw.apple.lower.lower import lower
from assay.launches.constants import compiled_kernel
from assay.launches.inputs import Setup
from assay.launches.plan import Plan, make_plan
from assay.sim.simt import KernelFault, Memory, dispatch
from assay.sim.simt.run.taping import tape_dispatch

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction, KernelLibrary

Bytes = NDArray[np.uint8]
Addressed = Mapping[str, Mapping[int, Bytes]]
"""Buffers that are not arguments: their bytes, by an argument and the offset of their address."""
Place = int | tuple[int, int]
"""The index of an argument, and of a buffer that is addressed where its address lies in it."""
# Assumed buffers grow until a kernel stays inside of them, as `assay check` lets them.
_GROWTH = (1, 16, 256, 4096)
# An assumed threadgroup gets so many times fewer threads where its memory has too few elements.
_MOST_SHRINK = 32
_FUEL = 1 << 31


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What came out: how many bytes differ, or why the two could not be compared.

    Attributes:
        ours, theirs: seconds that each is predicted to take; 0 where that was not asked.
    """

    name: str
    different: int = 0
    problem: str = ""
    ours: float = 0.0
    theirs: float = 0.0


def compared(
    ours: KernelLibrary,
    theirs: KernelLibrary,
    name: str,
    *,
    setup: Setup | None = None,
    addressed: Addressed | None = None,
    chip_name: str = "",
) -> Comparison:
    """Run a kernel of both libraries, as `setup` says and else as assumed; compare all buffers.

    With `chip_name`, both are timed on that chip, too.
    """
    addressed = addressed or {}
    setup = setup or Setup()
    try:
        mine, other = _kernel(ours, name, setup), _kernel(theirs, name, setup)
        plan, left, right = _run_both(mine, other, ours, setup, addressed)
        sides = (mine, other) if chip_name else ()
        times = [_seconds(each, plan, addressed, chip(chip_name)) for each in sides]
    except Exception as error:
        return Comparison(name=name, problem=f"{type(error).__name__}: {error}")
    if left.keys() != right.keys():
        return Comparison(name=name, problem="the two take other buffers")
    given = _prepared(mine, plan, addressed)[1]
    if all(np.array_equal(left[place], given[place]) for place in left):
        return Comparison(name=name, problem="it writes nothing")
    different = sum(int((left[place] != right[place]).sum()) for place in left)
    mine_takes, other_takes = times or (0.0, 0.0)
    return Comparison(name=name, different=different, ours=mine_takes, theirs=other_takes)


def _kernel(library: KernelLibrary, name: str, setup: Setup) -> KernelFunction:
    """A kernel, all of whose constants are what is said or assumed of them."""
    kernel, _ = compiled_kernel(library, name, setup.constants)
    return kernel


def _run_both(
    mine: KernelFunction,
    other: KernelFunction,
    library: KernelLibrary,
    setup: Setup,
    addressed: Addressed,
) -> tuple[Plan, dict[Place, Bytes], dict[Place, Bytes]]:
    """The plan under which neither faults, and what both leave: buffers grow, threads shrink."""
    growth = shrink = 1
    while True:
        plan = make_plan(mine, setup, growth=growth, shrink=shrink)
        try:
            return plan, run(mine, plan, addressed), run(other, plan, addressed)
        except KernelFault as fault:
            given = {bound.argument.name for bound in plan.bound}
            if growth != _GROWTH[-1] and plan.can_grow(fault.buffer):
                growth = _GROWTH[_GROWTH.index(growth) + 1]
            elif fault.buffer not in given and shrink != _MOST_SHRINK:
                # Of the kernel's own memory: most are made for one number of threads.
                growth, shrink = 1, 2 * shrink
            else:
                raise


def run(
    kernel: KernelFunction, plan: Plan, addressed: Addressed | None = None
) -> dict[Place, Bytes]:
    """The bytes of each buffer after the run, by index, and of those that are addressed."""
    memory, buffers, arguments = _prepared(kernel, plan, addressed or {})
    dispatch(
        kernel.program().specialise(plan.grid.threadgroup),
        memory,
        arguments,
        threads=plan.grid.threads,
        threadgroups=plan.grid.threadgroups,
        fuel=_FUEL,
        workers=1,  # in one order: what is assumed may let threadgroups write over each other
    )
    return buffers


def _prepared(
    kernel: KernelFunction, plan: Plan, addressed: Addressed
) -> tuple[Memory, dict[Place, Bytes], list[int]]:
    bound = {(each.argument.kind, each.argument.index): each for each in plan.bound}
    memory, arguments = Memory(), []
    buffers: dict[Place, Bytes] = {}
    for argument in kernel.arguments:
        given = bound[(argument.kind, argument.index)]
        if given.data is None:
            arguments.append(given.length)
            continue
        place, data = argument.index, np.array(given.data, copy=True)
        for offset, pointed in addressed.get(given.argument.name, {}).items():
            buffers[place, offset] = np.array(pointed, copy=True)
            address = memory.register(buffers[place, offset], name=f"{argument.name}+{offset}")
            data[offset : offset + 8] = np.array([address], np.uint64).view(np.uint8)
        buffers[place] = data
        arguments.append(memory.register(data, name=argument.name))
    return memory, buffers, arguments


def _seconds(kernel: KernelFunction, plan: Plan, addressed: Addressed, chip: Chip) -> float:
    """The predicted time of the dispatch, alone on an idle GPU."""
    memory, _, arguments = _prepared(kernel, plan, addressed)
    program = kernel.program()
    executable = program.specialise(plan.grid.threadgroup)
    groups = plan.grid.threadgroups
    if groups is None:
        assert plan.grid.threads is not None
        pairs = zip(plan.grid.threads, plan.grid.threadgroup, strict=True)
        x, y, z = (-(-threads // size) for threads, size in pairs)
        groups = (x, y, z)
    given = sum(each.length for each in plan.bound if each.data is None)
    code = lower(program.taped_function)
    sampled = sampled_dispatch(chip, executable, groups, given_memory=given, code=code)
    tape = tape_dispatch(
        executable,
        memory,
        arguments,
        threads=plan.grid.threads,
        threadgroups=plan.grid.threadgroups,
        sample=sampled.sample.positions,
    )
    return sampled.simulated(tape, warm=True).seconds

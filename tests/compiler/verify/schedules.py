"""Whether what a random kernel leaves depends on the order that its simdgroups run in."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from assay.sim.simt import KernelFault, Program
from assay.sim.simt.ir.context import FIRST_BUFFER_HANDLE, HANDLE_SHIFT
from assay.sim.simt.oracle.interleaved import BarrierMismatch, run_interleaved

from .random_kernels import BUFFERS, DATA, STATEMENTS, RandomKernel, Sizes, Tree, is_body

PROVED = ("barriers", "threadgroup races", "initialised", "buffer races")
"""Properties of which one is wrong if it does."""
_BYTES = 1 << 16  # of a buffer whose length is not known
_FUEL = 40_000  # blocks


def can_be_told(kernel: RandomKernel) -> bool:
    """Whether order changes nothing else: atomics give what others left, whenever they did."""
    return not kernel.is_strict and "atomic" not in _kinds(kernel.body)


def _kinds(statements: tuple[Tree, ...]) -> set[str]:
    inner = (part for each in statements for part in each if is_body(part))
    return {each[0] for each in statements} & STATEMENTS | {x for y in inner for x in _kinds(y)}


def depends_on_schedule(
    program: Program, kernel: RandomKernel, sizes: Sizes, seeds: Collection[int]
) -> bool:
    """Whether two runs leave different bytes, or one does not come to its end."""
    left = [_run(program, kernel, sizes, seed) for seed in seeds]
    # What leaves its buffer is nothing that proofs about order speak of.
    return "fault" not in left and any(each != left[0] for each in left[1:])


def _run(program: Program, kernel: RandomKernel, sizes: Sizes, seed: int) -> str | bytes:
    """What buffers hold after a run, or how it fails."""
    words: list[Any] = [[sizes.n], [sizes.m], list(DATA)]
    contents = [np.asarray(each, np.uint32).view(np.uint8) for each in words]
    contents += [np.zeros(_BYTES, np.uint8) for _ in BUFFERS]
    names = program.parameters
    handles = [FIRST_BUFFER_HANDLE + at for at in range(len(contents))]
    width, height = kernel.size
    across, down = sizes.groups
    try:
        run_interleaved(
            program.function,
            names,
            [each << HANDLE_SHIFT for each in handles],
            {
                handle: (data, each.name)
                for handle, data, each in zip(handles, contents, names, strict=True)
            },
            threadgroup_size=(width, height, 1),
            grid=(width * across - sizes.lacks, height * down, 1),
            seed=seed,
            fuel=_FUEL,
            holds_in_part=True,  # brute force tells of missing flags, for each memory alone
        )
    except KernelFault:
        return "fault"
    except BarrierMismatch:
        return "barrier"
    return b"".join(each.tobytes() for each in contents)

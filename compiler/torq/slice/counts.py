"""How often each agent of a nest moves something, and so how long the nest takes.

These are products of the counts of loops: no address, no weight and no encoding is needed.
"""

from __future__ import annotations

import math

from assay.hw.torq.datapath.cycles import pipelined
from assay.hw.torq.facts.machine import limit

from .errors import IllegalSliceProgram
from .kernel import Load, Nest, SliceKernel
from .transfers import block

_BEHIND_SUMS = ("DEBR", "ACT", "DEQW")
_LOOKUPS = limit("table_lookups")
MOST_STEPS = limit("block_steps")
"""Of the ALU, that add up to a block of partial sums."""


def steps_refusal(steps: int) -> str | None:
    """Why so many steps cannot add up to one block, or None."""
    return f"sums of {steps} terms; {MOST_STEPS} are possible" if steps > MOST_STEPS else None


def cycles(kernel: SliceKernel) -> int:
    """Cycles of a complete nest. Raises IllegalSliceProgram."""
    return pipelined(agents(kernel), blocks(kernel))


def blocks(kernel: SliceKernel) -> int:
    """How often the partial sums are filled. Raises IllegalSliceProgram."""
    shared = 1
    if kernel.operation is None or kernel.activation is None:
        raise IllegalSliceProgram("one of each", f"{kernel.name}: no ALU operation or activation")
    for alu, act in zip(kernel.operation.nest, kernel.activation.nest, strict=False):
        if alu is not act:
            break
        shared *= alu.count
    return shared


def agents(kernel: SliceKernel) -> dict[str, int]:
    """Cycles of each agent alone. Raises IllegalSliceProgram."""
    if kernel.data is None or kernel.operation is None or kernel.activation is None:
        raise IllegalSliceProgram("one of each", f"{kernel.name}: the nest is not complete")
    _, words = block(kernel.name, "DEDR", kernel.data.view, parts=kernel.data.parts)
    vectors = _product(kernel.activation.nest)
    lookups = -(-kernel.activation.width // _LOOKUPS) if kernel.activation.table else 1
    found = {
        "DEDR": _loads(kernel.data) * math.prod(dim.count for dim in words),
        "ALU": _product(kernel.operation.nest),
        "ACT": vectors * lookups,
        "DEQW": vectors,
    }
    for name, load in (
        ("DEDR1", kernel.indices),
        ("DEWR", kernel.weights),
        ("DEBR", kernel.bias),
    ):
        if load is not None:
            found[name] = _loads(load)
    if kernel.sums.kept:
        return {name: count for name, count in found.items() if name not in _BEHIND_SUMS}
    return found


def _loads(load: Load) -> int:
    counts = [loop.transfers or loop.count for loop in load.nest]
    if counts:
        counts[-1] = -(-counts[-1] // load.every)
    return math.prod(counts)


def _product(nest: Nest) -> int:
    return math.prod(loop.count for loop in nest)

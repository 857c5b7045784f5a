"""Reads of one place by one thread that find the same, unless there was a race before.

Of what goes wrong first in a run, nothing went wrong before. If another thread wrote a place
between two reads of it, with no barrier between them, that would be a race, and an earlier one. So
the two found the same, if the thread itself writes nothing there meanwhile. This may only be used
where races are looked for; and since lock step hides those of a simdgroup's lanes, and orders them
in no way that compilers hold to, these are to be looked for of such reads as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from assay.sim.simt.ir.nodes import THREADGROUP_ROOTS, AddressRoot, Block, Instruction, block_of
from assay.sim.simt.ir.operations.memory import LOAD

from ..accesses import address
from ..conditions import negation, one_of
from ..counts import Counts
from ..kernel import Kernel, barrier_of
from ..terms import Expression
from ..values import Values

_MOST_READS = 12  # before an access


@dataclass(frozen=True, slots=True)
class SameReads:
    """Two reads, and that they find the same where their places are the same."""

    reads: tuple[Instruction, Instruction]
    fact: Expression


def same_reads(values: Values, access: Instruction, counts: Counts) -> list[SameReads]:
    """That what a thread reads before an access is the same where its places are.

    Args:
        values: the thread's.
        access: which memory of the threadgroup.
        counts: the iterations of the loops around it.
    """
    kernel = values.kernel
    found: list[SameReads] = []
    reads = list(itertools.islice(_reads_before(kernel, access), _MOST_READS))
    for one, other in itertools.combinations(reads, 2):
        if _find_the_same(kernel, one, other):
            here = [values.counts_at(block_of(each), counts) for each in (one, other)]
            places = [
                address(values, each, at).value for each, at in zip((one, other), here, strict=True)
            ]
            bits = [
                values.read(each, at, "unsigned").value
                for each, at in zip((one, other), here, strict=True)
            ]
            fact = one_of(negation(places[0] == places[1]), bits[0] == bits[1])
            found.append(SameReads((one, other), fact))
    return [each for each in found if each.fact is not True]


def _reads_before(kernel: Kernel, access: Instruction) -> Iterator[Instruction]:
    """Integers that a thread surely reads before an access, in the same iterations, in order."""
    around = kernel.around(block_of(access))
    for block in _above(kernel, block_of(access)):
        if not all(loop in around for loop in kernel.around(block)):
            continue
        for each in block.body:
            if each is access:
                break
            if each.operation is LOAD and isinstance(each.root, THREADGROUP_ROOTS):
                is_integer = each.type == each.element and each.type.startswith("i")
                if is_integer and each.components == 1:
                    yield each


def _above(kernel: Kernel, block: Block) -> list[Block]:
    """The blocks that all ways to a block lead through, and it itself, in order."""
    found: list[Block] = []
    walk: Block | None = block
    while walk is not None:
        found.append(walk)
        walk = kernel.cfg.dominator[walk]
    return found[::-1]


def _find_the_same(kernel: Kernel, one: Instruction, other: Instruction) -> bool:
    """Whether two reads of one place find the same: nothing comes between that may write it.

    Blocks are in an order in which what may come between them stands between them.
    """
    if one.root != other.root or one.type != other.type:
        return False
    first, last = block_of(one), block_of(other)
    if kernel.around(first) != kernel.around(last):
        return False
    index = kernel.cfg.index
    between = kernel.cfg.order[index[first] : index[last] + 1]
    if any(barrier_of(block) is not None for block in between[:-1]):
        return False
    return not any(map(_may_write, _between(between, one, other)))


def _between(blocks: list[Block], one: Instruction, other: Instruction) -> Iterator[Instruction]:
    """The instructions of blocks behind one and before another."""
    for at, block in enumerate(blocks):
        start = block.body.index(one) + 1 if at == 0 else 0
        end = block.body.index(other) if at == len(blocks) - 1 else len(block.body)
        yield from block.body[start:end]


def _may_write(instruction: Instruction) -> bool:
    """Whether it writes memory of a threadgroup, whichever."""
    into = instruction.root
    is_shared = into is None or isinstance(into, (AddressRoot, *THREADGROUP_ROOTS))
    return instruction.operation.writes_memory and is_shared

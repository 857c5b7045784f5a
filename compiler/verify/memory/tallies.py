"""What a thread counted in a loop, of which another thread's read says that it was not nothing.

A number that grows by 0 or 1 in each iteration is at least what any one iteration added. Which
iteration matters is told by memory that nobody writes: the one in which the loop reads what another
thread read. So it is known that a thread that found no equal number before its own was not the
second of two that have one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.llvm_types import bits
from assay.sim.simt.ir.nodes import Block, Constant, Instruction, Value, block_of
from assay.sim.simt.ir.operations.conversions import ZEXT
from assay.sim.simt.ir.operations.integers import ADD
from assay.sim.simt.ir.operations.memory import LOAD

from ..accesses import address
from ..conditions import both, negation, one_of
from ..counts import Count, Counts
from ..kernel import Kernel, is_read_only
from ..loops import sources
from ..terms import Expression, quotient
from ..values import Values

_MOST = 4  # iterations that are asked about

_Come = tuple[Values, Instruction, Counts]
"""A thread that comes to an access, in iterations of the loops around it."""


def tallied(one: _Come, other: _Come) -> Iterator[Expression]:
    """What two threads that come to an access each surely counted before."""
    for mine, theirs in ((one, other), (other, one)):
        yield from itertools.islice(_tallied(mine, theirs), _MOST)


def _tallied(mine: _Come, theirs: _Come) -> Iterator[Expression]:
    values, access, _ = mine
    kernel = values.kernel
    for loop in kernel.cfg.loops:
        if not _was_gone_through(kernel, loop, access):
            continue
        for phi, one in _tallies(loop):
            for inside in _reads(kernel, loop.blocks):
                if kernel.cfg.innermost[block_of(inside)] is not loop:
                    continue
                for outside in _reads(kernel, _above(kernel, theirs[1])):
                    if outside.root == inside.root and outside.element == inside.element:
                        found = _at_least(mine, theirs, loop, phi, one, inside, outside)
                        if found is not None:
                            yield found


def _was_gone_through(kernel: Kernel, loop: Loop, access: Instruction) -> bool:
    """Whether a thread surely came to a loop, and left it, before an access, in the same iterations
    of the loops around.
    """
    around = kernel.around(loop.header)
    return (
        loop.header in _above(kernel, access)
        and block_of(access) not in loop.blocks
        and around[-1] is loop
        and all(each in kernel.around(block_of(access)) for each in around[:-1])
    )


def _tallies(loop: Loop) -> Iterator[tuple[Instruction, Value]]:
    """Variables that begin with 0 and grow by a bit in each iteration, and that bit."""
    for phi in loop.header.phis:
        if len(phi.operands) != 2:
            continue
        start, again = sources(phi, loop)
        if not isinstance(again, Instruction) or again.operation is not ADD:
            continue
        if not isinstance(start, Constant) or start.number != 0:
            continue
        for total, by in (again.operands, again.operands[::-1]):
            if total is not phi or not isinstance(by, Instruction) or by.operation is not ZEXT:
                continue
            if by.operands[0].type == "i1":
                yield phi, by.operands[0]


def _at_least(
    mine: _Come,
    theirs: _Come,
    loop: Loop,
    phi: Instruction,
    bit: Value,
    inside: Instruction,
    outside: Instruction,
) -> Expression | None:
    """That a tally is at least what was added as the loop read what the other thread read."""
    values, _, counts = mine
    others, _, other_counts = theirs
    last = values.counts_at(loop.header, counts)
    numbers = [values.facts.number_of(each) for each in (phi, inside, outside)]
    name = ".".join(map(str, ["tally", *numbers, values.thread.name]))
    some = Count(name)
    first, second = (
        address(values, inside, {**last, loop: Count(offset=at)}).value for at in (0, 1)
    )
    step = _number(second - first)
    if step is None or step <= 0:
        return None
    place = address(others, outside, others.counts_at(block_of(outside), other_counts)).value
    far = place - first
    which, total = quotient(far, step), values.term(phi, last)
    values.facts.state_all(some.free, some.facts)
    was_added = values.condition(bit, {**last, loop: some})
    count = last[loop].term.value
    is_there = both(far >= 0, far % step == 0, which < count, count < 1 << bits(phi.type))
    known = both(some.free == which, one_of(negation(was_added), total.value >= 1))
    return one_of(negation(is_there), known)


def _number(value: Expression) -> int | None:
    """A number that is known."""
    import z3

    if isinstance(value, int):
        return value
    simple = z3.simplify(value)
    return simple.as_long() if z3.is_int_value(simple) else None


def _reads(
    kernel: Kernel, blocks: frozenset[Block] | set[Block] | list[Block]
) -> Iterator[Instruction]:
    """Integers that are read, one by one, of what nobody writes."""
    for block in kernel.cfg.order:
        for each in block.body if block in blocks else ():
            is_one = each.operation is LOAD and each.components == 1
            if is_one and each.element.startswith("i") and is_read_only(each.root, kernel.written):
                yield each


def _above(kernel: Kernel, access: Instruction) -> list[Block]:
    """The blocks that all ways to an access lead through."""
    found: list[Block] = []
    walk: Block | None = block_of(access)
    while walk is not None:
        found.append(walk)
        walk = kernel.cfg.dominator[walk]
    return found

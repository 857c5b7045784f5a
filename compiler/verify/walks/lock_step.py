"""What lock step orders of two lanes' accesses, and what compilers keep of it."""

from __future__ import annotations

from assay.sim.simt.ir.nodes import Instruction

from ..conditions import both, one_of
from ..counts import Counts
from ..kernel import Kernel
from ..study import Study
from ..terms import Expression
from .order import is_before
from .sides import come_in_turn
from .visits import Visit


def not_in_lock_step(
    study: Study, one: Visit, other: Visit, here: Counts, there: Counts
) -> Expression:
    """Lanes of a simdgroup access memory in order, but for those of one instruction together, and
    for the sides of a branch, of which nothing says which comes first.
    """
    if study.apart or study.together or not _are_in_turn(study.kernel, one.access, other.access):
        return True
    apart = study.a.thread.simdgroup.value != study.b.thread.simdgroup.value
    if one.access is not other.access:
        return apart
    assert one.access.block is not None
    together = both(
        *(
            here[loop].term.value == there[loop].term.value
            for loop in study.kernel.around(one.access.block)
        )
    )
    return one_of(apart, together)


def _are_in_turn(kernel: Kernel, one: Instruction, other: Instruction) -> bool:
    """Whether all lanes that come to two accesses make them in one order."""
    assert one.block is not None and other.block is not None
    if not come_in_turn(kernel, one.block, other.block):
        return False
    return one is other or is_before(kernel, one, other) or is_before(kernel, other, one)

"""What lock step orders of two lanes' accesses, and what compilers keep of it."""

from __future__ import annotations

from ..conditions import both, one_of
from ..counts import Counts
from ..study import Study
from ..terms import Expression
from .order import is_before
from .visits import Visit, place, reached


def not_in_lock_step(
    study: Study, one: Visit, other: Visit, here: Counts, there: Counts
) -> Expression:
    """Lanes of a simdgroup access memory in order, but for those of one instruction together, and
    for the two sides of a branch, of which nothing says which comes first.
    """
    if study.apart or study.together:
        return True
    apart = study.a.thread.simdgroup.value != study.b.thread.simdgroup.value
    pair = (one.access, other.access)
    if one.access is not other.access:
        is_ordered = is_before(study.kernel, *pair) or is_before(study.kernel, *pair[::-1])
        return apart if is_ordered else True
    assert one.access.block is not None
    together = both(
        *(
            here[loop].term.value == there[loop].term.value
            for loop in study.kernel.around(one.access.block)
        )
    )
    return one_of(apart, together)


def may_follow(study: Study, one: Visit, other: Visit) -> bool:
    """Whether some thread may make two accesses, one after the other."""
    values, pair = study.a, (one.access, other.access)
    if one.access is other.access:
        here, there = place(values, one), place(study.b, other)
        turns = [here[loop].term.value != there[loop].term.value for loop in here]
        asked = [reached(values, one, here), reached(values, other, there), one_of(*turns)]
    elif is_before(study.kernel, *pair) or is_before(study.kernel, *pair[::-1]):
        # Loops that were left on the way to one are named after the thread itself.
        asked = [reached(values, each, place(study.b, each)) for each in (one, other)]
    else:
        return False
    return study.can(asked, may_be_one=True) == "yes"

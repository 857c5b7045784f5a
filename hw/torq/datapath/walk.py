"""Memory agents stepping through their descriptors, compiled."""

from .compiled import inlined
from .layout import (
    AT,
    BASE,
    COUNT,
    COUNTER,
    COUNTERS,
    DELTA,
    FIRST_LOOP,
    LOOPS,
    NEST,
    STATE,
    STEP,
    THROUGH,
)
from .state import Ints, Number


@inlined
def enter(state: Ints, nests: Ints, index: Number) -> None:
    """Stands at the first transfer of a descriptor."""
    for k in range(STATE):
        state[k] = 0
    state[AT] = nests[index, BASE]
    state[NEST] = index


@inlined
def advance(
    state: Ints,
    nests: Ints,
    loops: Ints,
    end: Number,
    short: Number,
    short_by: Number,
    short1: Number,
    short_by1: Number,
) -> None:
    """Goes on to the next transfer: the innermost loop ticks, full ones start over.

    A loop called `short` has `short_by` fewer steps in the last step of the loop around it. After
    the last transfer of the last descriptor (`end` is the number behind it) THROUGH is set.
    """
    nest = state[NEST]
    first = nests[nest, FIRST_LOOP]
    count = nests[nest, LOOPS]
    for k in range(count):
        row = first + k
        size = loops[row, COUNT]
        if (
            short_by > 0
            and k == short
            and k + 1 < count
            and state[COUNTERS + k + 1] == loops[row + 1, COUNT] - 1
        ):
            size -= short_by
        if (
            short_by1 > 0
            and k == short1
            and k + 1 < count
            and state[COUNTERS + k + 1] == loops[row + 1, COUNT] - 1
        ):
            size -= short_by1
        counter = loops[row, COUNTER]
        if state[COUNTERS + k] + 1 < size:
            state[COUNTERS + k] += 1
            state[AT] += loops[row, DELTA]
            if counter:
                state[counter] += loops[row, STEP]
            return
        if counter:
            state[counter] -= loops[row, STEP] * state[COUNTERS + k]
        state[COUNTERS + k] = 0
    if nest + 1 < end:
        enter(state, nests, nest + 1)
    else:
        state[THROUGH] = 1

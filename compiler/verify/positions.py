"""Where a thread is, as terms: its place in the threadgroup is its own, the rest is shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.sim.lanes import LANES
from assay.sim.simt.ir.operations import positions as rows
from assay.sim.simt.ir.operations.operation import Operation

from .kernel import Size
from .terms import Term, constant, ranged

_AXES = "xyz"
_MOST_THREADS = 1 << 32  # of a grid, in one dimension: what a position of 32 bits can tell apart


class Positions:
    """One thread of an arbitrary threadgroup in a grid of full threadgroups.

    Attributes:
        name: tells its symbols from those of another thread.
        is_one_of_many: whether what only it knows is a function of its index, so that two threads
            that turn out to be the same know the same.
        facts: what holds of all the symbols.
        place: its position in the threadgroup.
        group: the threadgroup's position in the grid; threads with the same `group_name` share it.
    """

    def __init__(
        self, name: str, size: Size, group_name: str = "group", *, is_one_of_many: bool = False
    ) -> None:
        import z3

        self.name = name
        self.is_one_of_many = is_one_of_many
        self.size = size
        self.place = [_symbol(f"{name}.{axis}", n) for axis, n in zip(_AXES, size, strict=True)]
        counts = [max(1, _MOST_THREADS // n) for n in size]
        self.groups = [
            ranged(z3.Int(f"groups.{axis}"), 1, n) for axis, n in zip(_AXES, counts, strict=True)
        ]
        self.group = [
            ranged(z3.Int(f"{group_name}.{axis}"), 0, n - 1)
            for axis, n in zip(_AXES, counts, strict=True)
        ]
        threads = size[0] * size[1] * size[2]
        x, y, z = (each.value for each in self.place)
        self.index = ranged(x + size[0] * (y + size[1] * z), 0, threads - 1)
        self.lane = _symbol(f"{name}.lane", min(LANES, threads))
        self.simdgroup = _symbol(f"{name}.simdgroup", -(-threads // LANES))
        self.facts: list[Any] = [
            fact for each in (*self.place, self.lane, self.simdgroup) for fact in bounds(each)
        ]
        self.facts.append(self.index.value == LANES * self.simdgroup.value + self.lane.value)
        for group, groups in zip(self.group, self.groups, strict=True):
            self.facts += [group.value >= 0, group.value < groups.value, *bounds(groups)]

    def term(self, operation: Operation, dimension: int) -> Term | None:
        """What a position is; None if it is not known here."""
        found = _TERMS.get(operation)
        return None if found is None else found(self, dimension)

    def in_grid(self, dimension: int) -> Term:
        """The thread's position in the grid."""
        size, place, group = self.size[dimension], self.place[dimension], self.group[dimension]
        most = _MOST_THREADS // size * size - 1
        return ranged(group.value * size + place.value, 0, max(most, 0))

    def threads_of_grid(self, dimension: int) -> Term:
        """How many threads the grid has."""
        size = self.size[dimension]
        groups = self.groups[dimension]
        return ranged(groups.value * size, size, _MOST_THREADS // size * size)


def bounds(term: Term) -> list[Any]:
    """What a term's bounds say, as far as it is not a number."""
    if term.constant is not None:
        return []
    return [term.value >= term.least, term.value <= term.most]


def _symbol(name: str, count: int) -> Term:
    import z3

    return constant(0) if count == 1 else ranged(z3.Int(name), 0, count - 1)


def _matrix_row(thread: Positions, _: int) -> Term:
    """As `shape.matrix_row` has it: bit 4 of the lane, then its bits 2 and 1."""
    lane = thread.lane.value
    if thread.lane.constant is not None:
        return constant(0)
    return ranged(lane / 16 % 2 * 4 + lane / 2 % 4, 0, 7)


def _matrix_column(thread: Positions, _: int) -> Term:
    """As `shape.matrix_column` has it: bits 3 and 0 of the lane, and an even number."""
    lane = thread.lane.value
    if thread.lane.constant is not None:
        return constant(0)
    return ranged(lane / 8 % 2 * 4 + lane % 2 * 2, 0, 6, zeros=1)


def _threads(thread: Positions) -> int:
    return thread.size[0] * thread.size[1] * thread.size[2]


_TERMS: dict[Operation, Callable[[Positions, int], Term]] = {
    rows.THREAD_POSITION_IN_GRID: lambda t, d: t.in_grid(d),
    rows.THREAD_POSITION_IN_THREADGROUP: lambda t, d: t.place[d],
    rows.THREADGROUP_POSITION_IN_GRID: lambda t, d: t.group[d],
    rows.THREADS_PER_THREADGROUP: lambda t, d: constant(t.size[d]),
    rows.DISPATCH_THREADS_PER_THREADGROUP: lambda t, d: constant(t.size[d]),
    rows.THREADS_PER_GRID: lambda t, d: t.threads_of_grid(d),
    rows.THREADGROUPS_PER_GRID: lambda t, d: t.groups[d],
    rows.THREAD_INDEX_IN_THREADGROUP: lambda t, d: t.index,
    rows.THREAD_INDEX_IN_SIMDGROUP: lambda t, d: t.lane,
    rows.SIMDGROUP_INDEX_IN_THREADGROUP: lambda t, d: t.simdgroup,
    rows.SIMDGROUPS_PER_THREADGROUP: lambda t, d: constant(-(-_threads(t) // LANES)),
    rows.DISPATCH_SIMDGROUPS_PER_THREADGROUP: lambda t, d: constant(-(-_threads(t) // LANES)),
    rows.MATRIX_ROW: _matrix_row,
    rows.MATRIX_COLUMN: _matrix_column,
}

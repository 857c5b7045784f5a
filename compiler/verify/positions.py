"""Where a thread is, as terms: its place in the threadgroup is its own, the rest is shared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from assay.sim.lanes import LANES
from assay.sim.simt.ir.operations import positions as rows
from assay.sim.simt.ir.operations.operation import Operation

from .kernel import Size
from .terms import Term, choose, constant, ranged

_AXES = "xyz"
_MOST_THREADS = 1 << 32  # of a grid, in one dimension: what a position of 32 bits can tell apart


class Positions:
    """One thread of an arbitrary threadgroup in a grid.

    Attributes:
        name: tells its symbols from those of another thread.
        is_ragged: whether the last threadgroups of the grid may not be full.
        is_one_of_many: whether what only it knows is a function of its index, so that two threads
            that turn out to be the same know the same.
        facts: what holds of all the symbols.
        place: its position in the threadgroup.
        group: the threadgroup's position in the grid; threads with the same `group_name` share it.
    """

    def __init__(
        self,
        name: str,
        size: Size,
        group_name: str = "group",
        *,
        is_one_of_many: bool = False,
        is_ragged: bool = False,
    ) -> None:
        from .native.building import integer

        self.name = name
        self.is_one_of_many = is_one_of_many
        self.size = size
        self.is_ragged = is_ragged
        self.place = [_symbol(f"{name}.{axis}", n) for axis, n in zip(_AXES, size, strict=True)]
        counts = [max(1, _MOST_THREADS // n) for n in size]
        self.groups = [
            ranged(integer(f"groups.{axis}"), 1, n) for axis, n in zip(_AXES, counts, strict=True)
        ]
        self.group = [
            ranged(integer(f"{group_name}.{axis}"), 0, n - 1)
            for axis, n in zip(_AXES, counts, strict=True)
        ]
        threads = size[0] * size[1] * size[2]
        x, y, z = (each.value for each in self.place)
        self.index = ranged(x + size[0] * (y + size[1] * z), 0, threads - 1)
        if is_ragged and threads > size[0]:
            # Rows of the last threadgroups are shorter than others.
            self.index = _symbol(f"{name}.index", threads)
        self.lane = _symbol(f"{name}.lane", min(LANES, threads))
        self.simdgroup = _symbol(f"{name}.simdgroup", -(-threads // LANES))
        self.facts: list[Any] = [
            fact for each in (*self.place, self.lane, self.simdgroup) for fact in bounds(each)
        ]
        self.facts.append(self.index.value == LANES * self.simdgroup.value + self.lane.value)
        for group, groups in zip(self.group, self.groups, strict=True):
            self.facts += [group.value >= 0, group.value < groups.value, *bounds(groups)]
        if is_ragged:
            self.facts += [*bounds(self.index), *self._in_ragged_grid()]

    def corners(self) -> Iterator[list[Any]]:
        """What makes it the first thread of a grid, and the last one."""
        yield [each.value == 0 for each in (*self.place, *self.group)]
        if not self.is_ragged:
            last = [each.value == n - 1 for each, n in zip(self.place, self.size, strict=True)]
            ends = zip(self.group, self.groups, strict=True)
            yield [*last, *(group.value == groups.value - 1 for group, groups in ends)]

    def _in_ragged_grid(self) -> Iterator[Any]:
        """That the grid's last threadgroups have a thread at least, and that this one is in it."""
        for dimension, (size, groups) in enumerate(zip(self.size, self.groups, strict=True)):
            threads = self.threads_of_grid(dimension).value
            yield threads > (groups.value - 1) * size
            yield threads <= groups.value * size
            yield self.in_grid(dimension).value < threads

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
        if self.is_ragged:
            from .native.building import integer

            return ranged(integer(f"grid.{_AXES[dimension]}"), 1, _MOST_THREADS // size * size)
        return ranged(groups.value * size, size, _MOST_THREADS // size * size)

    def threads_of_group(self, dimension: int) -> Term:
        """How many threads the thread's own threadgroup has."""
        size = self.size[dimension]
        if not self.is_ragged or size == 1:
            return constant(size)
        left = self.threads_of_grid(dimension).value - self.group[dimension].value * size
        return ranged(choose(left < size, left, size), 1, size)

    def simdgroups(self) -> Term | None:
        """How many simdgroups the thread's own threadgroup has; None if that is not known."""
        return None if self.is_ragged else constant(-(-_threads(self) // LANES))


def bounds(term: Term) -> list[Any]:
    """What a term's bounds say, as far as it is not a number."""
    if term.constant is not None:
        return []
    return [term.value >= term.least, term.value <= term.most]


def _symbol(name: str, count: int) -> Term:
    from .native.building import integer

    return constant(0) if count == 1 else ranged(integer(name), 0, count - 1)


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


_TERMS: dict[Operation, Callable[[Positions, int], Term | None]] = {
    rows.THREAD_POSITION_IN_GRID: lambda t, d: t.in_grid(d),
    rows.THREAD_POSITION_IN_THREADGROUP: lambda t, d: t.place[d],
    rows.THREADGROUP_POSITION_IN_GRID: lambda t, d: t.group[d],
    rows.THREADS_PER_THREADGROUP: lambda t, d: t.threads_of_group(d),
    rows.DISPATCH_THREADS_PER_THREADGROUP: lambda t, d: constant(t.size[d]),
    rows.THREADS_PER_GRID: lambda t, d: t.threads_of_grid(d),
    rows.THREADGROUPS_PER_GRID: lambda t, d: t.groups[d],
    rows.THREAD_INDEX_IN_THREADGROUP: lambda t, d: t.index,
    rows.THREAD_INDEX_IN_SIMDGROUP: lambda t, d: t.lane,
    rows.SIMDGROUP_INDEX_IN_THREADGROUP: lambda t, d: t.simdgroup,
    rows.SIMDGROUPS_PER_THREADGROUP: lambda t, d: t.simdgroups(),
    rows.DISPATCH_SIMDGROUPS_PER_THREADGROUP: lambda t, d: constant(-(-_threads(t) // LANES)),
    rows.MATRIX_ROW: _matrix_row,
    rows.MATRIX_COLUMN: _matrix_column,
}

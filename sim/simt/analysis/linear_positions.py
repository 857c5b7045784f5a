"""The patterns that thread positions have over the lanes, and what division makes of patterns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..ir.nodes import Instruction, Value, integer
from ..ir.operations.integers import ADD, MUL, UDIV, UREM
from ..ir.operations.operation import Operation
from ..ir.operations.positions import (
    MATRIX_COLUMN,
    MATRIX_ROW,
    SIMDGROUP_INDEX_IN_THREADGROUP,
    THREAD_INDEX_IN_SIMDGROUP,
    THREAD_INDEX_IN_THREADGROUP,
    THREAD_POSITION_IN_GRID,
    THREAD_POSITION_IN_THREADGROUP,
    THREADGROUP_POSITION_IN_GRID,
)
from ..ir.shape import LANES, Shape, matrix_column, matrix_row
from .linear_form import Form, Pattern, number_of
from .linear_scalars import Scalars


class Positions(Scalars):
    """Finds the forms of a thread's positions, which depend on the threadgroup's shape."""

    def __init__(self, shape: Shape, lanes: Pattern, groups: Pattern) -> None:
        """Prepare patterns of lanes, `groups[n]` threadgroups from the first that runs."""
        super().__init__(shape)
        self.lanes = lanes
        self.groups = groups
        self._zeros: Pattern = (0,) * len(lanes)

    def uniform(self, value: Value) -> Form:
        """The form of what is the same in all lanes."""
        return Form(value, self._zeros)

    def group(self, position: Instruction) -> Form | None:
        """Where a threadgroup is, if several that are neighbours in x run at once."""
        first = self._new(THREADGROUP_POSITION_IN_GRID, "i32", *position.operands)
        self.facts.promised[first] = max(self.groups) + 1
        return Form(first, self.groups)

    def lane_index(self, _: Instruction) -> Form | None:
        """A thread's number in its simdgroup."""
        return Form(integer("i32", 0), self.lanes)

    def row(self, _: Instruction) -> Form | None:
        """A lane's row of a matrix."""
        return Form(integer("i32", 0), tuple(map(matrix_row, self.lanes)))

    def column(self, _: Instruction) -> Form | None:
        """A lane's column of a matrix."""
        return Form(integer("i32", 0), tuple(map(matrix_column, self.lanes)))

    def thread_index(self, _: Instruction) -> Form | None:
        """A thread's number in its threadgroup."""
        return Form(self._first_thread(), self.lanes)

    def in_threadgroup(self, position: Instruction) -> Form | None:
        """A thread's x, y or z in its threadgroup."""
        dimension = number_of(position.operands[0])
        assert dimension is not None
        return self._local_position(dimension)

    def in_grid(self, position: Instruction) -> Form | None:
        """A thread's x, y or z in the grid."""
        dimension = number_of(position.operands[0])
        assert dimension is not None
        local = self._local_position(dimension)
        if local is None:
            return None
        group = self._new(THREADGROUP_POSITION_IN_GRID, "i32", integer("i32", dimension))
        start = self._new(MUL, "i32", group, integer("i32", self.shape.nominal[dimension]))
        return replace(local, base=self._new(ADD, "i32", start, local.base))

    def _simdgroup(self) -> Value:
        if self.shape.simdgroups == 1:
            return integer("i32", 0)
        return self._new(SIMDGROUP_INDEX_IN_THREADGROUP, "i32")

    def _first_thread(self) -> Value:
        return self._new(MUL, "i32", self._simdgroup(), integer("i32", LANES))

    def _local_position(self, dimension: int) -> Form | None:
        """A thread's x, y or z in its threadgroup, if lanes follow the same pattern everywhere."""
        index = Form(self._first_thread(), self.lanes)
        for inner in range(dimension):
            quotient = self._divide(index, self.shape.size[inner])
            if quotient is None:
                return None
            index = quotient
        if dimension == 2:
            return index
        return self._remainder(index, self.shape.size[dimension])

    def _divide(self, form: Form, divisor: int) -> Form | None:
        low, high = min(form.lanes), max(form.lanes)
        if low < 0 or (self.facts.multiple(form.base) % divisor and number_of(form.base) != 0):
            if divisor % (high + 1) or self.facts.multiple(form.base) % (high + 1):
                return None
            # All lanes are inside one multiple of the divisor.
            return self.uniform(
                self._new(UDIV, form.base.type, form.base, integer(form.base.type, divisor))
            )
        base = self._new(UDIV, form.base.type, form.base, integer(form.base.type, divisor))
        return Form(base, tuple(lane // divisor for lane in form.lanes))

    def _remainder(self, form: Form, divisor: int) -> Form | None:
        high = max(form.lanes)
        if self.facts.multiple(form.base) % divisor == 0 or number_of(form.base) == 0:
            return Form(integer(form.base.type, 0), tuple(lane % divisor for lane in form.lanes))
        if divisor % (high + 1) == 0 and self.facts.multiple(form.base) % (high + 1) == 0:
            base = self._new(UREM, form.base.type, form.base, integer(form.base.type, divisor))
            return Form(base, form.lanes)
        return None


POSITIONS: dict[Operation, Callable[[Positions, Instruction], Form | None]] = {
    THREAD_INDEX_IN_SIMDGROUP: Positions.lane_index,
    MATRIX_ROW: Positions.row,
    MATRIX_COLUMN: Positions.column,
    THREAD_INDEX_IN_THREADGROUP: Positions.thread_index,
    THREAD_POSITION_IN_THREADGROUP: Positions.in_threadgroup,
    THREAD_POSITION_IN_GRID: Positions.in_grid,
    THREADGROUP_POSITION_IN_GRID: Positions.group,
}
"""What finds the form of each position in which lanes differ."""

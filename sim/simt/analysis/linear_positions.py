"""The patterns that thread positions have over the lanes, and what division makes of patterns."""

from __future__ import annotations

from dataclasses import replace

from ..ir.nodes import Instruction, Value, integer
from ..ir.shape import LANES, matrix_column, matrix_row
from .linear_form import IOTA, Form, number_of
from .linear_scalars import Scalars


class Positions(Scalars):
    """Finds the forms of a thread's positions, which depend on the threadgroup's shape."""

    def _position(self, instruction: Instruction) -> Form | None:
        name = instruction.callee
        if name == "thread_index_in_simdgroup":
            return Form(integer("i32", 0), IOTA)
        if name == "matrix_row":
            return Form(integer("i32", 0), tuple(map(matrix_row, IOTA)))
        if name == "matrix_column":
            return Form(integer("i32", 0), tuple(map(matrix_column, IOTA)))
        if name == "thread_index_in_threadgroup":
            return Form(self._first_thread(), IOTA)
        if name in ("thread_position_in_threadgroup", "thread_position_in_grid"):
            dimension = number_of(instruction.operands[0])
            assert dimension is not None
            local = self._local_position(dimension)
            if local is None or name == "thread_position_in_threadgroup":
                return local
            group = self._intrinsic("threadgroup_position_in_grid", integer("i32", dimension))
            start = self._new("mul", "i32", group, integer("i32", self.shape.nominal[dimension]))
            return replace(local, base=self._new("add", "i32", start, local.base))
        return None

    def _simdgroup(self) -> Value:
        if self.shape.simdgroups == 1:
            return integer("i32", 0)
        return self._intrinsic("simdgroup_index_in_threadgroup")

    def _first_thread(self) -> Value:
        return self._new("mul", "i32", self._simdgroup(), integer("i32", LANES))

    def _local_position(self, dimension: int) -> Form | None:
        """A thread's x, y or z in its threadgroup, if lanes follow the same pattern everywhere."""
        index = Form(self._first_thread(), IOTA)
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
            return Form(
                self._new("udiv", form.base.type, form.base, integer(form.base.type, divisor))
            )
        base = self._new("udiv", form.base.type, form.base, integer(form.base.type, divisor))
        return Form(base, tuple(lane // divisor for lane in form.lanes))

    def _remainder(self, form: Form, divisor: int) -> Form | None:
        high = max(form.lanes)
        if self.facts.multiple(form.base) % divisor == 0 or number_of(form.base) == 0:
            return Form(integer(form.base.type, 0), tuple(lane % divisor for lane in form.lanes))
        if divisor % (high + 1) == 0 and self.facts.multiple(form.base) % (high + 1) == 0:
            base = self._new("urem", form.base.type, form.base, integer(form.base.type, divisor))
            return Form(base, form.lanes)
        return None

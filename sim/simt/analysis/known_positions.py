"""What threads compute from their positions alone, by the reference meaning of operations."""

from __future__ import annotations

from ..ir.llvm_types import is_float
from ..ir.nodes import Constant, Instruction, Value
from ..ir.operations.control import PHI, SELECT
from ..ir.operations.integers import AND, OR
from ..ir.operations.operation import OfOperands, OfThread, Thread, Types
from ..ir.operations.positions import (
    MATRIX_COLUMN,
    MATRIX_ROW,
    SIMDGROUP_INDEX_IN_THREADGROUP,
    THREAD_INDEX_IN_SIMDGROUP,
    THREAD_INDEX_IN_THREADGROUP,
    THREAD_POSITION_IN_GRID,
    THREAD_POSITION_IN_THREADGROUP,
)
from ..ir.shape import LANES, Shape

# Positions that do not depend on where the threadgroup is.
_INSIDE = frozenset(
    {
        MATRIX_COLUMN,
        MATRIX_ROW,
        SIMDGROUP_INDEX_IN_THREADGROUP,
        THREAD_INDEX_IN_SIMDGROUP,
        THREAD_INDEX_IN_THREADGROUP,
        THREAD_POSITION_IN_THREADGROUP,
    }
)
_DEPTH = 12
_DECIDES = {AND: 0, OR: 1}  # what one bit says whatever the other one is


class KnownPositions:
    """Evaluates values for the threads of one threadgroup."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._threads: dict[int, list[Thread]] = {}
        self._numbers: dict[tuple[Value, int], int | None] = {}  # by value and index of the thread

    def of(self, value: Value, lane: int) -> list[int] | None:
        """A value in a lane of each simdgroup that has it; None unless all are known."""
        found: list[int] = []
        for thread in self._in_simdgroups(lane):
            number = self._evaluate(value, thread, _DEPTH)
            if number is None:
                return None
            found.append(number)
        return found

    def pattern(
        self, value: Value, lanes: tuple[int, ...]
    ) -> tuple[int, int, tuple[int, ...]] | None:
        """(start, step, pattern) of a value that is `start + step * simdgroup + pattern[n]`.

        That is in each simdgroup's lane `lanes[n]`.
        """
        if self.of(value, lanes[0]) is None:
            return None
        columns = [self.of(value, lane) for lane in lanes]
        firsts = columns[0]
        if firsts is None:
            return None
        start = firsts[0]
        step = firsts[1] - start if len(firsts) > 1 else 0
        if any(each != start + step * number for number, each in enumerate(firsts)):
            return None
        pattern = []
        for column in columns:
            if column is None:
                return None
            found = {each - first for each, first in zip(column, firsts, strict=False)}
            if len(found) > 1:
                return None
            pattern.append(found.pop() if found else 0)  # nobody is there
        return start, step, tuple(pattern)

    def equal(self, position: Instruction, first: int, second: int) -> bool:
        """Whether two lanes have the same position, in each simdgroup that has the second."""
        meaning = position.operation.meaning
        assert isinstance(meaning, OfThread)
        dimension = _dimension(position)
        return all(
            dimension is not None
            and meaning.compute(one)[dimension] == meaning.compute(other)[dimension]
            for one, other in zip(
                self._in_simdgroups(first), self._in_simdgroups(second), strict=False
            )
        )

    def _evaluate(self, value: Value, thread: Thread, depth: int) -> int | None:
        """A value in a thread; None if it depends on anything but the thread's place."""
        if isinstance(value, Constant):
            return value.number
        if not isinstance(value, Instruction) or depth == 0 or value.operation is PHI:
            return None
        key = value, thread.index
        if key not in self._numbers:
            self._numbers[key] = self._compute(value, thread, depth)
        return self._numbers[key]

    def _compute(self, value: Instruction, thread: Thread, depth: int) -> int | None:
        meaning = value.operation.meaning
        if isinstance(meaning, OfThread):
            dimension = _dimension(value)
            known = value.operation in _INSIDE and dimension is not None
            return meaning.compute(thread)[dimension] if known and dimension is not None else None
        if not isinstance(meaning, OfOperands) or is_float(value.type):
            return None
        if value.operation is SELECT:  # also `a && b`, of which b need not be known
            condition = self._evaluate(value.operands[0], thread, depth - 1)
            chosen = value.operands[1 if condition else 2]
            return None if condition is None else self._evaluate(chosen, thread, depth - 1)
        operands = [self._evaluate(each, thread, depth - 1) for each in value.operands]
        deciding = _DECIDES.get(value.operation) if value.type == "i1" else None
        if deciding is not None and deciding in operands:
            return deciding
        numbers = [each for each in operands if each is not None]
        if len(numbers) < len(operands) or not numbers:
            return None
        types = Types(value.operands[0].type, value.type, value.predicate)
        return meaning.compute(types, numbers)

    def _in_simdgroups(self, lane: int) -> list[Thread]:
        """The threads that a lane is in the simdgroups of a threadgroup at the grid's origin."""
        if lane not in self._threads:
            self._threads[lane] = [
                self._thread(simdgroup, lane)
                for simdgroup in range(self._shape.simdgroups)
                if simdgroup * LANES + lane < self._shape.threads
            ]
        return self._threads[lane]

    def _thread(self, simdgroup: int, lane: int) -> Thread:
        width, height, _ = self._shape.size
        index = simdgroup * LANES + lane
        local = (index % width, index // width % height, index // (width * height))
        return Thread(
            position_in_grid=local,
            position_in_threadgroup=local,
            threadgroup=(0, 0, 0),
            size=self._shape.size,
            full_size=self._shape.nominal,
            grid=self._shape.size,
            threadgroups=(1, 1, 1),
            index=index,
            lane=lane,
            simdgroup=simdgroup,
            simdgroups=self._shape.simdgroups,
            full_simdgroups=self._shape.nominal_simdgroups,
        )


assert THREAD_POSITION_IN_GRID not in _INSIDE  # it is known but for where the threadgroup is


def _dimension(position: Instruction) -> int | None:
    if not position.operands:
        return 0
    (operand,) = position.operands
    return operand.number if isinstance(operand, Constant) else None

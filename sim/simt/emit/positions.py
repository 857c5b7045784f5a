"""Thread positions and sizes of one specialisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..ir import context as c
from ..ir.faults import UnsupportedKernel
from ..ir.nodes import Constant, Function, Instruction, Value, integer
from ..ir.operations.handlers import Handlers
from ..ir.operations.operation import OfThread, Operation
from ..ir.operations.positions import (
    DISPATCH_SIMDGROUPS_PER_THREADGROUP,
    DISPATCH_THREADS_PER_THREADGROUP,
    MATRIX_COLUMN,
    MATRIX_ROW,
    SIMDGROUP_INDEX_IN_THREADGROUP,
    SIMDGROUPS_PER_THREADGROUP,
    THREAD_INDEX_IN_SIMDGROUP,
    THREAD_INDEX_IN_THREADGROUP,
    THREAD_POSITION_IN_GRID,
    THREAD_POSITION_IN_THREADGROUP,
    THREADGROUP_POSITION_IN_GRID,
    THREADGROUPS_PER_GRID,
    THREADS_PER_GRID,
    THREADS_PER_THREADGROUP,
)
from ..ir.passes import rewrites
from ..ir.shape import LANES, Shape, matrix_column, matrix_row
from .text import literal

if TYPE_CHECKING:
    from .values import Values


@rewrites
def fix_positions(function: Function, shape: Shape) -> None:
    """Replace sizes that the specialisation knows by constants."""
    known: dict[Value, Constant] = {}
    for instruction in function.instructions():
        find = _SIZES.get(instruction.operation)
        number = find(instruction, shape) if find is not None else None
        if number is not None:
            known[instruction] = integer("i32", number)
    for block in function.blocks:
        block.body = [i for i in block.body if i not in known]
        for instruction in block.instructions():
            instruction.operands = [known.get(o, o) for o in instruction.operands]
        if block.condition is not None:
            block.condition = known.get(block.condition, block.condition)


def _of_dimension(sizes: tuple[int, int, int], position: Instruction) -> int:
    dimension = position.operands[0]
    if not isinstance(dimension, Constant) or dimension.number is None:
        raise UnsupportedKernel(f"'{position.operation}' needs a constant dimension", position.site)
    return sizes[dimension.number]


_SIZES: dict[Operation, Callable[[Instruction, Shape], int | None]] = {
    SIMDGROUPS_PER_THREADGROUP: lambda _, shape: shape.simdgroups,
    DISPATCH_SIMDGROUPS_PER_THREADGROUP: lambda _, shape: shape.nominal_simdgroups,
    SIMDGROUP_INDEX_IN_THREADGROUP: lambda _, shape: 0 if shape.simdgroups == 1 else None,
    THREADS_PER_THREADGROUP: lambda i, shape: _of_dimension(shape.size, i),
    DISPATCH_THREADS_PER_THREADGROUP: lambda i, shape: _of_dimension(shape.nominal, i),
}


def _dimension(position: Instruction) -> int:
    dimension = position.operands[0]
    assert isinstance(dimension, Constant) and dimension.number is not None
    return dimension.number


def _threadgroup(values: Values, position: Instruction) -> str:
    return _GROUP[_dimension(position)]


def _in_context(field: int) -> Callable[[Values, Instruction], str]:
    def emit(values: Values, position: Instruction) -> str:
        return values.field("i32", field + 4 * _dimension(position))

    return emit


def _pattern(pick: Callable[[int], int]) -> Callable[[Values, Instruction], str]:
    def emit(values: Values, position: Instruction) -> str:
        lanes = literal("i32", [pick(lane) for lane in values.kept])
        return values.text.let(f"add {values.text.wide('i32')} {lanes}, zeroinitializer")

    return emit


def _thread_index(values: Values, position: Instruction) -> str:
    text = values.text
    first = text.let(f"mul i32 %sg, {LANES}")
    iota = literal("i32", list(values.kept))
    return text.let(f"add {text.wide('i32')} {text.splat('i32', first)}, {iota}")


def _position_in_threadgroup(values: Values, position: Instruction) -> str:
    text, index = values.text, _thread_index(values, position)
    axis, kind = _dimension(position), text.wide("i32")
    for inner in range(axis):
        index = text.let(f"udiv {kind} {index}, splat (i32 {values.shape.size[inner]})")
    if axis < 2:
        index = text.let(f"urem {kind} {index}, splat (i32 {values.shape.size[axis]})")
    return index


def _position_in_grid(values: Values, position: Instruction) -> str:
    text, index = values.text, _position_in_threadgroup(values, position)
    axis = _dimension(position)
    start = text.let(f"mul i32 {_GROUP[axis]}, {values.shape.nominal[axis]}")
    return text.let(f"add {text.wide('i32')} {index}, {text.splat('i32', start)}")


def _is_emitted(operation: Operation) -> bool:
    of_known_size = operation in _SIZES and operation is not SIMDGROUP_INDEX_IN_THREADGROUP
    return isinstance(operation.meaning, OfThread) and not of_known_size


_GROUP = ("%gx", "%gy", "%gz")
Emitter = Callable[["Values", Instruction], str]
# Scalars of positions that all lanes of a simdgroup share, and vectors of those that have no simple
# pattern, which are computed from the thread's index.
POSITIONS: Handlers[Emitter] = Handlers("the emission of positions", _is_emitted)
POSITIONS.put((SIMDGROUP_INDEX_IN_THREADGROUP,), lambda values, position: "%sg")
POSITIONS.put((THREADGROUP_POSITION_IN_GRID,), _threadgroup)
POSITIONS.put((THREADGROUPS_PER_GRID,), _in_context(c.THREADGROUPS))
POSITIONS.put((THREADS_PER_GRID,), _in_context(c.THREADS))
POSITIONS.put((THREAD_INDEX_IN_SIMDGROUP,), _pattern(lambda lane: lane))
POSITIONS.put((MATRIX_ROW,), _pattern(matrix_row))
POSITIONS.put((MATRIX_COLUMN,), _pattern(matrix_column))
POSITIONS.put((THREAD_INDEX_IN_THREADGROUP,), _thread_index)
POSITIONS.put((THREAD_POSITION_IN_THREADGROUP,), _position_in_threadgroup)
POSITIONS.put((THREAD_POSITION_IN_GRID,), _position_in_grid)

"""Thread positions and sizes of one specialisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import context as c
from ..ir.faults import UnsupportedKernel
from ..ir.nodes import Constant, Function, Instruction, Value, integer
from ..ir.shape import LANES, Shape, matrix_column, matrix_row
from .text import literal, vector_of

if TYPE_CHECKING:
    from .values import Values


def fix_positions(function: Function, shape: Shape) -> None:
    """Replace sizes that the specialisation knows by constants."""
    known: dict[Value, Constant] = {}
    for instruction in function.instructions():
        if instruction.op != "intrinsic":
            continue
        number = _known_position(instruction, shape)
        if number is not None:
            known[instruction] = integer("i32", number)
    for block in function.blocks:
        block.body = [i for i in block.body if i not in known]
        for instruction in block.instructions():
            instruction.operands = [known.get(o, o) for o in instruction.operands]
        if block.condition is not None:
            block.condition = known.get(block.condition, block.condition)


def _known_position(instruction: Instruction, shape: Shape) -> int | None:
    name = instruction.callee
    if name == "simdgroups_per_threadgroup":
        return shape.simdgroups
    if name == "dispatch_simdgroups_per_threadgroup":
        return shape.nominal_simdgroups
    if name == "simdgroup_index_in_threadgroup" and shape.simdgroups == 1:
        return 0
    if name in ("threads_per_threadgroup", "dispatch_threads_per_threadgroup"):
        dimension = instruction.operands[0]
        if not isinstance(dimension, Constant) or dimension.number is None:
            raise UnsupportedKernel(f"'{name}' needs a constant dimension", instruction.site)
        sizes = shape.size if name == "threads_per_threadgroup" else shape.nominal
        return sizes[dimension.number]
    return None


def uniform_position(values: Values, instruction: Instruction) -> str | None:
    """A position that all lanes of a simdgroup share."""
    name = instruction.callee
    if name == "simdgroup_index_in_threadgroup":
        return "%sg"
    table = {"threadgroups_per_grid": c.THREADGROUPS, "threads_per_grid": c.THREADS}
    if name == "threadgroup_position_in_grid" or name in table:
        dimension = instruction.operands[0]
        assert isinstance(dimension, Constant) and dimension.number is not None
        if name in table:
            return values.field("i32", table[name] + 4 * dimension.number)
        return ("%gx", "%gy", "%gz")[dimension.number]
    return None


def lane_position(values: Values, instruction: Instruction) -> str | None:
    """A thread position that has no simple pattern: computed from the thread's index."""
    name = instruction.callee
    text, kind = values.text, vector_of("i32")
    iota = literal("i32", list(range(LANES)))
    if name == "thread_index_in_simdgroup":
        return text.let(f"add {kind} {iota}, zeroinitializer")
    if name in ("matrix_row", "matrix_column"):
        pick = matrix_row if name == "matrix_row" else matrix_column
        row = literal("i32", [pick(lane) for lane in range(LANES)])
        return text.let(f"add {kind} {row}, zeroinitializer")
    first = text.let(f"mul i32 %sg, {LANES}")
    index = text.let(f"add {kind} {text.splat('i32', first)}, {iota}")
    if name == "thread_index_in_threadgroup":
        return index
    if name not in ("thread_position_in_threadgroup", "thread_position_in_grid"):
        return None
    dimension = instruction.operands[0]
    assert isinstance(dimension, Constant) and dimension.number is not None
    axis = dimension.number
    for inner in range(axis):
        index = text.let(f"udiv {kind} {index}, splat (i32 {values.shape.size[inner]})")
    if axis < 2:
        index = text.let(f"urem {kind} {index}, splat (i32 {values.shape.size[axis]})")
    if name == "thread_position_in_threadgroup":
        return index
    group = ("%gx", "%gy", "%gz")[axis]
    start = text.let(f"mul i32 {group}, {values.shape.nominal[axis]}")
    return text.let(f"add {kind} {index}, {text.splat('i32', start)}")

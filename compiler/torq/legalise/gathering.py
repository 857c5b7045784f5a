"""GATHER and SCATTER: rows of a tensor at places that another says.

Offsets of a gather have 16 bits; what lies further apart is gathered in parts. A scatter is a
product with a matrix of zeros and ones.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...graph.elements import Array
from ..hl.moves import Broadcast, Concat, Gather, Slice
from ..hl.products import MatMul
from ..hl.reductions import Reduce
from ..hl.types import tensor_of
from ..operators.moves import MOST_OFFSET
from ..operators.tensors import ELEMENT_BYTES
from .builder import DIRECT, GENERAL, Builder, Legaliser, NotForNpu
from .integers import Numbers, bits_of

_MOST_BLOCKS = 64
"""Parts that a table is gathered from, at most: each is gathered from for every index."""


def gather(op: Operation, b: Builder) -> SSAValue:
    """GATHER."""
    return gathered(b, *(b.value(value) for value in op.operands[:2]))


def gathered(b: Builder, x: SSAValue, indices: SSAValue) -> SSAValue:
    """Rows of x (n, k, c) at indices (n, w)."""
    kind = tensor_of(x)
    n, rows, columns = kind.shape
    size = ELEMENT_BYTES["int8" if kind.dtype == "bool" else kind.dtype]
    each = MOST_OFFSET // (size * max(rows - 1, 1))
    if not each:
        return _by_rows(b, x, indices, MOST_OFFSET // size)
    if each >= columns:
        shape = (n, tensor_of(indices).shape[1], columns)
        return b.emit(Gather, [x, indices], kind.like(shape=shape))
    parts = []
    for first in range(0, columns, each):
        shape = (n, rows, min(each, columns - first))
        part = b.emit(Slice, [x], kind.like(shape=shape), starts=(0, 0, first))
        parts.append(gathered(b, part, indices))
    shape = (n, tensor_of(indices).shape[1], columns)
    return b.emit(Concat, parts, kind.like(shape=shape), axis=2)


def _by_rows(b: Builder, x: SSAValue, indices: SSAValue, each: int) -> SSAValue:
    """Gathered from blocks of rows; of each index the block is chosen that it is in."""
    kind, n = tensor_of(x), Numbers(b)
    batch, rows, columns = kind.shape
    if rows > each * _MOST_BLOCKS:
        raise NotForNpu(f"a gather from {rows} rows; {each * _MOST_BLOCKS} are possible")
    count = tensor_of(indices).shape[1]
    made: SSAValue | None = None
    for first in range(0, rows, each):
        shape = (batch, min(each, rows - first), columns)
        block = b.emit(Slice, [x], kind.like(shape=shape), starts=(0, first, 0))
        places = n.combine("SUB", indices, n.number(first, indices), "int32")
        places = n.combine("MAX", places, n.number(0, places), "int32")
        places = n.combine("MIN", places, n.number(shape[1] - 1, places), "int32")
        found = gathered(b, block, places)
        if made is None:
            made = found
            continue
        behind = n.combine("GE", indices, n.number(first, indices), "int32", "bool")
        made = _chosen(b, b.view(behind, (batch, count, 1)), found, made)
    assert made is not None
    return made


def _chosen(b: Builder, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
    """Rows of one or the other; the condition has one element for each row."""
    kind = tensor_of(yes)
    if tensor_of(condition).shape != kind.shape:
        wide = tensor_of(condition).like(shape=kind.shape)
        condition = b.emit(Broadcast, [condition], wide)
    return Numbers(b).chosen(condition, yes, no, kind.shape)


def scatter(op: Operation, b: Builder) -> SSAValue:
    """SCATTER: the values, but for rows that an index names."""
    values, indices, rows = (b.value(value) for value in op.operands[:3])
    n, kind = Numbers(b), tensor_of(values)
    batch, count, _ = kind.shape
    many = tensor_of(indices).shape[1]
    numbers: Array = np.arange(count, dtype=np.int32).reshape(1, count, 1)
    named = b.view(indices, (batch, 1, many))
    is_there = n.combine("EQ", b.const(numbers, "int32"), named, "int32", "bool")
    ones = n.seen_as(is_there, "int8")
    found = _picked_rows(n, ones, rows)
    y = tensor_of(is_there).like(shape=(batch, count, 1))
    is_named = is_there if many == 1 else b.emit(Reduce, [is_there], y, kind="any", axis=2)
    return _chosen(b, is_named, found, values)


def _picked_rows(n: Numbers, ones: SSAValue, rows: SSAValue) -> SSAValue:
    """A matrix of zeros and ones, of which there is one in each row at most, times the rows."""
    dtype = tensor_of(rows).dtype
    bits = n.integers(rows)
    if bits_of(dtype) <= 16:
        return n.seen_as(_product(n, ones, bits), dtype)
    high = n.combine("ASR", bits, n.number(16, bits), "int32")
    top, low = (_product(n, ones, n.cut(part, "int16")) for part in (high, bits))
    wide = n.widened(top, "int32")
    moved = n.combine("LSL", wide, n.number(16, wide), "int32")
    return n.seen_as(n.combine("BOR", moved, n.unsigned(low, "int32"), "int32"), dtype)


def _product(n: Numbers, ones: SSAValue, rows: SSAValue) -> SSAValue:
    kind = tensor_of(rows)
    batch, count, _ = tensor_of(ones).shape
    y = kind.like(dtype="int32", shape=(batch, count, kind.shape[2]))
    return n.cut(n.builder.emit(MatMul, [ones, rows], y), kind.dtype)


LEGALISERS: dict[str, tuple[str, Legaliser]] = {
    "tosa.gather": (DIRECT, gather),
    "tosa.scatter": (GENERAL, scatter),
}
"""By the operator's name, with the way that it goes."""

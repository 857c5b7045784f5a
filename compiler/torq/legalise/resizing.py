"""RESIZE: to the nearest by repeats or gathers, linearly by products with constant matrices."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...graph.elements import NUMPY, Array, is_float
from ...graph.meaning.moves import nearest_places, resize_places
from ...graph.tosa import ops
from ..hl.moves import Repeat, Transpose
from ..hl.products import MatMul
from ..hl.types import tensor_of
from .builder import GENERAL, Builder, Legaliser, NotForNpu, result
from .integers import Numbers
from .moves import picked

_MIDDLE = 128
_MOST = 127
"""The most parts that a step of the input is cut into: matrices are int8."""


def resize(op: Operation, b: Builder) -> SSAValue:
    """RESIZE."""
    scale, offset = (
        [int(n) for n in b.known(op.operands[i], "a scale or offset").reshape(-1)] for i in (1, 2)
    )
    if ops.word(op, "mode") == "NEAREST_NEIGHBOR":
        return _nearest(op, b, scale, offset)
    return _linear(op, b, scale, offset)


def _nearest(op: Operation, b: Builder, scale: list[int], offset: list[int]) -> SSAValue:
    """Repeats by whole factors, else rows and columns gathered."""
    x = b.value(op.operands[0])
    sizes, outputs = tensor_of(x).shape[1:3], ops.shape(op.results[0])[1:3]
    places = [
        nearest_places(sizes[i], outputs[i], scale[2 * i], scale[2 * i + 1], offset[i])
        for i in (0, 1)
    ]
    factors = [math.ceil(output / size) for size, output in zip(sizes, outputs, strict=True)]
    if all(
        np.array_equal(place, np.arange(output) // factor) and output == size * factor
        for place, output, factor, size in zip(places, outputs, factors, sizes, strict=True)
    ):
        y = tensor_of(x).like(shape=result(op).shape)
        return b.emit(Repeat, [x], y, factors=(1, *factors, 1))
    for axis, place in enumerate(places, 1):
        x = picked(b, x, axis, place.astype(np.int32))
    return x


def _linear(op: Operation, b: Builder, scale: list[int], offset: list[int]) -> SSAValue:
    """Of int8 and bfloat16, or of both bytes of int16 apart: RESIZE is linear."""
    x, n = b.value(op.operands[0]), Numbers(b)
    kind = tensor_of(x)
    if kind.dtype not in ("int8", "int16", "bfloat16"):
        raise NotForNpu(f"a linear resize of {kind.dtype}; the NPU has none")
    if max(scale[0], scale[2]) > _MOST and kind.dtype != "bfloat16":
        raise NotForNpu(f"a linear resize by steps of 1/{max(scale)}; the NPU has 1/{_MOST}")
    _, height, width, _ = kind.shape
    rows, columns = result(op).shape[1:3]
    down = _weights(height, rows, scale[0], scale[1], offset[0])
    across = _weights(width, columns, scale[2], scale[3], offset[1])
    if kind.dtype == "int8":
        return _resized(b, x, down, across)
    if kind.dtype == "bfloat16":
        return _resized(b, x, down / scale[0], across / scale[2])
    high = n.cut(n.combine("ASR", x, n.number(8, x), "int16"), "int8")
    low = n.combine("BAND", x, n.number(0xFF, x), "int16")
    low = n.cut(n.combine("SUB", low, n.number(_MIDDLE, low), "int16"), "int8")
    upper, lower = (_resized(b, part, down, across) for part in (high, low))
    # All weights of an element add up to the product of both steps.
    lost = n.number(_MIDDLE * scale[0] * scale[2], lower)
    upper = n.combine("LSL", upper, n.number(8, upper), "int32")
    return n.combine("ADD", upper, n.combine("ADD", lower, lost, "int32"), "int32")


def _resized(b: Builder, x: SSAValue, down: Array, across: Array) -> SSAValue:
    """Rows first, in 16 bits, then columns: two products, of int8 as exact as RESIZE is.

    What bfloat16 has after the first one is rounded to it.
    """
    n, height, width, channels = tensor_of(x).shape
    rows, columns = len(down), len(across)
    x = _product(b, down, b.view(x, (n, height, width * channels)))
    short = x if is_float(tensor_of(x).dtype) else Numbers(b).cut(x, "int16")
    short = _turned(b, b.view(short, (n, rows, width, channels)))
    made = _product(b, across, b.view(short, (n, width, rows * channels)))
    return _turned(b, b.view(made, (n, columns, rows, channels)))


def _weights(size: int, output: int, numerator: int, denominator: int, offset: int) -> Array:
    """(output, size): what each output step takes of which of the input."""
    cell, rest = resize_places(size, output, numerator, denominator, offset)
    made = np.zeros((output, size), np.int64)
    for step, part in ((0, numerator - rest), (1, rest)):
        np.add.at(made, (np.arange(output), np.clip(cell + step, 0, size - 1)), part)
    return made


def _product(b: Builder, matrix: Array, x: SSAValue) -> SSAValue:
    n, _, columns = tensor_of(x).shape
    floats = is_float(tensor_of(x).dtype)
    kind, wide = ("bfloat16", "bfloat16") if floats else ("int8", "int32")
    factors = b.const(np.broadcast_to(matrix, (n, *matrix.shape)).astype(NUMPY[kind]), kind)
    shape = (n, matrix.shape[0], columns)
    return b.emit(MatMul, [factors, x], tensor_of(x).like(dtype=wide, shape=shape))


def _turned(b: Builder, x: SSAValue) -> SSAValue:
    """Rows and columns exchanged."""
    kind = tensor_of(x)
    n, rows, columns, channels = kind.shape
    y = kind.like(shape=(n, columns, rows, channels))
    return b.emit(Transpose, [x], y, order=(0, 2, 1, 3))


LEGALISERS: dict[str, tuple[str, Legaliser]] = {"tosa.resize": (GENERAL, resize)}
"""By the operator's name, with the way that it goes."""

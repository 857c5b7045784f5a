"""Operators that hypothesis draws, with the answers of TOSA or of NumPy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from assay.compiler.torq.kernels.variants import KERNELS
from assay.compiler.torq.operators.elementwise import (
    Add,
    Clamp,
    Elementwise,
    Mul,
    Scale,
    Select,
    Table,
    Unary,
)
from assay.compiler.torq.operators.moves import (
    Broadcast,
    Concat,
    Copy,
    Fill,
    Gather,
    Pad,
    Repeat,
    Segment,
    Slice,
    Transpose,
)
from assay.compiler.torq.operators.operator import Operator
from assay.compiler.torq.operators.products import FullyConnected, MatMul, Padding
from assay.compiler.torq.operators.quantisation import Rescale
from assay.compiler.torq.operators.reductions import Mean, Pool, Reduce
from assay.compiler.torq.operators.tensors import Layout, TensorType

from . import tosa
from .machine import Array, numbers
from .tiles import Case

_SCALE = Rescale(multipliers=(1_518_500_249,), shifts=(37,), zero_point=-7)
_SHORT = st.sampled_from(["int8", "int16"])
_INTEGERS = st.sampled_from(["int8", "int16", "int32"])


def case(
    draw: st.DrawFn,
    op: Operator,
    operands: Mapping[str, Array],
    expected: Array,
    constants: Mapping[str, Array] | None = None,
) -> Case:
    """With any of the kernels that accept the operator."""
    accepted = [kernel for kernel in KERNELS[type(op)] if kernel.accepts(op) is None]
    assert accepted, [kernel.accepts(op) for kernel in KERNELS[type(op)]]
    return Case(
        op=op,
        kernel=draw(st.sampled_from(accepted)),
        operands=operands,
        expected=expected,
        constants=constants or {},
    )


@st.composite
def types(draw: st.DrawFn, dtype: str) -> TensorType:
    """Any layout."""
    layout = draw(st.sampled_from(Layout))
    if layout is Layout.ROWS:
        shape = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
        shape[-1] = draw(st.integers(1, 90))
        return TensorType(dtype=dtype, shape=tuple(shape))
    step = 2 if layout is Layout.QUADRANTS else 1
    n, c = draw(st.integers(1, 2)), draw(st.integers(1, 5))
    h, w = (draw(st.integers(1, 8)) * step for _ in range(2))
    return TensorType(dtype=dtype, shape=(n, c, h, w), layout=layout)


def _like(kind: TensorType, dtype: str) -> TensorType:
    return TensorType(dtype=dtype, shape=kind.shape, layout=kind.layout)


@st.composite
def _adds(draw: st.DrawFn) -> Case:
    kind = draw(types("int8"))
    a, b = (numbers(seed, kind.shape, "int8") for seed in (1, 2))
    weights = draw(st.integers(-30_000, 30_000)), draw(st.integers(-30_000, 30_000))
    scale = Rescale(multipliers=(1_500_000_000,), shifts=(45,), zero_point=3)
    op = Add(a=kind, b=kind, y=kind, weights_ab=weights, rescale=scale, bias=-7777)
    sums = a.astype(np.int64) * weights[0] + b.astype(np.int64) * weights[1] - 7777
    expected = tosa.rescale(sums, scale.multipliers, scale.shifts, output_zp=3)
    return case(draw, op, {"a": a, "b": b}, expected)


@st.composite
def _muls(draw: st.DrawFn) -> Case:
    dtype = draw(_SHORT)
    kind = draw(types(dtype))
    few = [axis for axis in range(len(kind.shape) - 1) if draw(st.booleans())]
    shape = tuple(1 if axis in few else n for axis, n in enumerate(kind.shape))
    if kind.layout is not Layout.ROWS:
        shape = kind.shape
    other = TensorType(dtype=dtype, shape=shape, layout=kind.layout)
    a, b = numbers(1, kind.shape, dtype), numbers(2, shape, dtype)
    op = Mul(a=kind, b=other, y=_like(kind, "int32") if kind.layout is Layout.ROWS else kind)
    product = a.astype(np.int64) * b
    if kind.layout is not Layout.ROWS:
        info = np.iinfo(dtype)
        product = np.clip(product, info.min, info.max)
    return case(draw, op, {"a": a, "b": b}, product)


@st.composite
def _wide_muls(draw: st.DrawFn) -> Case:
    kind = draw(types("int32"))
    few = kind.layout is Layout.ROWS and draw(st.booleans())
    shape = (*[1] * (len(kind.shape) - 1), kind.shape[-1]) if few else kind.shape
    other = TensorType(dtype="int32", shape=shape, layout=kind.layout)
    a, b = numbers(1, kind.shape, "int32"), numbers(2, shape, "int32")
    shift = draw(st.sampled_from([1, 15, 30, 31, 32, 40]))
    low, high = -(1 << 31), (1 << 31) - 1
    scale = Rescale(shifts=(shift,), low=low, high=high)
    product = a.astype(np.int64) * b.astype(np.int64)
    expected = np.clip((product + (1 << (shift - 1))) >> shift, low, high)
    return case(draw, Mul(a=kind, b=other, y=kind, rescale=scale), {"a": a, "b": b}, expected)


@st.composite
def _combinations(draw: st.DrawFn) -> Case:
    dtype = draw(_INTEGERS)
    kind = draw(types(dtype))
    a, b = numbers(1, kind.shape, dtype), numbers(2, kind.shape, dtype)
    which, answer = draw(
        st.sampled_from([("MAX", np.maximum), ("MIN", np.minimum), ("BXOR", np.bitwise_xor)])
    )
    return case(
        draw, Elementwise(kind=which, a=kind, b=kind, y=kind), {"a": a, "b": b}, answer(a, b)
    )


@st.composite
def _shifts(draw: st.DrawFn) -> Case:
    dtype = draw(_INTEGERS)
    kind = draw(types(dtype))
    a = numbers(1, kind.shape, dtype)
    b = np.random.default_rng(2).integers(0, 8 * a.itemsize, kind.shape).astype(dtype)
    op = Elementwise(kind="ASR_ROUND", a=kind, b=kind, y=kind)
    expected = tosa.arithmetic_right_shift(a, b, rounding=True)
    return case(draw, op, {"a": a, "b": b}, expected)


@st.composite
def _selects(draw: st.DrawFn) -> Case:
    dtype = draw(_INTEGERS)
    kind = draw(types(dtype))
    condition = np.random.default_rng(0).integers(0, 2, kind.shape).astype(np.int8)
    a, b = numbers(1, kind.shape, dtype), numbers(2, kind.shape, dtype)
    op = Select(condition=_like(kind, "int8"), a=kind, b=kind, y=kind)
    operands = {"condition": condition, "a": a, "b": b}
    return case(draw, op, operands, np.where(condition == 1, a, b))


@st.composite
def _scales(draw: st.DrawFn) -> Case:
    kind = draw(types(draw(_SHORT)))
    x = numbers(1, kind.shape, kind.dtype)
    op = Scale(x=kind, y=_like(kind, "int8"), rescale=_SCALE, input_zp=5)
    expected = tosa.rescale(
        x, _SCALE.multipliers, _SCALE.shifts, input_zp=5, output_zp=_SCALE.zero_point
    )
    return case(draw, op, {"x": x}, expected)


@st.composite
def _clamps(draw: st.DrawFn) -> Case:
    kind = draw(types(draw(st.sampled_from(["int8", "int32", "bfloat16"]))))
    x = numbers(1, kind.shape, kind.dtype)
    low, high = (-0.5, 1.25) if kind.dtype == "bfloat16" else (-9, 77)
    op = Clamp(x=kind, y=kind, low=low, high=high)
    expected = np.clip(x.astype(np.float64), low, high).astype(x.dtype)
    return case(draw, op, {"x": x}, expected)


@st.composite
def _unaries(draw: st.DrawFn) -> Case:
    kind = draw(types(draw(_INTEGERS)))
    x = numbers(1, kind.shape, kind.dtype, bound=1 << 30)
    op = Unary(kind="NEG", x=kind, y=kind)
    return case(draw, op, {"x": x}, tosa.negate(x))


@st.composite
def _tables(draw: st.DrawFn) -> Case:
    kind = draw(types("int8"))
    x, entries = numbers(1, kind.shape, "int8"), numbers(2, (256,), "int8")
    op = Table(x=kind, y=kind, entries=tuple(int(e) for e in entries))
    return case(draw, op, {"x": x}, tosa.table(x, entries))


@st.composite
def _fully_connected(draw: st.DrawFn) -> Case:
    n, i, o = draw(st.integers(1, 3)), draw(st.integers(1, 50)), draw(st.integers(1, 150))
    x, weights = numbers(1, (n, i), "int8"), numbers(2, (o, i), "int8")
    bias = numbers(3, (o,), "int32", bound=9999)
    chance = np.random.default_rng(4)
    shifts = draw(st.lists(st.integers(38, 41), min_size=1, max_size=2))
    rescale = Rescale(
        multipliers=tuple(int(m) for m in chance.integers(1 << 30, 1 << 31, o)),
        shifts=tuple(np.resize(shifts, o).tolist()),
        zero_point=-4,
    )
    op = FullyConnected(
        x=TensorType(dtype="int8", shape=(n, i)),
        weights=TensorType(dtype="int8", shape=(o, i)),
        y=TensorType(dtype="int8", shape=(n, o)),
        rescale=rescale,
        input_zp=11,
    )
    sums = tosa.fully_connected(x, weights, bias, input_zp=11)
    expected = tosa.rescale(sums, rescale.multipliers, rescale.shifts, output_zp=-4)
    return case(draw, op, {"x": x}, expected, {"weights": weights, "bias": bias})


@st.composite
def _matmuls(draw: st.DrawFn) -> Case:
    n, c, w = draw(st.integers(1, 2)), draw(st.integers(1, 30)), draw(st.integers(1, 90))
    h = draw(st.integers(1, 6)) * draw(st.sampled_from([1, 4, 8, 16]))
    turned = draw(st.booleans())
    a, b = numbers(1, (n, h, c), "int8"), numbers(2, (n, c, w), "int8")
    held = a.swapaxes(1, 2).copy() if turned else a
    op = MatMul(
        a=TensorType(dtype="int8", shape=held.shape),
        b=TensorType(dtype="int8", shape=b.shape),
        y=TensorType(dtype="int32", shape=(n, h, w)),
        a_turned=turned,
    )
    return case(draw, op, {"a": held, "b": b}, tosa.matmul(a, b))


@st.composite
def _pools(draw: st.DrawFn) -> Case:
    kernel = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    stride = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    outputs = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    pads = [draw(st.integers(0, size - 1)) for size in kernel]
    sizes = [
        max((o - 1) * s + k - p, k)
        for k, s, o, p in zip(kernel, stride, outputs, pads, strict=True)
    ]
    fits = all(
        (o - 1) * s + k - p == size
        for k, s, o, p, size in zip(kernel, stride, outputs, pads, sizes, strict=True)
    )
    assume(fits)
    n, c = draw(st.integers(1, 2)), draw(st.integers(1, 70))
    x = numbers(1, (n, *sizes, c), "int8")
    which = draw(st.sampled_from(["max", "mean"]))
    op = Pool(
        kind=which,
        x=TensorType(dtype="int8", shape=x.shape),
        y=TensorType(dtype="int8", shape=(n, *outputs, c)),
        kernel=kernel,
        stride=stride,
        padding=Padding(top=pads[0], left=pads[1]),
        input_zp=3 if which == "mean" else 0,
        output_zp=-5 if which == "mean" else 0,
    )
    pad = (pads[0], 0, pads[1], 0)
    if which == "max":
        expected = tosa.max_pool2d(x, kernel=kernel, stride=stride, pad=pad)
    else:
        expected = tosa.avg_pool2d(
            x, kernel=kernel, stride=stride, pad=pad, input_zp=3, output_zp=-5
        )
    return case(draw, op, {"x": x}, expected)


@st.composite
def _plane_pools(draw: st.DrawFn) -> Case:
    """From any layout of planes to any; stride 2 from quadrants."""
    stride = draw(st.sampled_from([1, 2]))
    kernel = draw(st.sampled_from([(2, 2), (3, 3), (5, 5), (1, 3)]))
    assume(stride == 1 or kernel != (1, 3))
    dtype = draw(_SHORT)
    inputs = [draw(st.integers(3, 9)) * stride for _ in range(2)]
    which = draw(st.sampled_from(["max", "mean"]))
    pads = [draw(st.integers(0, size // 2 if which == "max" else 0)) for size in kernel]
    outputs = [(n + 2 * p - k) // stride + 1 for n, p, k in zip(inputs, pads, kernel, strict=True)]
    assume(min(outputs) > 0 and outputs[1] * stride <= inputs[1])
    x = numbers(1, (draw(st.integers(1, 2)), draw(st.integers(1, 9)), *inputs), dtype)
    layout = Layout.PLANES
    if outputs[0] % 2 == outputs[1] % 2 == 0 and draw(st.booleans()):
        layout = Layout.QUADRANTS
    source = Layout.PLANES if stride == 1 else Layout.QUADRANTS
    shape = (*x.shape[:2], *outputs)
    op = Pool(
        kind=which,
        x=TensorType(dtype=dtype, shape=x.shape, layout=source),
        y=TensorType(dtype=dtype, shape=shape, layout=layout),
        kernel=kernel,
        stride=(stride, stride),
        padding=Padding(top=pads[0], bottom=pads[0], left=pads[1], right=pads[1]),
        input_zp=3 if which == "mean" else 0,
        output_zp=-5 if which == "mean" else 0,
    )
    assume(any(kernel.accepts(op) is None for kernel in KERNELS[Pool]))
    ends = [(o - 1) * stride - p + k for o, p, k in zip(outputs, pads, kernel, strict=True)]
    held = x.transpose(0, 2, 3, 1)[:, : ends[0], : ends[1]]
    behind = [max(end - n, 0) for end, n in zip(ends, inputs, strict=True)]
    pad = (pads[0], behind[0], pads[1], behind[1])
    if which == "max":
        expected = tosa.max_pool2d(held, kernel=kernel, stride=(stride, stride), pad=pad)
    else:
        points = {"input_zp": 3, "output_zp": -5}
        expected = tosa.avg_pool2d(held, kernel=kernel, stride=(stride, stride), **points)
    return case(draw, op, {"x": x}, expected.transpose(0, 3, 1, 2))


@st.composite
def _means(draw: st.DrawFn) -> Case:
    shape = tuple(draw(st.integers(1, n)) for n in (3, 7, 7, 90))
    x = numbers(1, shape, "int8")
    op = Mean(
        x=TensorType(dtype="int8", shape=shape),
        y=TensorType(dtype="int8", shape=(shape[0], shape[3])),
        rescale=Rescale(multipliers=(1_300_000_000,), shifts=(35,), zero_point=2),
        input_zp=-9,
    )
    sums = (x.astype(np.int64) + 9).sum(axis=(1, 2))
    expected = tosa.rescale(sums, (1_300_000_000,), (35,), output_zp=2)
    return case(draw, op, {"x": x}, expected)


@st.composite
def _reductions(draw: st.DrawFn) -> Case:
    shape = tuple(draw(st.integers(1, 12)) for _ in range(3))
    axis, kept = draw(st.integers(0, 2)), draw(st.booleans())
    x = numbers(1, shape, "int8")
    result = tuple(1 if n == axis else size for n, size in enumerate(shape))
    if not kept:
        result = tuple(size for n, size in enumerate(shape) if n != axis)
    which, answer = draw(
        st.sampled_from([("max", x.max(axis=axis)), ("argmax", np.argmax(x, axis=axis))])
    )
    dtype = "int32" if which == "argmax" else "int8"
    op = Reduce(
        kind=which,
        x=TensorType(dtype="int8", shape=shape),
        y=TensorType(dtype=dtype, shape=result),
        axis=axis,
    )
    return case(draw, op, {"x": x}, answer.reshape(result))


@st.composite
def _copies(draw: st.DrawFn) -> Case:
    kind = draw(types(draw(_INTEGERS)))
    to = kind
    if len(kind.shape) == 4 and kind.layout is not Layout.QUADRANTS:
        layout = draw(st.sampled_from([Layout.ROWS, Layout.PLANES]))
        to = TensorType(dtype=kind.dtype, shape=kind.shape, layout=layout)
    x = numbers(1, kind.shape, kind.dtype)
    return case(draw, Copy(x=kind, y=to), {"x": x}, x)


@st.composite
def _transposes(draw: st.DrawFn) -> Case:
    dtype = draw(_INTEGERS)
    if draw(st.booleans()):
        shape = draw(st.lists(st.integers(1, 40), min_size=2, max_size=3))
        order = draw(st.permutations(range(len(shape))))
        layouts = Layout.ROWS, Layout.ROWS
    else:
        shape = [draw(st.integers(1, n)) for n in (2, 9, 9, 40)]
        order, layouts = draw(
            st.sampled_from(
                [
                    ([0, 3, 1, 2], (Layout.ROWS, Layout.PLANES)),
                    ([0, 2, 3, 1], (Layout.PLANES, Layout.ROWS)),
                ]
            )
        )
    x = numbers(1, shape, dtype)
    expected = x.transpose(order)
    op = Transpose(
        x=TensorType(dtype=dtype, shape=tuple(shape), layout=layouts[0]),
        y=TensorType(dtype=dtype, shape=expected.shape, layout=layouts[1]),
        order=tuple(order),
    )
    return case(draw, op, {"x": x}, expected)


@st.composite
def _slices(draw: st.DrawFn) -> Case:
    dtype = draw(_INTEGERS)
    sizes = draw(st.lists(st.integers(1, 30), min_size=1, max_size=3))
    steps = [draw(st.integers(1, 3)) for _ in sizes]
    starts = [draw(st.integers(0, 3)) for _ in sizes]
    shape = tuple(
        first + (n - 1) * step + 1 for first, n, step in zip(starts, sizes, steps, strict=True)
    )
    x = numbers(1, shape, dtype)
    expected = x[tuple(slice(a, None, s) for a, s in zip(starts, steps, strict=True))]
    op = Slice(
        x=TensorType(dtype=dtype, shape=shape),
        y=TensorType(dtype=dtype, shape=expected.shape),
        starts=tuple(starts),
        steps=tuple(steps),
    )
    return case(draw, op, {"x": x}, expected)


@st.composite
def _broadcasts(draw: st.DrawFn) -> Case:
    shape = draw(st.lists(st.integers(1, 12), min_size=1, max_size=4))
    small = tuple(n if draw(st.booleans()) else 1 for n in shape)
    x = numbers(1, small, "int8")
    op = Broadcast(
        x=TensorType(dtype="int8", shape=small), y=TensorType(dtype="int8", shape=tuple(shape))
    )
    return case(draw, op, {"x": x}, np.broadcast_to(x, shape))


@st.composite
def _repeats(draw: st.DrawFn) -> Case:
    shape = tuple(draw(st.integers(1, n)) for n in (2, 5, 5, 20))
    factors = (1, draw(st.integers(1, 3)), draw(st.integers(1, 3)), 1)
    x = numbers(1, shape, "int8")
    expected = x.repeat(factors[1], axis=1).repeat(factors[2], axis=2)
    op = Repeat(
        x=TensorType(dtype="int8", shape=shape),
        y=TensorType(dtype="int8", shape=expected.shape),
        factors=factors,
    )
    return case(draw, op, {"x": x}, expected)


@st.composite
def _concats(draw: st.DrawFn) -> Case:
    planes = draw(st.booleans())
    axis = 1 if planes else draw(st.integers(0, 2))
    shape = [draw(st.integers(1, 7)) for _ in range(4 if planes else 3)]
    parts = []
    for number in range(draw(st.integers(1, 3))):
        shape[axis] = draw(st.integers(1, 6))
        parts.append(numbers(number, shape, "int8"))
    expected = np.concatenate(parts, axis=axis)
    layout = Layout.PLANES if planes else Layout.ROWS

    def kind(values: Array) -> TensorType:
        return TensorType(dtype="int8", shape=values.shape, layout=layout)

    op = Concat(parts=tuple(kind(part) for part in parts), y=kind(expected), axis=axis)
    return case(draw, op, {f"x{n}": part for n, part in enumerate(parts)}, expected)


@st.composite
def _segments(draw: st.DrawFn) -> Case:
    dtype = draw(_SHORT)
    n, c, h, w = (draw(st.integers(1, most)) for most in (2, 4, 7, 7))
    x = numbers(1, (n, c, 2 * h, 2 * w), dtype)
    op = Segment(
        x=TensorType(dtype=dtype, shape=x.shape, layout=Layout.PLANES),
        y=TensorType(dtype=dtype, shape=x.shape, layout=Layout.QUADRANTS),
    )
    return case(draw, op, {"x": x}, x)


@st.composite
def _pads(draw: st.DrawFn) -> Case:
    planes = draw(st.booleans())
    dtype = draw(_SHORT)
    shape = tuple(draw(st.integers(1, 9)) for _ in range(4 if planes else 3))
    before = tuple(draw(st.integers(0, 3)) for _ in shape)
    after = tuple(draw(st.integers(0, 3)) for _ in shape)
    x = numbers(1, shape, dtype)
    value = draw(st.integers(-128, 127))
    expected = np.pad(x, list(zip(before, after, strict=True)), constant_values=value)
    layout = Layout.PLANES if planes else Layout.ROWS
    op = Pad(
        x=TensorType(dtype=dtype, shape=shape, layout=layout),
        y=TensorType(dtype=dtype, shape=expected.shape, layout=layout),
        before=before,
        after=after,
        value=value,
    )
    return case(draw, op, {"x": x}, expected)


@st.composite
def _fills(draw: st.DrawFn) -> Case:
    kind = draw(types(draw(_SHORT)))
    value = draw(st.integers(-128, 127))
    return case(draw, Fill(y=kind, value=value), {}, np.full(kind.shape, value, kind.dtype))


@st.composite
def _gathers(draw: st.DrawFn) -> Case:
    dtype = draw(_INTEGERS)
    n, k, c, w = (draw(st.integers(1, most)) for most in (2, 20, 40, 12))
    x = numbers(1, (n, k, c), dtype)
    indices = np.random.default_rng(2).integers(0, k, (n, w)).astype(np.int32)
    op = Gather(
        x=TensorType(dtype=dtype, shape=(n, k, c)),
        indices=TensorType(dtype="int32", shape=(n, w)),
        y=TensorType(dtype=dtype, shape=(n, w, c)),
    )
    return case(draw, op, {"x": x, "indices": indices}, tosa.gather(x, indices))


DRAWN: Mapping[str, st.SearchStrategy[Case]] = {
    "add": _adds(),
    "mul": _muls(),
    "mul of 32 bits": _wide_muls(),
    "combine": _combinations(),
    "shift": _shifts(),
    "select": _selects(),
    "scale": _scales(),
    "clamp": _clamps(),
    "unary": _unaries(),
    "table": _tables(),
    "fully connected": _fully_connected(),
    "matmul": _matmuls(),
    "pool": _pools(),
    "pool of planes": _plane_pools(),
    "mean": _means(),
    "reduce": _reductions(),
    "copy": _copies(),
    "transpose": _transposes(),
    "slice": _slices(),
    "broadcast": _broadcasts(),
    "repeat": _repeats(),
    "concat": _concats(),
    "segment": _segments(),
    "pad": _pads(),
    "fill": _fills(),
    "gather": _gathers(),
}
"""By operator."""

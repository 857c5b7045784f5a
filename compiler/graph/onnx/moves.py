"""Operators that put elements elsewhere, and those that say what shapes there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from ..elements import LIMITS, Array
from .model import Node
from .quantisation import quantised
from .state import Convert, State, attribute, moved, reason_of, shape_of, tensor_of
from .values import Constant, Integers, Mapped, NotForNpu, Real, Tensor, Value


def reshape(state: State, node: Node) -> Value:
    """Reshape."""
    value = _even(state, node)
    sizes = [int(n) for n in state.known(node, 1, "a shape").reshape(-1)]
    return moved(value, lambda x: state.writer.reshape(x, _reshaped(node, x.shape, sizes)))


def _reshaped(node: Node, shape: Sequence[int], sizes: Sequence[int]) -> tuple[int, ...]:
    if not attribute(node, "allowzero", 0):
        sizes = [shape[at] if n == 0 and at < len(shape) else n for at, n in enumerate(sizes)]
    known = math.prod(n for n in sizes if n != -1)
    whole = math.prod(shape)
    if sizes.count(-1) > 1 or known < 1 or whole % known or (-1 not in sizes and known != whole):
        raise NotForNpu(f"{tuple(shape)} as {tuple(sizes)}")
    return tuple(whole // known if n == -1 else n for n in sizes)


def _even(state: State, node: Node, index: int = 0) -> Value:
    """An operand whose scale is one for all, its limits applied where it stands for numbers."""
    value = state.even(node, state.operand(node, index))
    return state.settled(value) if isinstance(value, Real) else value


def flatten(state: State, node: Node) -> Value:
    """Flatten."""
    value = _even(state, node)
    shape = shape_of(value)
    axis = int(attribute(node, "axis", 1))
    axis = axis + len(shape) if axis < 0 else axis
    wanted = (math.prod(shape[:axis]), math.prod(shape[axis:]))
    return moved(value, lambda x: state.writer.reshape(x, wanted))


def _axes(state: State, node: Node) -> list[int] | None:
    given = attribute(node, "axes", None)
    if given is None and state.given(node, 1):
        given = state.known(node, 1, "the axes").reshape(-1)
    return None if given is None else [int(n) for n in given]


def squeeze(state: State, node: Node) -> Value:
    """Squeeze."""
    value, axes = _even(state, node), _axes(state, node)
    shape = shape_of(value)
    gone = {a % len(shape) for a in axes} if axes else {a for a, n in enumerate(shape) if n == 1}
    wanted = [n for axis, n in enumerate(shape) if axis not in gone]
    return moved(value, lambda x: state.writer.reshape(x, wanted))


def unsqueeze(state: State, node: Node) -> Value:
    """Unsqueeze."""
    value, axes = _even(state, node), _axes(state, node) or []
    wanted = list(shape_of(value))
    for axis in sorted(a % (len(wanted) + len(axes)) for a in axes):
        wanted.insert(axis, 1)
    return moved(value, lambda x: state.writer.reshape(x, wanted))


def transpose(state: State, node: Node) -> Value:
    """Transpose."""
    value = _even(state, node)
    rank = len(shape_of(value))
    order = [int(n) for n in attribute(node, "perm", range(rank)[::-1])]

    def turned(x: Tensor) -> Tensor:
        shape = tuple(x.shape[axis] for axis in order)
        if x.last and order == [0, *range(2, rank), 1]:
            return Tensor(value=x.value, dtype=x.dtype, shape=shape)
        if not x.last and order == [0, rank - 1, *range(1, rank - 1)] and rank > 2:
            return Tensor(value=x.value, dtype=x.dtype, shape=shape, last=True)
        made = state.writer.transpose(state.writer.in_order(x), order)
        return Tensor(value=made, dtype=x.dtype, shape=shape)

    return moved(value, turned)


def concatenation(state: State, node: Node) -> Value:
    """Concat: parts of different scales are brought to that of the quantiser behind."""
    parts = [_even(state, node, index) for index in range(len(node.inputs))]
    meant = {_meaning(part) for part in parts}
    if len(meant) > 1 or any(isinstance(part, Constant | Mapped) for part in parts):
        target = state.scale_behind(node)
        if target is None:
            raise NotForNpu("its parts have different scales, and there is none behind it")
        scale, point, dtype = target
        parts = [quantised(state, part, scale, point, dtype) for part in parts]
        joined = concat(state, node, parts)
        tensor = tensor_of(joined)
        return Real(tensor=tensor, scale=np.asarray(scale), zero_point=point)
    return concat(state, node, parts)


def _meaning(value: Value) -> tuple[object, ...]:
    if isinstance(value, Real):
        return "real", value.tensor.dtype, value.step, value.zero_point
    return (type(value).__name__,)


def concat(state: State, node: Node, parts: Sequence[Value]) -> Value:
    """Parts that mean the same, one behind the other."""
    tensors = [tensor_of(_as_tensor(state, part)) for part in parts]
    axis = int(attribute(node, "axis", 1)) % len(tensors[0].shape)
    if any(tensor.last for tensor in tensors):
        tensors = [state.writer.channels_last(tensor) for tensor in tensors]
    shape = list(tensors[0].shape)
    shape[axis] = sum(tensor.shape[axis] for tensor in tensors)
    first = next(part for part in parts if not isinstance(part, Constant))

    def joined(x: Tensor) -> Tensor:
        made = Tensor(value=x.value, dtype=x.dtype, shape=tuple(shape), last=tensors[0].last)
        value = state.writer.emit(
            "concat",
            [tensor.value for tensor in tensors],
            x.dtype,
            made.stored,
            axis=f"{made.axis(axis)} : i32",
        )
        return Tensor(value=value, dtype=x.dtype, shape=made.shape, last=made.last)

    return moved(first, joined)


def _as_tensor(state: State, value: Value) -> Value:
    """Constants of integers as the program's."""
    if not isinstance(value, Constant):
        return value
    from .values import OFFSETS, SIGNED

    name = value.array.dtype.name
    if name not in SIGNED:
        raise NotForNpu(f"a constant of {name}")
    integers = (value.array.astype(np.int64) - OFFSETS.get(name, 0)).astype(SIGNED[name])
    made = state.writer.const(integers, SIGNED[name])
    tensor = Tensor(value=made, dtype=SIGNED[name], shape=integers.shape)
    return Integers(tensor=tensor, dtype=name)


def split(state: State, node: Node) -> list[Value]:
    """Split: at given places, or into equal parts."""
    value = _even(state, node)
    shape = shape_of(value)
    axis = int(attribute(node, "axis", 0)) % len(shape)
    sizes = attribute(node, "split", None)
    if sizes is None and state.given(node, 1):
        sizes = state.known(node, 1, "the sizes").reshape(-1)
    if sizes is None:
        each = -(-shape[axis] // len(node.outputs))
        sizes = [min(each, shape[axis] - each * n) for n in range(len(node.outputs))]
    found, first = [], 0
    for size in (int(n) for n in sizes):
        found.append(_part(state, value, {axis: (first, size, 1)}))
        first += size
    return found


def slice_(state: State, node: Node) -> Value:
    """Slice, whose bounds are operands, or attributes of old ONNX."""
    value = _even(state, node)
    shape = shape_of(value)
    starts, ends, axes, steps = _bounds(state, node)
    bounds = {}
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        low, high, by = slice(int(start), int(end), int(step)).indices(shape[int(axis)])
        count = len(range(low, high, by))
        if count < 1:
            raise NotForNpu("nothing is left of the tensor")
        bounds[int(axis) % len(shape)] = (low, count, by)
    return _part(state, value, bounds)


def _bounds(state: State, node: Node) -> tuple[list[int], list[int], list[int], list[int]]:
    """Starts, ends, axes and steps."""
    if not state.given(node, 1):
        starts, ends = ([int(n) for n in attribute(node, key, [])] for key in ("starts", "ends"))
        axes = [int(n) for n in attribute(node, "axes", range(len(starts)))]
        return starts, ends, axes, [1] * len(starts)
    found: list[list[int]] = []
    for index in range(1, 5):
        default = list(range(len(found[0]))) if index == 3 else [1] * len(found[0]) if found else []
        values = default
        if index < 3 or state.given(node, index):
            values = [int(n) for n in state.known(node, index, "a bound").reshape(-1)]
        found.append(values)
    return found[0], found[1], found[2], found[3]


def _part(state: State, value: Value, bounds: dict[int, tuple[int, int, int]]) -> Value:
    """Along each axis so many elements from the first on, every so many-th."""
    if isinstance(value, Constant):
        raise NotForNpu(reason_of(value))
    for axis, (first, count, step) in bounds.items():
        if step != 1:
            places = first + step * np.arange(count)
            value = moved(value, partial(_taken, state, axis, places))
    plain = {axis: (first, n) for axis, (first, n, step) in bounds.items() if step == 1}

    def cut(x: Tensor) -> Tensor:
        shape = tuple(plain.get(axis, (0, n))[1] for axis, n in enumerate(x.shape))
        if shape == x.shape:
            return x
        made = Tensor(value=x.value, dtype=x.dtype, shape=shape, last=x.last)
        starts = [0] * len(shape)
        for axis, (first, _) in plain.items():
            starts[x.axis(axis)] = first
        operands = [x.value, state.writer.sizes(starts), state.writer.sizes(made.stored)]
        value = state.writer.emit("slice", operands, x.dtype, made.stored)
        return Tensor(value=value, dtype=x.dtype, shape=shape, last=x.last)

    return moved(value, cut)


def _taken(state: State, axis: int, places: Array, x: Tensor) -> Tensor:
    return picked(state, x, axis, places)


def picked(state: State, x: Tensor, axis: int, places: Array) -> Tensor:
    """Steps of an axis by their numbers."""
    at = x.axis(axis)
    stored = x.stored
    outer, inner = math.prod(stored[:at]), math.prod(stored[at + 1 :])
    writer = state.writer
    rows = writer.emit(
        "reshape",
        [x.value, writer.sizes((outer, stored[at], inner))],
        x.dtype,
        (outer, stored[at], inner),
    )
    indices = writer.const(np.broadcast_to(places, (outer, len(places))), "int32")
    taken = writer.emit("gather", [rows, indices], x.dtype, (outer, len(places), inner))
    shape = (*x.shape[:axis], len(places), *x.shape[axis + 1 :])
    made = Tensor(value=taken, dtype=x.dtype, shape=shape, last=x.last)
    value = writer.emit("reshape", [taken, writer.sizes(made.stored)], x.dtype, made.stored)
    return Tensor(value=value, dtype=x.dtype, shape=shape, last=x.last)


def gather(state: State, node: Node) -> Value:
    """Gather of constant indices along an axis, and of computed ones along the first."""
    indices = state.operand(node, 1)
    if not isinstance(indices, Constant):
        raise NotForNpu("its indices are computed")
    value = _even(state, node)
    shape = shape_of(value)
    axis = int(attribute(node, "axis", 0)) % len(shape)
    places = indices.array.astype(np.int64)
    places = np.where(places < 0, places + shape[axis], places)
    if np.any((places < 0) | (places >= shape[axis])):
        raise NotForNpu(f"an index that {shape[axis]} steps do not have")
    wanted = (*shape[:axis], *places.shape, *shape[axis + 1 :])
    flat = places.reshape(-1)
    if isinstance(value, Constant):
        raise NotForNpu(reason_of(value))
    if np.array_equal(flat, flat[0] + np.arange(flat.size)):
        part = _part(state, value, {axis: (int(flat[0]), flat.size, 1)})
    else:
        part = moved(value, lambda x: picked(state, x, axis, flat))
    return moved(part, lambda x: state.writer.reshape(x, wanted))


def pad(state: State, node: Node) -> Value:
    """Pad with a constant."""
    if attribute(node, "mode", "constant") != "constant":
        raise NotForNpu(f"it pads with {node.attributes['mode']}")
    value = _even(state, node)
    shape = shape_of(value)
    widths = attribute(node, "pads", None)
    if widths is None:
        widths = state.known(node, 1, "the padding").reshape(-1)
    fill = attribute(node, "value", 0.0)
    if state.given(node, 2):
        fill = state.known(node, 2, "what is padded with").reshape(-1)[0]
    axes = list(range(len(shape)))
    if state.given(node, 3):
        axes = [int(n) % len(shape) for n in state.known(node, 3, "the axes").reshape(-1)]
    around = [(0, 0)] * len(shape)
    for at, axis in enumerate(axes):
        around[axis] = int(widths[at]), int(widths[at + len(axes)])
    if min(n for pair in around for n in pair) < 0:
        raise NotForNpu("it cuts off, by negative padding")
    return moved(value, lambda x: _padded(state, x, around, _filled(value, float(fill))))


def _filled(value: Value, fill: float) -> int:
    """What is padded with, as an integer of the program."""
    tensor = tensor_of(value)
    low, high = LIMITS[tensor.dtype]
    if isinstance(value, Real):
        return int(np.clip(np.rint(fill / value.step) + value.zero_point, low, high))
    if isinstance(value, Integers):
        return int(np.clip(int(fill) - value.offset, low, high))
    raise NotForNpu(reason_of(value))


def _padded(state: State, x: Tensor, around: Sequence[tuple[int, int]], fill: int) -> Tensor:
    shape = tuple(a + n + b for n, (a, b) in zip(x.shape, around, strict=True))
    made = Tensor(value=x.value, dtype=x.dtype, shape=shape, last=x.last)
    widths = [(0, 0)] * len(shape)
    for axis, pair in enumerate(around):
        widths[x.axis(axis)] = pair
    flat = state.writer.sizes([n for pair in widths for n in pair])
    operands = [x.value, flat, state.writer.one(fill, x.dtype)]
    value = state.writer.emit("pad", operands, x.dtype, made.stored)
    return Tensor(value=value, dtype=x.dtype, shape=shape, last=x.last)


def expand(state: State, node: Node) -> Value:
    """Expand."""
    value = _even(state, node)
    wanted = state.known(node, 1, "a shape").reshape(-1)
    return moved(value, lambda x: _expanded(state, x, [int(n) for n in wanted]))


def _expanded(state: State, x: Tensor, wanted: Sequence[int]) -> Tensor:
    from .writer import broadcast

    shape = broadcast(x.shape, wanted)
    x = state.writer.reshape(x, (1,) * (len(shape) - len(x.shape)) + x.shape)
    return _tiled(state, x, [n // m for n, m in zip(shape, x.shape, strict=True)])


def tile(state: State, node: Node) -> Value:
    """Tile."""
    value = _even(state, node)
    times = [int(n) for n in state.known(node, 1, "how often to repeat").reshape(-1)]
    return moved(value, lambda x: _tiled(state, state.writer.in_order(x), times))


def _tiled(state: State, x: Tensor, times: Sequence[int]) -> Tensor:
    if all(n == 1 for n in times):
        return x
    shape = tuple(n * m for n, m in zip(x.shape, times, strict=True))
    value = state.writer.emit("tile", [x.value, state.writer.sizes(times)], x.dtype, shape)
    return Tensor(value=value, dtype=x.dtype, shape=shape)


def depth_to_space(state: State, node: Node) -> Value:
    """DepthToSpace."""
    block = int(attribute(node, "blocksize", 1))
    column_first = attribute(node, "mode", "DCR") == "CRD"

    def turned(x: Tensor) -> Tensor:
        n, c, h, w = state.writer.in_order(x).shape
        kept = c // (block * block)
        apart = (n, kept, block, block, h, w) if column_first else (n, block, block, kept, h, w)
        order = (0, 1, 4, 2, 5, 3) if column_first else (0, 3, 4, 1, 5, 2)
        return _regrouped(state, x, apart, order, (n, kept, h * block, w * block))

    return moved(_even(state, node), turned)


def space_to_depth(state: State, node: Node) -> Value:
    """SpaceToDepth."""
    block = int(attribute(node, "blocksize", 1))

    def turned(x: Tensor) -> Tensor:
        n, c, h, w = state.writer.in_order(x).shape
        apart = (n, c, h // block, block, w // block, block)
        wanted = (n, c * block * block, h // block, w // block)
        return _regrouped(state, x, apart, (0, 3, 5, 1, 2, 4), wanted)

    return moved(_even(state, node), turned)


def _regrouped(
    state: State, x: Tensor, apart: Sequence[int], order: Sequence[int], wanted: Sequence[int]
) -> Tensor:
    if math.prod(apart) != math.prod(x.shape):
        raise NotForNpu(f"blocks do not divide {x.shape}")
    x = state.writer.reshape(x, apart)
    value = state.writer.transpose(x, order)
    shape = tuple(apart[axis] for axis in order)
    return state.writer.reshape(Tensor(value=value, dtype=x.dtype, shape=shape), wanted)


def identity(state: State, node: Node) -> Value:
    """Identity, and Dropout, which does nothing to what is trained."""
    return state.operand(node, 0)


def cast(state: State, node: Node) -> Value:
    """Cast: integers of 32 bits to real numbers, and between floats."""
    import onnx

    value = state.operand(node, 0)
    wanted = onnx.helper.tensor_dtype_to_np_dtype(int(attribute(node, "to", 1)))
    if isinstance(value, Integers) and wanted.kind == "f":
        return Real(tensor=value.tensor, scale=np.asarray(1.0), zero_point=-value.offset)
    if isinstance(value, Integers) and wanted.name == value.dtype:
        return value
    if isinstance(value, Real | Mapped) and wanted.kind == "f":
        return value
    if isinstance(value, Integers) and value.dtype == "int32" and wanted.name == "int64":
        return value  # places, which 32 bits are enough for
    raise NotForNpu(f"a cast to {wanted.name}")


def shape_(state: State, node: Node) -> Value:
    """Shape, which is known."""
    shape = shape_of(state.operand(node, 0))
    start, end = attribute(node, "start", 0), attribute(node, "end", len(shape))
    return Constant(array=np.array(shape[start:end], np.int64))


OPERATORS: dict[tuple[str, str], Convert] = {
    ("", name): convert
    for name, convert in {
        "Reshape": reshape,
        "Flatten": flatten,
        "Squeeze": squeeze,
        "Unsqueeze": unsqueeze,
        "Transpose": transpose,
        "Concat": concatenation,
        "Split": split,
        "Slice": slice_,
        "Gather": gather,
        "Pad": pad,
        "Expand": expand,
        "Tile": tile,
        "DepthToSpace": depth_to_space,
        "SpaceToDepth": space_to_depth,
        "Identity": identity,
        "Dropout": identity,
        "Cast": cast,
        "Shape": shape_,
    }.items()
}
"""By domain and name."""

"""Resizing planes: to the nearest, and linearly."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ..elements import Array
from ..meaning.moves import nearest_places
from .model import Node
from .moves import picked
from .state import Convert, State, attribute, moved, tensor_of
from .values import NotForNpu, Real, Tensor, Value

_ROUNDED: dict[str, Callable[[Array], Array]] = {
    "round_prefer_floor": lambda x: np.asarray(np.ceil(x - 0.5)),
    "round_prefer_ceil": lambda x: np.asarray(np.floor(x + 0.5)),
    "floor": np.floor,
    "ceil": np.ceil,
}


def resize(state: State, node: Node) -> Value:
    """Resize, and Upsample of old ONNX."""
    value = state.even(node, state.operand(node, 0))
    if isinstance(value, Real):
        value = state.settled(value)
    shape = tensor_of(value).shape
    sizes = _sizes(state, node, shape)
    if len(shape) != 4 or sizes[:2] != shape[:2]:
        raise NotForNpu(f"{shape} to {sizes}: only rows and columns of planes are resized")
    scales = _scales(state, node, shape, sizes)
    mode = attribute(node, "mode", "nearest")
    if mode == "nearest":
        places = [_nearest(node, shape[2 + i], sizes[2 + i], scales[i]) for i in (0, 1)]
        return moved(value, lambda x: _resized(state, x, places, sizes))
    if mode in ("linear", "bilinear") and isinstance(value, Real):
        return _linear(state, node, value, sizes, scales)
    raise NotForNpu(f"it resizes by the way {mode}")


def _sizes(state: State, node: Node, shape: tuple[int, ...]) -> tuple[int, ...]:
    last = 1 if node.op == "Upsample" or state.model.opset < 11 else 2
    if state.given(node, 3):
        sizes = state.known(node, 3, "the sizes").reshape(-1)
        return tuple(int(n) for n in sizes)
    scales = attribute(node, "scales", None)
    if scales is None:
        scales = state.known(node, last, "the scales").reshape(-1)
    if len(scales) != len(shape):
        raise NotForNpu("it resizes some axes by names")
    return tuple(math.floor(n * float(s)) for n, s in zip(shape, scales, strict=True))


def _scales(
    state: State, node: Node, shape: tuple[int, ...], sizes: tuple[int, ...]
) -> tuple[Fraction, Fraction]:
    """Output steps for each of the input's, rows and columns."""
    rows, columns = (Fraction(sizes[i], shape[i]) for i in (2, 3))
    return rows, columns


def _positions(node: Node, size: int, output: int, scale: Fraction) -> tuple[Fraction, Fraction]:
    """(step, offset): output position i is that at i * step + offset of the input."""
    default = "asymmetric" if node.op == "Upsample" else "half_pixel"
    how = attribute(node, "coordinate_transformation_mode", default)
    step = 1 / scale
    if how == "align_corners":
        return (Fraction(size - 1, output - 1) if output > 1 else Fraction(0)), Fraction(0)
    if how == "asymmetric":
        return step, Fraction(0)
    if how == "pytorch_half_pixel" and output == 1:
        return Fraction(0), Fraction(0)
    if how in ("half_pixel", "pytorch_half_pixel"):
        return step, step / 2 - Fraction(1, 2)
    raise NotForNpu(f"its positions are {how}")


def _nearest(node: Node, size: int, output: int, scale: Fraction) -> Array:
    step, offset = _positions(node, size, output, scale)
    default = "floor" if node.op == "Upsample" else "round_prefer_floor"
    rounded = _ROUNDED.get(attribute(node, "nearest_mode", default))
    if rounded is None:
        raise NotForNpu(f"it rounds by {node.attributes['nearest_mode']}")
    positions = np.array([float(i * step + offset) for i in range(output)])
    places: Array = np.clip(rounded(positions), 0, size - 1).astype(np.int64)
    return places


def _resized(state: State, x: Tensor, places: list[Array], sizes: tuple[int, ...]) -> Tensor:
    """Rows and columns by their numbers: by RESIZE where that picks the same."""
    x = state.writer.channels_last(x)
    found = [_as_resize(x.shape[2 + i], places[i]) for i in (0, 1)]
    if found[0] is None or found[1] is None:
        for axis, own in enumerate(places, 2):
            x = picked(state, x, axis, own)
        return x
    return _emitted(state, x, (found[0], found[1]), sizes, "NEAREST_NEIGHBOR", x.dtype)


def _as_resize(size: int, places: Array) -> tuple[int, int, int, int] | None:
    """(numerator, denominator, offset, border) with which RESIZE picks these; None if none does."""
    ratio = Fraction(len(places), size)
    up, down = 2 * ratio.numerator, 2 * ratio.denominator
    for offset in range(-up // 2, up):
        if np.array_equal(nearest_places(size, len(places), up, down, offset), places):
            border = (len(places) - 1) * down - (size - 1) * up + offset
            return up, down, offset, border
    return None


def _linear(
    state: State,
    node: Node,
    value: Real,
    sizes: tuple[int, ...],
    scales: tuple[Fraction, Fraction],
) -> Real:
    """RESIZE of integers is exact: the results are as much larger as both numerators' product."""
    x = state.writer.channels_last(value.tensor)
    if x.dtype != "int8":
        raise NotForNpu("a linear resize of more than 8 bits")
    axes = []
    for i in (0, 1):
        size, output = x.shape[2 + i], sizes[2 + i]
        step, offset = _positions(node, size, output, scales[i])
        up = math.lcm(step.denominator, offset.denominator)
        down, start = int(step * up), int(offset * up)
        if not down:
            up, down = 1, 1
        axes.append((up, down, start, (output - 1) * down - (size - 1) * up + start))
    factor = axes[0][0] * axes[1][0]
    made = _emitted(state, x, (axes[0], axes[1]), sizes, "BILINEAR", "int32")
    zero = state.writer.const(np.full((1, 1, 1, 1), value.zero_point * factor), "int32")
    less = Tensor(value=zero, dtype="int32", shape=(1, 1, 1, 1), last=True)
    made = state.writer.binary("sub", made, less) if value.zero_point else made
    return Real(tensor=made, scale=np.asarray(value.step / factor))


def _emitted(
    state: State,
    x: Tensor,
    axes: tuple[tuple[int, int, int, int], tuple[int, int, int, int]],
    sizes: tuple[int, ...],
    mode: str,
    dtype: str,
) -> Tensor:
    (yn, yd, yo, yb), (xn, xd, xo, xb) = axes
    writer = state.writer
    made = Tensor(value=x.value, dtype=dtype, shape=sizes, last=True)
    operands = [
        x.value,
        writer.sizes((yn, yd, xn, xd)),
        writer.sizes((yo, xo)),
        writer.sizes((yb, xb)),
    ]
    word = f"#tosa.resize_mode<{mode}>"
    value = writer.emit("resize", operands, dtype, made.stored, mode=word)
    return Tensor(value=value, dtype=dtype, shape=sizes, last=True)


OPERATORS: dict[tuple[str, str], Convert] = {("", "Resize"): resize, ("", "Upsample"): resize}
"""By domain and name."""

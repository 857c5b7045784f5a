"""Convolutions: their sums are integers, whose scale is the product of both operands' scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..elements import LIMITS, Array
from .model import Node
from .state import Convert, State, attribute
from .values import SIGNED, Constant, NotForNpu, Real, Scale, Tensor, Value
from .windows import Windows, array_text, cropped, outputs_of, windows_of
from .writer import accumulator

Target = tuple[float, int, str]
"""Scale, zero point of the program's integers, and ONNX's type of a result."""
_CLOSE = 1e-5
"""Relative difference of scales that are meant to be the same."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Constant weights: int8, scaled as a whole or along axis 0, the results' channels."""

    integers: Array
    scale: Scale
    zero_point: int


def conv(state: State, node: Node) -> Value:
    """Conv."""
    x = state.quantised(node, 0)
    weights = weights_of(state.operand(node, 1), axis=0)
    bias = state.operand(node, 2) if state.given(node, 2) else None
    return convolved(state, node, x, weights, bias)


def convolved(
    state: State,
    node: Node,
    x: Real,
    weights: Weights,
    bias: Value | None = None,
    target: Target | None = None,
) -> Real:
    """The sums of a convolution of (n, c, w) or (n, c, h, w).

    Groups of channels are convolved each by itself, and scaled to the target, or to what quantises
    the node's result.
    """
    flat = len(x.tensor.shape) == 3
    if len(x.tensor.shape) not in (3, 4):
        raise NotForNpu(f"a convolution of {len(x.tensor.shape) - 2} dimensions")
    if flat:
        x, weights = x.of(_with_row(state, x.tensor)), _flat_weights(weights)
    total = _grouped(state, node, x, weights, bias, target)
    n, channels, _, width = total.tensor.shape
    if flat:
        total = total.of(state.writer.reshape(total.tensor, (n, channels, width)))
    return total


def conv_transpose(state: State, node: Node) -> Value:
    """ConvTranspose of planes, in one group."""
    x = state.quantised(node, 0)
    found = weights_of(state.operand(node, 1), axis=1)
    if len(x.tensor.shape) != 4 or attribute(node, "group", 1) != 1:
        raise NotForNpu("a transposed convolution that is not of planes, or in groups")
    if attribute(node, "auto_pad", "NOTSET") != "NOTSET" or "output_shape" in node.attributes:
        raise NotForNpu("a transposed convolution whose padding is not told")
    count, channels, *kernel = found.integers.shape
    windows = windows_of(node, x.tensor.shape[2:], kernel)
    if channels != x.tensor.shape[1] or windows.dilation != (1, 1):
        raise NotForNpu("a transposed convolution that is dilated, or whose weights do not fit")
    scale = x.step * found.scale
    bias = state.operand(node, 2) if state.given(node, 2) else None
    more = attribute(node, "output_padding", [0, 0])
    pads = [-windows.pads[0], int(more[0]) - windows.pads[1]]
    pads += [-windows.pads[2], int(more[1]) - windows.pads[3]]
    tensor = state.writer.channels_last(x.tensor)
    height, width = (
        (tensor.shape[2 + i] - 1) * windows.stride[i] + kernel[i] + pads[2 * i] + pads[2 * i + 1]
        for i in (0, 1)
    )
    made = _emitted(
        state,
        "transpose_conv2d",
        x.of(tensor),
        (found.integers.transpose(0, 2, 3, 1), found.zero_point),
        bias_of(bias, scale, count),
        (tensor.shape[0], count, height, width),
        {"out_pad": pads, "stride": windows.stride},
    )
    return Real(tensor=made, scale=scale)


def _with_row(state: State, x: Tensor) -> Tensor:
    n, channels, width = x.shape
    return state.writer.reshape(x, (n, channels, 1, width))


def _flat_weights(weights: Weights) -> Weights:
    return Weights(
        integers=weights.integers[:, :, None, :],
        scale=weights.scale,
        zero_point=weights.zero_point,
    )


def weights_of(value: Value, axis: int) -> Weights:
    """Weights with their channels first; `axis` is where they have them. Raises NotForNpu."""
    if not isinstance(value, Constant):
        raise NotForNpu("its weights are computed")
    if value.integers is None or value.scale is None:
        raise NotForNpu("its weights are not quantised")
    if value.integers.dtype != np.int8:
        raise NotForNpu(f"its weights have {value.integers.dtype.itemsize * 8} bits, not 8")
    axis %= max(value.integers.ndim, 1)
    if value.scale.size > 1 and value.axis != axis:
        raise NotForNpu("its weights are scaled along another axis than that of the results")
    return Weights(
        integers=np.moveaxis(value.integers, axis, 0),
        scale=value.scale,
        zero_point=value.zero_point,
    )


def _grouped(
    state: State, node: Node, x: Real, weights: Weights, bias: Value | None, target: Target | None
) -> Real:
    channels, count = x.tensor.shape[1], weights.integers.shape[0]
    group = int(attribute(node, "group", 1))
    if group < 1 or channels % group or count % group:
        raise NotForNpu(f"{group} groups of {channels} channels and {count} results")
    if weights.integers.shape[1] * group != channels:
        raise NotForNpu(f"weights of {weights.integers.shape} for {channels} channels")
    scale = x.step * weights.scale
    added = bias_of(bias, scale, count)
    windows = windows_of(node, x.tensor.shape[2:], weights.integers.shape[2:])
    tensor, windows = cropped(state, state.writer.channels_last(x.tensor), windows)
    x = x.of(tensor)
    if group == 1:
        total = _conv2d(state, x, weights.integers, added, weights.zero_point, windows)
        return Real(tensor=total, scale=scale)
    if group == channels:
        return Real(tensor=_depthwise(state, x, weights, added, windows), scale=scale)
    step, point, dtype = target or state.scale_behind(node) or (float(scale.max()), 0, "int32")
    factors = np.broadcast_to((scale / step).reshape(-1), (count,))
    parts = []
    for number in range(group):
        own = slice(number * count // group, (number + 1) * count // group)
        each = channels // group
        part = x.of(channel_slice(state, x.tensor, number * each, each))
        integers = weights.integers[own]
        total = _conv2d(state, part, integers, added[own], weights.zero_point, windows)
        parts.append(state.writer.rescale(total, factors[own], SIGNED[dtype], output_zp=point))
    return Real(tensor=_joined(state, parts, count), scale=np.asarray(step), zero_point=point)


def _joined(state: State, parts: Sequence[Tensor], count: int) -> Tensor:
    n, _, height, width = parts[0].shape
    made = Tensor(
        value=parts[0].value, dtype=parts[0].dtype, shape=(n, count, height, width), last=True
    )
    values = [part.value for part in parts]
    value = state.writer.emit("concat", values, made.dtype, made.stored, axis="3 : i32")
    return Tensor(value=value, dtype=made.dtype, shape=made.shape, last=True)


def channel_slice(state: State, x: Tensor, first: int, count: int) -> Tensor:
    """Some channels of (n, c, h, w) that has its channels last."""
    n, _, height, width = x.shape
    sizes = (n, height, width, count)
    operands = [x.value, state.writer.sizes((0, 0, 0, first)), state.writer.sizes(sizes)]
    value = state.writer.emit("slice", operands, x.dtype, sizes)
    return Tensor(value=value, dtype=x.dtype, shape=(n, count, height, width), last=True)


def bias_of(value: Value | None, scale: Scale, count: int) -> Array:
    """A bias as integers at the scale of the sums. Raises NotForNpu."""
    if value is None:
        return np.zeros(count, np.int64)
    if not isinstance(value, Constant):
        raise NotForNpu("its bias is computed")
    steps = np.broadcast_to(scale.reshape(-1), (count,)) if scale.size in (1, count) else None
    if steps is None or value.array.size not in (1, count):
        raise NotForNpu(f"a bias of {value.array.shape} for {count} results")
    if not np.all(np.isfinite(value.array)):
        raise NotForNpu("its bias has numbers that are not finite")
    if (
        value.integers is not None
        and value.scale is not None
        and value.zero_point == 0
        and np.allclose(np.broadcast_to(value.scale, (count,)), steps, rtol=_CLOSE, atol=0)
    ):
        integers = value.integers.astype(np.int64)
    else:
        integers = np.rint(value.array.reshape(-1).astype(np.float64) / steps).astype(np.int64)
    low, high = LIMITS["int32"]
    return np.clip(np.broadcast_to(integers.reshape(-1), (count,)), low, high)


def _conv2d(
    state: State, x: Real, weights: Array, bias: Array, weight_zp: int, windows: Windows
) -> Tensor:
    return _product(state, "conv2d", x, weights.transpose(0, 2, 3, 1), bias, weight_zp, windows)


def _depthwise(state: State, x: Real, weights: Weights, bias: Array, windows: Windows) -> Tensor:
    channels = x.tensor.shape[1]
    count, _, rows, columns = weights.integers.shape
    kernels = weights.integers.reshape(channels, count // channels, rows, columns)
    kernels = kernels.transpose(2, 3, 0, 1)
    return _product(state, "depthwise_conv2d", x, kernels, bias, weights.zero_point, windows)


def _product(
    state: State,
    name: str,
    x: Real,
    weights: Array,
    bias: Array,
    weight_zp: int,
    windows: Windows,
) -> Tensor:
    lists = {"pad": windows.pads, "stride": windows.stride, "dilation": windows.dilation}
    shape = (x.tensor.shape[0], len(bias), *outputs_of(x.tensor, windows))
    return _emitted(state, name, x, (weights, weight_zp), bias, shape, lists)


def _emitted(
    state: State,
    name: str,
    x: Real,
    weights: tuple[Array, int],
    bias: Array,
    shape: tuple[int, ...],
    lists: Mapping[str, Sequence[int]],
) -> Tensor:
    """One of TOSA's convolutions; `weights` come with their zero point."""
    writer, dtype = state.writer, x.tensor.dtype
    wide = accumulator(dtype)
    kind = wide.replace("i", "int")
    operands = [
        x.tensor.value,
        writer.const(weights[0], "int8"),
        writer.const(bias, kind),
        writer.one(x.zero_point, dtype),
        writer.one(weights[1], "int8"),
    ]
    made = Tensor(value=x.tensor.value, dtype=kind, shape=shape, last=True)
    texts = {key: array_text(values) for key, values in lists.items()}
    value = writer.emit(name, operands, kind, made.stored, acc_type=wide, **texts)
    return Tensor(value=value, dtype=kind, shape=shape, last=True)


OPERATORS: dict[tuple[str, str], Convert] = {
    ("", "Conv"): conv,
    ("", "ConvTranspose"): conv_transpose,
}
"""By domain and name."""

"""Pooling and reductions of real numbers in integers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .model import Node
from .state import Convert, State, attribute, moved, tensor_of
from .values import Integers, NotForNpu, Real, Tensor, Value
from .windows import array_text, cropped, pooled_shape, windows_of

_FINER = 128
"""By what means of 8 bits are finer before they are scaled."""
_MOST_WINDOW = 1 << 23


def max_pool(state: State, node: Node) -> Value:
    """MaxPool."""
    if len(node.outputs) > 1 and state.model.readers.get(node.outputs[1]):
        raise NotForNpu("the places of the largest are not known")
    value = state.operand(node, 0)
    if isinstance(value, Real):
        value = state.settled(value)
    if tensor_of(value).dtype not in ("int8", "int16"):
        raise NotForNpu("there is no scale before it: quantise the tensor")
    return moved(value, lambda x: _pooled(state, node, x, "max_pool2d"))


def average_pool(state: State, node: Node) -> Value:
    """AveragePool; where the result has another scale, means are made of finer integers."""
    x = state.quantised(node, 0)
    behind = state.scale_behind(node)
    alike = behind is not None and math.isclose(behind[0], x.step, rel_tol=1e-6)
    if x.tensor.dtype == "int8" and not alike:
        fine = state.writer.rescale(x.tensor, float(_FINER), "int16", input_zp=x.zero_point)
        x = Real(tensor=fine, scale=np.asarray(x.step / _FINER))
    padded = any(attribute(node, "pads", [0])) or attribute(node, "auto_pad", "NOTSET") != "NOTSET"
    if attribute(node, "count_include_pad", 0) and padded:
        x = x.of(_surrounded(state, node, x))
        return x.of(_pooled(state, _without_padding(node), x.tensor, "avg_pool2d", x.zero_point))
    return x.of(_pooled(state, node, x.tensor, "avg_pool2d", x.zero_point))


def _without_padding(node: Node) -> Node:
    kept = {k: v for k, v in node.attributes.items() if k not in ("pads", "auto_pad")}
    return Node(
        name=node.name,
        domain=node.domain,
        op=node.op,
        inputs=node.inputs,
        outputs=node.outputs,
        attributes=kept,
    )


def _surrounded(state: State, node: Node, x: Real) -> Tensor:
    """The plane with its padding, which counts as zeros."""
    kernel = attribute(node, "kernel_shape", [1, 1])
    tensor = state.writer.channels_last(_plane(state, x.tensor))
    pads = windows_of(node, tensor.shape[2:], kernel).pads
    n, channels, height, width = tensor.shape
    shape = (n, channels, height + pads[0] + pads[1], width + pads[2] + pads[3])
    made = Tensor(value=tensor.value, dtype=tensor.dtype, shape=shape, last=True)
    operands = [
        tensor.value,
        state.writer.sizes((0, 0, *pads, 0, 0)),
        state.writer.one(x.zero_point, tensor.dtype),
    ]
    value = state.writer.emit("pad", operands, tensor.dtype, made.stored)
    return Tensor(value=value, dtype=tensor.dtype, shape=shape, last=True)


def _plane(state: State, x: Tensor) -> Tensor:
    """(n, c, h, w); of (n, c, w) with one row."""
    if len(x.shape) == 3:
        n, channels, width = x.shape
        return state.writer.reshape(x, (n, channels, 1, width))
    if len(x.shape) != 4:
        raise NotForNpu(f"pooling of {len(x.shape) - 2} dimensions")
    return x


def _pooled(state: State, node: Node, x: Tensor, name: str, zero_point: int = 0) -> Tensor:
    """The pooled planes; MAX_POOL2D and AVG_POOL2D never see what is outside."""
    rank = len(x.shape)
    kernel = attribute(node, "kernel_shape", [])
    windows = windows_of(node, _plane(state, x).shape[2:], kernel)
    if windows.dilation != (1, 1):
        raise NotForNpu("its windows are dilated")
    tensor, windows = cropped(state, state.writer.channels_last(_plane(state, x)), windows)
    shape = pooled_shape(tensor, windows)
    made = Tensor(value=tensor.value, dtype=tensor.dtype, shape=shape, last=True)
    operands, more = [tensor.value], {"nan_mode": "#tosa.nan_mode<PROPAGATE>"}
    if name == "avg_pool2d":
        operands += [state.writer.one(zero_point, x.dtype)] * 2
        more = {"acc_type": "i32"}
    value = state.writer.emit(
        name,
        operands,
        tensor.dtype,
        made.stored,
        kernel=array_text(windows.kernel),
        stride=array_text(windows.stride),
        pad=array_text(windows.pads),
        **more,
    )
    made = Tensor(value=value, dtype=tensor.dtype, shape=shape, last=True)
    if rank == 4:
        return made
    return state.writer.reshape(made, (shape[0], shape[1], shape[3]))


def global_average_pool(state: State, node: Node) -> Value:
    """GlobalAveragePool."""
    x = state.quantised(node, 0)
    return _mean(state, x, tuple(range(2, len(x.tensor.shape))), keep=True)


def global_max_pool(state: State, node: Node) -> Value:
    """GlobalMaxPool."""
    value = state.operand(node, 0)
    value = state.settled(value) if isinstance(value, Real) else value
    axes = range(2, len(tensor_of(value).shape))
    return moved(value, lambda x: _reduced(state, "reduce_max", x, axes, keep=True))


def _axes(state: State, node: Node, rank: int) -> tuple[int, ...]:
    """The axes of a reduction: an attribute, or an operand of newer ONNX."""
    given = attribute(node, "axes", None)
    if given is None and state.given(node, 1):
        given = state.known(node, 1, "the axes").reshape(-1)
    if given is None or not len(given):
        if attribute(node, "noop_with_empty_axes", 0):
            return ()
        return tuple(range(rank))
    return tuple(sorted({int(axis) % rank for axis in given}))


def reduce_mean(state: State, node: Node) -> Value:
    """ReduceMean."""
    x = state.quantised(node, 0)
    axes = _axes(state, node, len(x.tensor.shape))
    return _mean(state, x, axes, keep=bool(attribute(node, "keepdims", 1)))


def reduce_sum(state: State, node: Node) -> Value:
    """ReduceSum."""
    x = state.quantised(node, 0)
    axes = _axes(state, node, len(x.tensor.shape))
    return _mean(state, x, axes, keep=bool(attribute(node, "keepdims", 1)), divided=False)


def _mean(state: State, x: Real, axes: Sequence[int], *, keep: bool, divided: bool = True) -> Real:
    """Sums in 32 bits, whose scale is as much smaller as there are numbers in each."""
    count = math.prod(x.tensor.shape[axis] for axis in axes)
    if count > _MOST_WINDOW >> (8 if x.tensor.dtype == "int16" else 0):
        raise NotForNpu(f"sums of {count} numbers have more than 32 bits")
    wide = state.writer.rescale(x.tensor, 1.0, "int32", input_zp=x.zero_point)
    total = _reduced(state, "reduce_sum", wide, axes, keep=keep)
    return Real(tensor=total, scale=np.asarray(x.step / (count if divided else 1)))


def _reduced(
    state: State, name: str, x: Tensor, axes: Sequence[int], *, keep: bool, **more: str
) -> Tensor:
    for axis in axes:
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        made = Tensor(value=x.value, dtype=x.dtype, shape=shape, last=x.last)
        if name == "reduce_max":
            more = {"nan_mode": "#tosa.nan_mode<PROPAGATE>"}
        value = state.writer.emit(
            name, [x.value], x.dtype, made.stored, axis=f"{x.axis(axis)} : i32", **more
        )
        x = Tensor(value=value, dtype=x.dtype, shape=shape, last=x.last)
    if keep:
        return x
    return state.writer.reshape(x, [n for axis, n in enumerate(x.shape) if axis not in axes])


def reduce_max(state: State, node: Node) -> Value:
    """ReduceMax; ReduceMin is that of nothing known here."""
    value = state.operand(node, 0)
    value = state.settled(value) if isinstance(value, Real) else value
    axes = _axes(state, node, len(tensor_of(value).shape))
    keep = bool(attribute(node, "keepdims", 1))
    name = "reduce_max" if node.op == "ReduceMax" else "reduce_min"
    return moved(value, lambda x: _reduced(state, name, x, axes, keep=keep))


def arg_max(state: State, node: Node) -> Value:
    """ArgMax: the first of equals, as an integer of 32 bits."""
    if attribute(node, "select_last_index", 0):
        raise NotForNpu("the last of equals is wanted")
    value = state.operand(node, 0)
    value = state.settled(value) if isinstance(value, Real) else value
    x = state.writer.in_order(tensor_of(value))
    axis = int(attribute(node, "axis", 0)) % len(x.shape)
    shape = [n for at, n in enumerate(x.shape) if at != axis]
    made = state.writer.emit(
        "argmax",
        [x.value],
        "int32",
        shape,
        axis=f"{axis} : i32",
        nan_mode="#tosa.nan_mode<PROPAGATE>",
    )
    tensor = Tensor(value=made, dtype="int32", shape=tuple(shape))
    if attribute(node, "keepdims", 1):
        kept = tuple(1 if at == axis else n for at, n in enumerate(x.shape))
        tensor = state.writer.reshape(tensor, kept)
    return Integers(tensor=tensor, dtype="int32")


OPERATORS: dict[tuple[str, str], Convert] = {
    ("", "MaxPool"): max_pool,
    ("", "AveragePool"): average_pool,
    ("", "GlobalAveragePool"): global_average_pool,
    ("", "GlobalMaxPool"): global_max_pool,
    ("", "ReduceMean"): reduce_mean,
    ("", "ReduceSum"): reduce_sum,
    ("", "ReduceMax"): reduce_max,
    ("", "ReduceMin"): reduce_max,
    ("", "ArgMax"): arg_max,
}
"""By domain and name."""

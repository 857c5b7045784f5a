"""TorqHL's operations as the operators that kernels take: one to one, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...graph.elements import LIMITS
from ..operators import elementwise, moves, products, reductions
from ..operators.operator import Operator
from ..operators.quantisation import FloatRange, Rescale
from ..operators.tensors import TensorType
from . import elementwise as hl_elements
from . import moves as hl_moves
from . import products as hl_products
from . import reductions as hl_reductions
from .operation import HlOp
from .types import Tensor, tensor_of

Fields = dict[str, Any]


class NoOperator(ValueError):
    """No kernel can be asked for an operation, with the reason."""


def type_of(kind: Tensor) -> TensorType:
    """The type as kernels see it: truth values are bytes. Raises NoOperator."""
    dtype = "int8" if kind.dtype == "bool" else kind.dtype
    try:
        return TensorType(dtype=dtype, shape=kind.shape or (1,), layout=kind.layout)
    except ValueError as error:
        raise NoOperator(str(error)) from None


def operator_of(op: HlOp) -> Operator:
    """The operator that an operation stands for. Raises NoOperator.

    Views, constants and what the host does stand for none.
    """
    if type(op) not in _OPERATORS:
        raise NoOperator(f"{op.name} is not done by a kernel")
    make, convert = _OPERATORS[type(op)]
    fields = convert(op)
    names = op.get_irdl_definition().operands
    given: Fields = {"y": type_of(op.type)}
    for (name, _), value in zip(names, op.operands, strict=False):
        if name not in ("bias", "parts"):
            given[name] = type_of(tensor_of(value))
    return make(**given, **fields)


def _plain(op: HlOp) -> Fields:
    return {key: value for key, value in op.fields.items() if value is not None}


def _padding(pads: tuple[int, ...]) -> products.Padding:
    top, bottom, left, right = pads
    return products.Padding(top=top, bottom=bottom, left=left, right=right)


def _scaling(op: HlOp, dtype: str) -> Rescale | FloatRange:
    """How sums are scaled; without a scaling they are kept as the type has them."""
    found = op.field("rescale")
    if found is not None:
        return found  # type: ignore[no-any-return]
    if dtype not in LIMITS:
        return FloatRange()
    low, high = LIMITS[dtype]
    return Rescale(low=low, high=high)


def _sums(op: HlOp) -> Fields:
    """Fields of sums with weights."""
    if op.field("weight_zp"):
        raise NoOperator(f"{op.name}: weights have a zero point")
    return {"rescale": _scaling(op, op.type.dtype), "input_zp": op.field("input_zp")}


def _windows(op: HlOp) -> Fields:
    stride = op.field("stride")
    if op.field("dilation") != (1, 1) or stride not in ((1, 1), (2, 2)):
        raise NoOperator(f"{op.name}: stride {stride} with dilation {op.field('dilation')}")
    return {**_sums(op), "stride": stride[0], "padding": _padding(op.field("padding"))}


def _pool(op: HlOp) -> Fields:
    return {**_plain(op), "padding": _padding(op.field("padding"))}


def _product(op: HlOp) -> Fields:
    if op.field("a_zp") or op.field("b_zp"):
        raise NoOperator(f"{op.name}: operands have zero points")
    return {"rescale": op.field("rescale")}


def _pad(op: HlOp) -> Fields:
    fields = _plain(op)
    fields["value"] = fields.pop("fill")
    return fields


def _transpose(op: HlOp) -> Fields:
    if op.field("by") != "slice":
        raise NoOperator(f"{op.name}: done by {op.field('by')}")
    return {"order": op.field("order")}


def _slice(op: HlOp) -> Fields:
    assert isinstance(op, hl_moves.Slice)
    return {"starts": op.field("starts"), "steps": op.steps_}


def _concat(op: HlOp) -> Fields:
    parts = tuple(type_of(tensor_of(part)) for part in op.operands)
    return {"axis": op.field("axis"), "parts": parts}


def _scale(op: HlOp) -> Fields:
    if len(op.field("rescale").multipliers) > 1:
        raise NoOperator(f"{op.name}: a multiplier for each channel")
    return _plain(op)


_OPERATORS: Mapping[type[HlOp], tuple[Callable[..., Operator], Callable[[HlOp], Fields]]] = {
    hl_products.Convolution: (products.Convolution, _windows),
    hl_products.DepthwiseConvolution: (products.DepthwiseConvolution, _windows),
    hl_products.FullyConnected: (products.FullyConnected, _sums),
    hl_products.MatMul: (products.MatMul, _product),
    hl_elements.Add: (elementwise.Add, _plain),
    hl_elements.Mul: (elementwise.Mul, _product),
    hl_elements.Elementwise: (elementwise.Elementwise, _plain),
    hl_elements.Unary: (elementwise.Unary, _plain),
    hl_elements.Scale: (elementwise.Scale, _scale),
    hl_elements.Clamp: (elementwise.Clamp, _plain),
    hl_elements.Table: (elementwise.Table, _plain),
    hl_elements.Select: (elementwise.Select, _plain),
    hl_reductions.Pool: (reductions.Pool, _pool),
    hl_reductions.Mean: (reductions.Mean, _plain),
    hl_reductions.Reduce: (reductions.Reduce, _plain),
    hl_moves.Copy: (moves.Copy, _plain),
    hl_moves.Transpose: (moves.Transpose, _transpose),
    hl_moves.Segment: (moves.Segment, _plain),
    hl_moves.Pad: (moves.Pad, _pad),
    hl_moves.Concat: (moves.Concat, _concat),
    hl_moves.Slice: (moves.Slice, _slice),
    hl_moves.Broadcast: (moves.Broadcast, _plain),
    hl_moves.Repeat: (moves.Repeat, _plain),
    hl_moves.Gather: (moves.Gather, _plain),
}
"""The operator of each operation, and how its fields are told."""

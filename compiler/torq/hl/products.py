"""TorqHL's sums of products: convolutions, fully connected layers, products of matrices."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.irdl import (
    AnyOf,
    BaseAttr,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
)

from ..operators.quantisation import FloatRange, Rescale
from ..operators.tensors import Layout
from .attributes import FloatRangeAttr, RescaleAttr
from .operation import HlOp, form, require, require_numbers
from .types import Tensor, TensorAttr, tensor_of

SCALING = AnyOf((BaseAttr(RescaleAttr), BaseAttr(FloatRangeAttr)))
UNSCALED = {"int8": "int32", "uint8": "int32", "int16": "int48"}
"""Types of sums of products."""
FOUR, TWO = (0, 0, 0, 0), (1, 1)


class _Windows(HlOp):
    """A convolution: x are ROWS (n, h, w, c), PLANES or QUADRANTS (n, c, h, w), and so is y.

    Padding of -1 on the left leaves out the first column.
    """

    DEFAULTS: ClassVar[dict[str, Any]] = {
        "padding": FOUR,
        "stride": TWO,
        "dilation": TWO,
        "input_zp": 0,
        "weight_zp": 0,
    }

    def verify_(self) -> None:
        """Shapes that belong together."""
        x, weights = tensor_of(self.operands[0]), tensor_of(self.operands[1])
        y = self.type
        require(len(x.shape) == len(y.shape) == 4, f"{self.name}: {x.shape} to {y.shape}")
        require_numbers(self, 2, 1, "stride", "dilation")
        require_numbers(self, 4, -1, "padding")
        top, bottom, _, right = self.field("padding")
        require(min(top, bottom, right) >= 0, f"{self.name}: padding is less than none")
        taps = weights.shape[-2:]
        pads, stride, dilation = (self.field(key) for key in ("padding", "stride", "dilation"))
        for side, (size, made) in enumerate(zip(plane(x), plane(y), strict=True)):
            room = size + pads[2 * side] + pads[2 * side + 1]
            expected = (room - (taps[side] - 1) * dilation[side] - 1) // stride[side] + 1
            require(
                made == expected,
                f"{self.name}: {size} with padding makes {expected} rows or columns, not {made}",
            )
        verify_scaling(self, channels(y))


def plane(x: Tensor) -> tuple[int, int]:
    """Rows and columns."""
    places = (1, 2) if x.layout is Layout.ROWS else (2, 3)
    return x.shape[places[0]], x.shape[places[1]]


def channels(x: Tensor) -> int:
    """Channels of four dimensions, else the last one."""
    return x.shape[-1] if x.layout is Layout.ROWS else x.shape[1]


def verify_scaling(op: HlOp, many: int) -> None:
    """One scale or one per channel, to the zero point that the result's type has."""
    scaling = op.field("rescale")
    if isinstance(scaling, Rescale):
        count = len(scaling.multipliers)
        require(count in (1, many), f"{op.name}: {count} multipliers for {many} channels")
        zero = op.type.zero_point
        require(
            zero is None or zero == scaling.zero_point,
            f"{op.name}: the result's zero point is {zero}, its scaling's {scaling.zero_point}",
        )
    require(
        not isinstance(scaling, FloatRange) or "float" in op.type.dtype,
        f"{op.name}: limits of floats for {op.type.dtype}",
    )


@irdl_op_definition
class Convolution(_Windows):
    """y = x convolved with weights (o, c, kh, kw), plus bias (o,), scaled.

    Without `rescale` y has the sums.
    """

    name = "torq_hl.convolution"
    x = operand_def(TensorAttr)
    weights = operand_def(TensorAttr)
    bias = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    padding = opt_prop_def(DenseArrayBase)
    stride = opt_prop_def(DenseArrayBase)
    dilation = opt_prop_def(DenseArrayBase)
    input_zp = opt_prop_def(IntegerAttr)
    weight_zp = opt_prop_def(IntegerAttr)
    rescale = opt_prop_def(SCALING)
    assembly_format = form("x", "weights", "bias")

    def verify_(self) -> None:
        """Also, channels of weights are those of x and y."""
        super().verify_()
        shape = tensor_of(self.weights).shape
        require(len(shape) == 4, f"{self.name}: weights of {shape}")
        x, y = channels(tensor_of(self.x)), channels(self.type)
        require(shape[:2] == (y, x), f"{self.name}: weights of {shape} for {x} to {y} channels")


@irdl_op_definition
class DepthwiseConvolution(_Windows):
    """y = each channel of x convolved with its own kernel of weights (c, kh, kw), scaled."""

    name = "torq_hl.depthwise_convolution"
    x = operand_def(TensorAttr)
    weights = operand_def(TensorAttr)
    bias = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    padding = opt_prop_def(DenseArrayBase)
    stride = opt_prop_def(DenseArrayBase)
    dilation = opt_prop_def(DenseArrayBase)
    input_zp = opt_prop_def(IntegerAttr)
    weight_zp = opt_prop_def(IntegerAttr)
    rescale = opt_prop_def(SCALING)
    assembly_format = form("x", "weights", "bias")

    def verify_(self) -> None:
        """Also, there are as many kernels as channels."""
        super().verify_()
        shape = tensor_of(self.weights).shape
        x, y = channels(tensor_of(self.x)), channels(self.type)
        require(
            len(shape) == 3 and shape[0] == x == y,
            f"{self.name}: weights of {shape} for {x} to {y} channels",
        )


@irdl_op_definition
class FullyConnected(HlOp):
    """y (n, o) = x (n, i) times the transposed weights (o, i), plus bias (o,), scaled."""

    name = "torq_hl.fully_connected"
    x = operand_def(TensorAttr)
    weights = operand_def(TensorAttr)
    bias = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    input_zp = opt_prop_def(IntegerAttr)
    weight_zp = opt_prop_def(IntegerAttr)
    rescale = opt_prop_def(SCALING)
    assembly_format = form("x", "weights", "bias")
    DEFAULTS: ClassVar[dict[str, Any]] = {"input_zp": 0, "weight_zp": 0}

    def verify_(self) -> None:
        """Shapes that belong together."""
        x, weights, y = (tensor_of(v).shape for v in (self.x, self.weights, self.y))
        require(
            len(x) == len(weights) == len(y) == 2
            and (x[0], x[1], weights[0]) == (y[0], weights[1], y[1]),
            f"{self.name}: {x} with weights {weights} to {y}",
        )
        verify_scaling(self, y[1])


@irdl_op_definition
class MatMul(HlOp):
    """y (n, h, w) = a (n, h, c) times b (n, c, w), scaled if asked for."""

    name = "torq_hl.matmul"
    a = operand_def(TensorAttr)
    b = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    a_zp = opt_prop_def(IntegerAttr)
    b_zp = opt_prop_def(IntegerAttr)
    rescale = opt_prop_def(SCALING)
    assembly_format = form("a", "b")
    DEFAULTS: ClassVar[dict[str, Any]] = {"a_zp": 0, "b_zp": 0}

    def verify_(self) -> None:
        """Shapes that belong together."""
        a, b, y = (tensor_of(v).shape for v in (self.a, self.b, self.y))
        require(
            len(a) == len(b) == len(y) == 3
            and (a[0], a[0], a[1], a[2], b[2]) == (b[0], y[0], y[1], b[1], y[2]),
            f"{self.name}: {a} times {b} to {y}",
        )
        verify_scaling(self, 1)

"""TorqHL's operations that make one element of many."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from ..operators.reductions import REDUCTIONS
from .attributes import RescaleAttr
from .operation import HlOp, form, require, require_numbers
from .products import FOUR, TWO, channels, plane, verify_scaling
from .types import TensorAttr, tensor_of

KINDS = ("max", "mean")


@irdl_op_definition
class Pool(HlOp):
    """The largest ("max") or the mean ("mean") of each window of x, of the cells inside."""

    name = "torq_hl.pool"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    kind = prop_def(StringAttr)
    kernel = prop_def(DenseArrayBase)
    stride = opt_prop_def(DenseArrayBase)
    padding = opt_prop_def(DenseArrayBase)
    input_zp = opt_prop_def(IntegerAttr)
    output_zp = opt_prop_def(IntegerAttr)
    assembly_format = form("x")
    DEFAULTS: ClassVar[dict[str, Any]] = {
        "stride": TWO,
        "padding": FOUR,
        "input_zp": 0,
        "output_zp": 0,
    }

    def verify_(self) -> None:
        """Shapes that belong together."""
        x, y = tensor_of(self.x), self.type
        require(self.kind.data in KINDS, f"{self.name}: no kind {self.kind.data}")
        require_numbers(self, 2, 1, "kernel", "stride")
        require_numbers(self, 4, 0, "padding")
        kernel, pads, stride = (self.field(key) for key in ("kernel", "padding", "stride"))
        sizes = tuple(
            (size + pads[2 * side] + pads[2 * side + 1] - kernel[side]) // stride[side] + 1
            for side, size in enumerate(plane(x))
        )
        require(
            (sizes, channels(x)) == (plane(y), channels(y)), f"{self.name}: {x.shape} to {y.shape}"
        )


@irdl_op_definition
class Mean(HlOp):
    """y (n, c) = x summed over its plane, less input_zp for each element, scaled."""

    name = "torq_hl.mean"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    input_zp = opt_prop_def(IntegerAttr)
    rescale = prop_def(RescaleAttr)
    assembly_format = form("x")
    DEFAULTS: ClassVar[dict[str, Any]] = {"input_zp": 0}

    def verify_(self) -> None:
        """A plane goes away."""
        x, y = tensor_of(self.x), self.type
        require(
            len(x.shape) == 4 and y.shape == (x.shape[0], channels(x)),
            f"{self.name}: {x.shape} to {y.shape}",
        )
        verify_scaling(self, 1)


@irdl_op_definition
class Reduce(HlOp):
    """x reduced along an axis, which stays with length 1 or goes away.

    "sum" wraps at the bits of y's type; "argmax" gives the first of equals. Bits are combined by
    "band", "bor" and "bxor"; floats are summed in float32, their products rounded at each step.
    """

    name = "torq_hl.reduce"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    kind = prop_def(StringAttr)
    axis = prop_def(IntegerAttr)
    assembly_format = form("x")

    def verify_(self) -> None:
        """A kind that there is, and one step along the axis or none."""
        x, y, axis = tensor_of(self.x).shape, self.type.shape, self.field("axis")
        require(self.kind.data in REDUCTIONS, f"{self.name}: no kind {self.kind.data}")
        require(0 <= axis < len(x), f"{self.name}: axis {axis} of {x}")
        rest = x[:axis], x[axis + 1 :]
        kept, gone = (*rest[0], 1, *rest[1]), (*rest[0], *rest[1])
        require(y in (kept, gone), f"{self.name}: {x} along {axis} to {y}")

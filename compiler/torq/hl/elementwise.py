"""TorqHL's operations that make each element of the same elements of their operands."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AnyOf,
    BaseAttr,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)

from ..operators.elementwise import COMBINATIONS, UNARIES
from .attributes import RescaleAttr
from .operation import HlOp, form, require
from .products import SCALING, channels, verify_scaling
from .types import Tensor, TensorAttr, tensor_of

NUMBER = AnyOf((BaseAttr(IntegerAttr), BaseAttr(FloatAttr)))


def verify_alike(op: HlOp, *values: SSAValue) -> None:
    """Operands of one layout that broadcast to the result."""
    y = op.type
    types = [tensor_of(value) for value in values]
    try:
        shape = np.broadcast_shapes(*(x.shape for x in types))
    except ValueError:
        shape = ()
    require(shape == y.shape, f"{op.name}: {', '.join(str(x.shape) for x in types)} to {y.shape}")
    require(
        all(x.layout is y.layout or _has_one(x) for x in types),
        f"{op.name}: layouts {', '.join(x.layout.value for x in types)} to {y.layout.value}",
    )


def _has_one(x: Tensor) -> bool:
    return all(size == 1 for size in x.shape)


@irdl_op_definition
class Add(HlOp):
    """y = (a * weights_ab[0] + b * weights_ab[1] + bias) scaled: tensors of any quantisation."""

    name = "torq_hl.add"
    a = operand_def(TensorAttr)
    b = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    weights_ab = prop_def(DenseArrayBase)
    bias = opt_prop_def(IntegerAttr)
    rescale = prop_def(RescaleAttr)
    assembly_format = form("a", "b")
    DEFAULTS: ClassVar[dict[str, Any]] = {"bias": 0}

    def verify_(self) -> None:
        """Weights of 16 bits."""
        verify_alike(self, self.a, self.b)
        weights = self.field("weights_ab")
        require(
            len(weights) == 2 and all(-32768 <= w < 32768 for w in weights),
            f"{self.name}: weights {weights} are not two of 16 bits",
        )
        verify_scaling(self, 1)


@irdl_op_definition
class Mul(HlOp):
    """y = (a - a_zp) * (b - b_zp), scaled if asked for; of floats, limited."""

    name = "torq_hl.mul"
    a = operand_def(TensorAttr)
    b = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    a_zp = opt_prop_def(IntegerAttr)
    b_zp = opt_prop_def(IntegerAttr)
    rescale = opt_prop_def(SCALING)
    assembly_format = form("a", "b")
    DEFAULTS: ClassVar[dict[str, Any]] = {"a_zp": 0, "b_zp": 0}

    def verify_(self) -> None:
        """Shapes that broadcast."""
        verify_alike(self, self.a, self.b)
        verify_scaling(self, 1)


@irdl_op_definition
class Elementwise(HlOp):
    """y = a `kind` b; ADD and SUB saturate; comparisons and logic give truth values."""

    name = "torq_hl.elementwise"
    a = operand_def(TensorAttr)
    b = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    kind = prop_def(StringAttr)
    assembly_format = form("a", "b")

    def verify_(self) -> None:
        """A kind that there is."""
        require(self.kind.data in COMBINATIONS, f"{self.name}: no kind {self.kind.data}")
        verify_alike(self, self.a, self.b)


@irdl_op_definition
class Unary(HlOp):
    """y = `kind` of x: ABS, NEG, CLZ, CEIL, FLOOR, CAST."""

    name = "torq_hl.unary"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    kind = prop_def(StringAttr)
    assembly_format = form("x")

    def verify_(self) -> None:
        """A kind that there is."""
        require(self.kind.data in UNARIES, f"{self.name}: no kind {self.kind.data}")
        verify_alike(self, self.x)


@irdl_op_definition
class Scale(HlOp):
    """y = (x - input_zp) scaled: TOSA's RESCALE, with one multiplier or one per channel."""

    name = "torq_hl.scale"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    input_zp = opt_prop_def(IntegerAttr)
    rescale = prop_def(RescaleAttr)
    assembly_format = form("x")
    DEFAULTS: ClassVar[dict[str, Any]] = {"input_zp": 0}

    def verify_(self) -> None:
        """The same shape."""
        verify_alike(self, self.x)
        verify_scaling(self, channels(self.type) if self.type.shape else 1)


@irdl_op_definition
class Clamp(HlOp):
    """y = x within `low` and `high`."""

    name = "torq_hl.clamp"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    low = prop_def(NUMBER)
    high = prop_def(NUMBER)
    assembly_format = form("x")

    def verify_(self) -> None:
        """The same shape and type."""
        verify_alike(self, self.x)
        require(tensor_of(self.x).dtype == self.type.dtype, f"{self.name}: types differ")


@irdl_op_definition
class Table(HlOp):
    """y = entries looked up by x: 256 of int8, or 513 of int16, between which is interpolated.

    Of int16, y is int16 rounded to whole numbers; as int32 it has 7 more bits.
    """

    name = "torq_hl.table"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    entries = prop_def(DenseArrayBase)
    assembly_format = form("x")

    def verify_(self) -> None:
        """As many entries as the type needs."""
        verify_alike(self, self.x)
        needed = {"int8": 256, "int16": 513}.get(tensor_of(self.x).dtype, 0)
        count = len(self.field("entries"))
        require(count == needed, f"{self.name}: {count} entries for {tensor_of(self.x).dtype}")


@irdl_op_definition
class Select(HlOp):
    """y = a where the condition holds, else b."""

    name = "torq_hl.select"
    condition = operand_def(TensorAttr)
    a = operand_def(TensorAttr)
    b = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    assembly_format = form("condition", "a", "b")

    def verify_(self) -> None:
        """Shapes that broadcast."""
        verify_alike(self, self.condition, self.a, self.b)

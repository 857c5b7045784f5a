"""TorqHL's operations that put elements elsewhere, or leave them where they are."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
)
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)

from ...graph.elements import NUMPY, Array, array_of
from ..operators.tensors import Layout
from .operation import HlOp, form, require
from .types import TensorAttr, tensor_of


@irdl_op_definition
class Const(HlOp):
    """y = what is written; dense, without the layout's gaps."""

    name = "torq_hl.const"
    y = result_def(TensorAttr)
    values = prop_def(DenseIntOrFPElementsAttr)
    assembly_format = form()

    @property
    def array(self) -> Array:
        """The elements."""
        return array_of(self.values).reshape(self.type.shape)

    def verify_(self) -> None:
        """As many elements as the type has."""
        count = math.prod(self.values.type.get_shape())
        require(count == math.prod(self.type.shape), f"{self.name}: {count} elements")


@irdl_op_definition
class View(HlOp):
    """The same bytes of ROWS as another shape, or with another sign."""

    name = "torq_hl.view"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    assembly_format = form("x")

    def verify_(self) -> None:
        """As many elements of as many bytes, without gaps."""
        x, y = tensor_of(self.x), self.type
        same = NUMPY[x.dtype].itemsize == NUMPY[y.dtype].itemsize
        require(same and math.prod(x.shape) == math.prod(y.shape), f"{self.name}: {x} as {y}")
        rows = x.layout is y.layout is Layout.ROWS
        require(rows or x.shape == y.shape, f"{self.name}: {x.layout.value} have gaps")


@irdl_op_definition
class Copy(HlOp):
    """y = x of the same shape and type; the layouts may differ."""

    name = "torq_hl.copy"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    assembly_format = form("x")


@irdl_op_definition
class Transpose(HlOp):
    """Dimension i of y is dimension order[i] of x; `by` says who does it: slice or dma."""

    name = "torq_hl.transpose"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    order = prop_def(DenseArrayBase)
    by = opt_prop_def(StringAttr)
    assembly_format = form("x")
    DEFAULTS: ClassVar[dict[str, Any]] = {"by": "slice"}

    def verify_(self) -> None:
        """The shape that the order gives."""
        x, order = tensor_of(self.x).shape, self.field("order")
        require(sorted(order) == list(range(len(x))), f"{self.name}: order {order} of {x}")
        require(self.type.shape == tuple(x[i] for i in order), f"{self.name}: {self.type.shape}")


@irdl_op_definition
class Segment(HlOp):
    """y = x: PLANES taken apart into QUADRANTS."""

    name = "torq_hl.segment"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    assembly_format = form("x")

    def verify_(self) -> None:
        """From planes to quadrants of one shape."""
        x, y = tensor_of(self.x), self.type
        require(
            (x.layout, y.layout, x.shape) == (Layout.PLANES, Layout.QUADRANTS, y.shape),
            f"{self.name}: {x.shape} {x.layout.value} to {y.shape} {y.layout.value}",
        )


@irdl_op_definition
class Pad(HlOp):
    """y = x with `before` and `after` elements of `value` along each dimension."""

    name = "torq_hl.pad"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    before = prop_def(DenseArrayBase)
    after = prop_def(DenseArrayBase)
    fill = opt_prop_def(IntegerAttr)
    assembly_format = form("x")
    DEFAULTS: ClassVar[dict[str, Any]] = {"fill": 0}

    def verify_(self) -> None:
        """Sizes that add up."""
        around = zip(
            tensor_of(self.x).shape, self.field("before"), self.field("after"), strict=True
        )
        sizes = tuple(n + a + b for n, a, b in around)
        require(sizes == self.type.shape, f"{self.name}: {sizes} is not {self.type.shape}")


@irdl_op_definition
class Concat(HlOp):
    """The parts one behind the other along an axis."""

    name = "torq_hl.concat"
    parts = var_operand_def(TensorAttr)
    y = result_def(TensorAttr)
    axis = prop_def(IntegerAttr)
    assembly_format = form("parts")

    def verify_(self) -> None:
        """Sizes that add up."""
        axis, y = self.field("axis"), self.type
        total = sum(tensor_of(part).shape[axis] for part in self.parts)
        require(total == y.shape[axis], f"{self.name}: {total} along {axis} of {y.shape}")
        same = all(tensor_of(part).layout is y.layout for part in self.parts)
        require(same, f"{self.name}: parts of other layouts")


@irdl_op_definition
class Slice(HlOp):
    """y = elements of x from `starts` on, every `steps`-th."""

    name = "torq_hl.slice"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    starts = prop_def(DenseArrayBase)
    steps = opt_prop_def(DenseArrayBase)
    assembly_format = form("x")

    @property
    def steps_(self) -> tuple[int, ...]:
        """One per dimension."""
        return tuple(self.field("steps") or (1,) * len(self.type.shape))

    def verify_(self) -> None:
        """All elements are in x."""
        x, starts = tensor_of(self.x).shape, self.field("starts")
        every = zip(x, self.type.shape, starts, self.steps_, strict=True)
        inside = all(a >= 0 and a + (n - 1) * step < size for size, n, a, step in every)
        require(inside, f"{self.name}: {self.type.shape} from {starts} on of {x}")


@irdl_op_definition
class Broadcast(HlOp):
    """y = x repeated along the dimensions in which it has one step."""

    name = "torq_hl.broadcast"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    assembly_format = form("x")

    def verify_(self) -> None:
        """Dimensions of one step, or of as many as y has."""
        x, y = tensor_of(self.x).shape, self.type.shape
        fits = len(x) == len(y) and all(a in (1, b) for a, b in zip(x, y, strict=True))
        require(fits, f"{self.name}: {x} to {y}")


@irdl_op_definition
class Repeat(HlOp):
    """Each element of x so many times in a row along each dimension."""

    name = "torq_hl.repeat"
    x = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    factors = prop_def(DenseArrayBase)
    assembly_format = form("x")

    def verify_(self) -> None:
        """Sizes that multiply."""
        both = zip(tensor_of(self.x).shape, self.field("factors"), strict=True)
        sizes = tuple(n * factor for n, factor in both)
        require(sizes == self.type.shape, f"{self.name}: {sizes} is not {self.type.shape}")


@irdl_op_definition
class Gather(HlOp):
    """y (n, w, c) = rows of x (n, k, c) at indices (n, w)."""

    name = "torq_hl.gather"
    x = operand_def(TensorAttr)
    indices = operand_def(TensorAttr)
    y = result_def(TensorAttr)
    assembly_format = form("x", "indices")

    def verify_(self) -> None:
        """Shapes that belong together."""
        x, indices, y = (tensor_of(v).shape for v in (self.x, self.indices, self.y))
        fits = len(x) == 3 and len(indices) == 2 and x[0] == indices[0]
        require(fits and y == (*indices, x[2]), f"{self.name}: {x} at {indices} to {y}")


@irdl_op_definition
class Host(HlOp):
    """An operator of the model that the NPU does not do: the host runs it on XRAM."""

    name = "torq_hl.host"
    inputs = var_operand_def(TensorAttr)
    y = result_def(TensorAttr)
    operator = prop_def(StringAttr)
    given = opt_prop_def(DictionaryAttr)
    reason = opt_prop_def(StringAttr)
    assembly_format = form("inputs")

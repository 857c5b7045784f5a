"""Types of tensors and operators say what is in memory, and where."""

from __future__ import annotations

import pytest

from assay.compiler.torq.operators.moves import Concat
from assay.compiler.torq.operators.products import Convolution
from assay.compiler.torq.operators.quantisation import Rescale
from assay.compiler.torq.operators.tensors import Layout, Region, TensorType
from assay.compiler.torq.slice.lram import Lram


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32"])
def test_strides_are_those_of_tensors_in_lram(dtype: str) -> None:
    shape = (2, 3, 10, 14)
    lram = Lram(0, 1 << 19)
    rows = TensorType(dtype=dtype, shape=shape)
    planes = TensorType(dtype=dtype, shape=shape, layout=Layout.PLANES)
    quadrants = TensorType(dtype=dtype, shape=shape, layout=Layout.QUADRANTS)
    assert rows.strides == lram.tensor("x", dtype, shape).strides
    assert planes.strides == lram.planes("x", dtype, shape).strides
    before = lram.next
    assert quadrants.strides == lram.planes("x", dtype, quadrants.stored_shape).strides
    assert quadrants.bytes_ == lram.next - before


@pytest.mark.parametrize(
    ("dtype", "shape", "layout", "reason"),
    [
        ("int4", (1,), Layout.ROWS, "no type int4"),
        ("int8", (1, 0), Layout.ROWS, "has no elements"),
        ("int8", (3, 3), Layout.PLANES, "4 dimensions"),
        ("int8", (1, 1, 3, 4), Layout.QUADRANTS, "both must be even"),
    ],
)
def test_types_that_no_memory_holds_are_refused(
    dtype: str, shape: tuple[int, ...], layout: Layout, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        TensorType(dtype=dtype, shape=shape, layout=layout)


def test_regions_are_within_a_shape_or_not() -> None:
    whole = Region.whole((4, 6))
    assert whole.is_within((4, 6)) and whole.count == 24
    part = whole.along(1, 5, 1)
    assert part.stops == (4, 6) and part.is_within((4, 6)) and not part.is_within((4, 5))


def test_operands_are_what_is_read_and_no_constant() -> None:
    x = TensorType(dtype="int8", shape=(1, 2, 4, 4), layout=Layout.PLANES)
    weights = TensorType(dtype="int8", shape=(2, 2, 1, 1))
    convolution = Convolution(x=x, weights=weights, y=x, rescale=Rescale())
    assert convolution.operands == {"x": x} and set(convolution.tensors) == {"x", "y"}
    both = Concat(parts=(x, x), axis=1, y=TensorType(dtype="int8", shape=(1, 4, 4, 4)))
    assert set(both.operands) == {"x0", "x1"}

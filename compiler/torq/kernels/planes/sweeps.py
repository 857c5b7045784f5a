"""The windows and taps of convolutions, and what both kinds of them refuse alike."""

from __future__ import annotations

from ...operators.products import Convolution, DepthwiseConvolution
from ...operators.quantisation import FloatRange
from ...operators.tensors import Layout, Region
from ...slice.formats import is_float, product_lanes
from ...slice.kernel import Window
from ...slice.tensor import Tensor
from ..kernel import InputRegion, TileDim
from .taps import Quadrants, Rows
from .windows import Sweep

AnyConvolution = Convolution | DepthwiseConvolution
Taps = Rows | Quadrants
_MOST_QUADRANT_BYTES = 2


def sweep_of(op: AnyConvolution) -> Sweep:
    """The kernel's way over the plane."""
    kh, kw = op.weights.shape[-2:]
    return Sweep(
        kernel=(kh, kw),
        stride=op.stride,
        padding=op.padding,
        inputs=(op.x.shape[2], op.x.shape[3]),
        outputs=(op.y.shape[2], op.y.shape[3]),
        pad_value=op.input_zp,
    )


def taps_of(window: Window, x: Tensor) -> Taps:
    """The taps of a window over planes or quadrants."""
    if window.stride == 2:
        return Quadrants(window, x.element, x.strides[2])
    return Rows(window, x.element)


def sweep_refusal(op: AnyConvolution) -> str | None:
    """Why layouts, types or window do not fit the hardware, or None."""
    wanted = Layout.PLANES if op.stride == 1 else Layout.QUADRANTS
    if op.x.layout is not wanted:
        return f"stride {op.stride} of {op.x.layout.value}; {wanted.value} are needed"
    if op.y.layout is Layout.ROWS:
        return "y in rows; it is made in planes or quadrants"
    if op.y.layout is Layout.QUADRANTS and op.y.element > _MOST_QUADRANT_BYTES:
        return f"quadrants of {op.y.dtype}"
    if product_lanes(op.x.dtype, op.weights.dtype) is None:
        return f"no product of {op.x.dtype} and {op.weights.dtype}"
    floating = is_float(op.x.dtype)
    if floating != isinstance(op.rescale, FloatRange) or floating != is_float(op.y.dtype):
        return f"{op.x.dtype} to {op.y.dtype} with {type(op.rescale).__name__}"
    return sweep_of(op).refusal()


def rows_read(op: AnyConvolution, out: Region, channels: tuple[int, int]) -> InputRegion:
    """`channels` (first, count) of the rows that the window covers, and what is padding."""
    low, high, before, behind = sweep_of(op).rows(out.starts[2], out.sizes[2])
    first, count = channels
    return InputRegion(
        operand="x",
        region=Region(
            starts=(out.starts[0], first, low, 0),
            sizes=(out.sizes[0], count, high - low, op.x.shape[3]),
        ),
        before=(0, 0, before, op.padding.left),
        after=(0, 0, behind, op.padding.right),
    )


def plane_tiles(op: AnyConvolution, channels: int) -> tuple[TileDim, ...]:
    """Batches, channels, rows (of quadrants in pairs)."""
    rows = 2 if op.y.layout is Layout.QUADRANTS else 1
    return (
        TileDim(axis=0),
        TileDim(axis=1, best=channels),
        TileDim(axis=2, granularity=rows),
    )

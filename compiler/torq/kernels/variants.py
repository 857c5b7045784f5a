"""Which kernels there are for an operator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..operators.elementwise import Add, Clamp, Elementwise, Mul, Scale, Select, Table, Unary
from ..operators.moves import (
    Broadcast,
    Concat,
    Copy,
    Fill,
    Gather,
    Pad,
    Repeat,
    Segment,
    Slice,
    Transpose,
)
from ..operators.operator import Operator
from ..operators.products import Convolution, DepthwiseConvolution, FullyConnected, MatMul
from ..operators.reductions import Mean, Pool, Reduce
from ..operators.tensors import Region
from ..slice.errors import IllegalSliceProgram
from . import elementwise, unary
from .fully_connected import FullyConnectedKernel
from .kernel import Kernel
from .matmul import MatMulKernel
from .moving import moves
from .moving.fills import FillKernel, PadKernel
from .moving.gathering import GatherKernel
from .moving.segmentation import SegmentKernel
from .planes import convolution
from .planes.depthwise import DepthwiseKernel
from .planes.pooling import PlanesPoolKernel
from .pooling import MeanKernel, RowsPoolKernel
from .reductions import ReduceKernel
from .selection import SelectKernel, ShiftKernel
from .wide_products import WideMulKernel

_ROWS_AT_A_TIME = (1, 4, 8, 16)
KERNELS: Mapping[type[Operator], tuple[Kernel[Any], ...]] = {
    Convolution: tuple(convolution.ConvolutionKernel(group) for group in convolution.GROUPS),
    DepthwiseConvolution: (DepthwiseKernel(),),
    FullyConnected: (FullyConnectedKernel(),),
    MatMul: tuple(MatMulKernel(rows) for rows in _ROWS_AT_A_TIME),
    Add: (elementwise.AddKernel(),),
    Mul: (elementwise.MulKernel(), WideMulKernel()),
    Elementwise: (elementwise.CombineKernel(), ShiftKernel()),
    Select: (SelectKernel(),),
    Unary: (unary.UnaryKernel(),),
    Scale: (unary.ScaleKernel(),),
    Clamp: (unary.ClampKernel(),),
    Table: (unary.TableKernel(),),
    Pool: (RowsPoolKernel(), PlanesPoolKernel()),
    Mean: (MeanKernel(),),
    Reduce: (ReduceKernel(),),
    Copy: (moves.CopyKernel(),),
    Transpose: (moves.TransposeKernel(),),
    Slice: (moves.SliceKernelOf(),),
    Broadcast: (moves.BroadcastKernel(),),
    Repeat: (moves.RepeatKernel(),),
    Concat: (moves.ConcatKernel(),),
    Segment: (SegmentKernel(),),
    Pad: (PadKernel(),),
    Fill: (FillKernel(),),
    Gather: (GatherKernel(),),
}
"""By operator."""


@lru_cache(maxsize=256)
def variants(op: Operator) -> tuple[Kernel[Any], ...]:
    """The kernels that accept an operator, cheapest first."""
    accepted = [kernel for kernel in KERNELS.get(type(op), ()) if kernel.accepts(op) is None]
    if len(accepted) < 2:  # what one kernel costs does not matter
        return tuple(accepted)
    whole = Region.whole(op.y.shape)
    return tuple(sorted(accepted, key=lambda kernel: kernel.cost(op, whole)))


def refusal(op: Operator) -> str:
    """Why no kernel accepts an operator."""
    kernels = KERNELS.get(type(op), ())
    reasons = dict.fromkeys(f"{kernel.name}: {kernel.accepts(op)}" for kernel in kernels)
    return "; ".join(reasons) or f"there is no kernel for {type(op).__name__}"


def kernel_of(op: Operator) -> Kernel[Any]:
    """The cheapest kernel of an operator. Raises IllegalSliceProgram if there is none."""
    found = variants(op)
    if not found:
        raise IllegalSliceProgram("operator", refusal(op))
    return found[0]

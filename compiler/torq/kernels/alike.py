"""What kernels have in common that go over operands and result element by element."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..operators.operator import Operator
from ..operators.quantisation import Rescale
from ..operators.tensors import Layout, Region, TensorType
from ..slice.errors import IllegalSliceProgram
from ..slice.scaling import ChannelRun, bias_pairs, channel_runs
from .kernel import ConstantSpec, InputRegion, Kernel, TileDim

VECTOR_BYTES = 64
Op = TypeVar("Op", bound=Operator)
SCALE = ConstantSpec(name="scales", dtype="int32", shape=(1, 2))
"""One bias with its factor."""


class Alike(Kernel[Op]):
    """A kernel whose operands have the result's shape, or one step where it has more."""

    def tile_dims(self, op: Op) -> tuple[TileDim, ...]:
        """Any axis; of quadrants, rows and columns in pairs."""
        quadrants = op.y.layout is Layout.QUADRANTS
        return tuple(
            TileDim(axis=axis, granularity=2 if quadrants and axis >= 2 else 1)
            for axis in range(len(op.y.shape))
        )

    def input_regions(self, op: Op, out: Region) -> tuple[InputRegion, ...]:
        """The same elements."""
        return tuple(
            InputRegion(operand=name, region=_same(kind, out)) for name, kind in op.operands.items()
        )


def _same(kind: TensorType, out: Region) -> Region:
    region = out
    for axis, size in enumerate(kind.shape):
        if size == 1:
            region = region.along(axis, 0, 1)
    return region


def unlike(op: Operator, *, repeated: tuple[str, ...] = ()) -> str | None:
    """Why operands and result do not fit each other, or None.

    Those that are `repeated` may have one step along any axis but the last.
    """
    y = op.y
    for name, kind in op.operands.items():
        if kind.layout is not y.layout:
            return f"{name} in {kind.layout.value} to {y.layout.value}"
        if kind.shape == y.shape:
            continue
        pairs = list(zip(kind.shape, y.shape, strict=False))
        fits = len(kind.shape) == len(y.shape) and all(mine in (1, its) for mine, its in pairs)
        if name not in repeated or not fits or kind.shape[-1] != y.shape[-1]:
            return f"{name} of {kind.shape} to {y.shape}: they are not alike"
    return None


def single_scale(rescale: Rescale) -> ChannelRun:
    """The factor and shift of a scaling with one multiplier. Raises IllegalSliceProgram."""
    if len(rescale.multipliers) != 1:
        raise IllegalSliceProgram(
            "scaling", f"{len(rescale.multipliers)} multipliers; one is possible"
        )
    (run,) = channel_runs(rescale, 1)
    return run


def scale_refusal(rescale: Rescale) -> str | None:
    """Why a scaling is not one of a single factor and shift, or None."""
    try:
        single_scale(rescale)
    except IllegalSliceProgram as error:
        return str(error)
    return None


def packed_scale(rescale: Rescale, bias: int = 0) -> NDArray[np.generic]:
    """The constant SCALE."""
    return bias_pairs([bias], single_scale(rescale).factors)

"""Whole operators at once, for programs that are written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.hw.torq.words.commands import SliceTask

from ..operators.operator import Operator
from ..operators.tensors import Layout, Region, TensorType
from ..slice.errors import IllegalSliceProgram
from ..slice.lram import Lram
from ..slice.tensor import Tensor
from .kernel import Kernel, Values, part
from .variants import kernel_of


def kind(tensor: Tensor, layout: Layout = Layout.ROWS) -> TensorType:
    """The type of a tensor in LRAM."""
    shape = tensor.shape
    if layout is Layout.QUADRANTS:
        n, c, _, h, w = shape
        shape = n, c, 2 * h, 2 * w
    return TensorType(dtype=tensor.dtype, shape=shape, layout=layout)


def lower(
    lram: Lram,
    op: Operator,
    places: Mapping[str, Tensor],
    values: Values | None = None,
    *,
    kernel: Kernel[Any] | None = None,
    out: Region | None = None,
) -> list[SliceTask]:
    """The tasks of an operator, or of a region `out` of its result, whose operands and result are
    in LRAM as a whole; constants and scratch get places of their own.

    Raises IllegalSliceProgram.
    """
    chosen = kernel or kernel_of(op)
    if kernel is not None and kernel.accepts(op) is not None:
        raise IllegalSliceProgram("operator", f"{kernel.name}: {kernel.accepts(op)}")
    out = out or Region.whole(op.y.shape)
    y = places["y"]
    given = {"y": part(y, op.y, out)}
    for need in chosen.input_regions(op, out):
        own = op.tensors[need.operand]
        given[need.operand] = part(places[need.operand], own, need.region)
    for name, own in chosen.scratch(op, out).items():
        place = lram.tensor if own.layout is Layout.ROWS else lram.planes
        given[name] = place(f"{name} of {y.name}", own.dtype, own.stored_shape)
    packed = chosen.pack(op, out, values or {})
    for constant in chosen.constants(op, out):
        tensor = lram.constant(f"{constant.name} of {y.name}", packed[constant.name])
        given[constant.name] = replace(tensor, dtype=constant.dtype)
    return chosen.emit(op, out, given)

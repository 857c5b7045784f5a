"""Planes taken apart, blocks turned, memory filled, rows gathered."""

from __future__ import annotations

import math
from dataclasses import replace

from assay.hw.torq.notes import TaskNote
from assay.hw.torq.words.commands import Dim, Ndl, SliceTask

from ..slice.derive import ACT_WORDS
from ..slice.errors import IllegalSliceProgram
from ..slice.formats import LIMITS, is_float, limits
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT, PLAIN
from ..slice.lram import Lram
from ..slice.operands import of_loops
from ..slice.scaling import Rescale
from ..slice.tensor import Tensor, View
from .unary import rescale

_VECTOR_BYTES = 64
_BLOCK = 32
_CYCLES = 4
MOST_OFFSET = (1 << 15) - 1
ALL_LANES = 0xFFFF
ALL_ACTIVATIONS = 0xF


def segmentation(x: Tensor, output: Tensor) -> list[SliceTask]:
    """Tasks that take planes of x (n, c, h, w) apart into output (n, c, 4, h / 2, w / 2).

    The four are the even and odd rows and columns: EE, EO, OE, OO. Raises IllegalSliceProgram.
    """
    n, c, h, w = x.shape
    if h % 2 or w % 2 or output.shape != (n, c, 4, h // 2, w // 2):
        raise IllegalSliceProgram("plane", f"segmentation: {x.shape} to {output.shape}")
    x, output = x.bits, output.bits
    element, quadrant = x.element, output.strides[2]
    if element > 2:
        raise IllegalSliceProgram("formats", f"segmentation: {x.dtype} has more than 2 bytes")
    vector = _VECTOR_BYTES // element
    low, high = limits(x.dtype)
    stream = (
        Dim(count=element, stride=1, tag="B"),
        Dim(count=2, stride=quadrant, tag="X"),
        Dim(count=w // 2, stride=element, tag="X"),
        Dim(count=2, stride=2 * quadrant, tag="Y"),
        Dim(count=h // 2, stride=output.strides[3], tag="Y"),
    )
    k = SliceKernel("segmentation")
    with k.each(n) as i, k.each(c) as j, k.each(-(-h * w // vector), FLAT) as v:
        k.load_data(x[i, j].at(v * (vector * element)).with_block((vector, element)))
        k.combine("BOR")
        with k.each(vector // ACT_WORDS, FLAT):
            k.activate(width=ACT_WORDS, low=low, high=high)
            k.append(output[i, j], stream)
    return [k.task()]


def transpose_blocks(x: Tensor, output: Tensor) -> list[SliceTask]:
    """Tasks that turn the last two dimensions of an int8 tensor, 32x32 at a time.

    Both must be multiples of 32. Raises IllegalSliceProgram.
    """
    *outer, rows, columns = x.shape
    if x.element != 1 or rows % _BLOCK or columns % _BLOCK:
        raise IllegalSliceProgram("block", f"blocks of 32x32 bytes do not tile {x.shape}")
    if output.shape != (*outer, columns, rows):
        raise IllegalSliceProgram("shapes", f"transpose: {x.shape} to {output.shape}")
    pitch, out_pitch = x.strides[-2], output.strides[-2]
    words = replace(output, dtype="int32")
    low, high = LIMITS["int32"]
    k = SliceKernel("transpose")
    with (
        k.each(math.prod(outer)) as n,
        k.each(rows // _BLOCK) as i,
        k.each(columns // _BLOCK) as j,
    ):
        # A cycle takes rows 4 c to 4 c + 3 and the same 16 further down: then the four bytes that
        # it makes of each column lie in order, word after word.
        with k.each(_CYCLES) as cycle:
            down = i * (_BLOCK * pitch) + cycle * (4 * pitch)
            block = _start(x).at(n * (rows * pitch) + down + j * _BLOCK)
            shape = ((2, 16 * pitch), (2, 2 * pitch), (2, pitch), (_BLOCK, 1))
            k.load_data(block.with_block(*shape), parts=2, turn=True)
            k.combine("BYP")
        with k.each(ACT_WORDS) as pair:
            k.activate(width=ACT_WORDS, low=low, high=high)
            down = j * (_BLOCK * out_pitch) + pair * (2 * out_pitch)
            k.store(
                _start(words).at(n * (columns * out_pitch) + down + i * _BLOCK), split=out_pitch
            )
    return [k.task()]


def fill(output: Tensor, value: int) -> list[SliceTask]:
    """Tasks that write one value everywhere; neither ALU nor activation unit run.

    Raises IllegalSliceProgram.
    """
    if output.element > 2 or is_float(output.dtype):
        raise IllegalSliceProgram("formats", f"fill: {output.dtype} is no integer of 1 or 2 bytes")
    element = output.element
    vector = _VECTOR_BYTES // element
    whole, rest = divmod(math.prod(output.shape), vector)
    parts = [(0, whole, vector)] * (whole > 0)
    parts += [(whole * _VECTOR_BYTES, 1, rest)] * (rest > 0)
    return [_fill(output, start, count, width, value) for start, count, width in parts]


def _fill(output: Tensor, start: int, count: int, width: int, value: int) -> SliceTask:
    element = output.element
    write = Ndl(
        agent="DEQW",
        low=(
            Dim(count=element, stride=1, tag="B"),
            Dim(count=width, stride=element, tag="D"),
        ),
        high=(Dim(count=count, stride=_VECTOR_BYTES, tag=PLAIN),),
        base_address=output.address + start,
    )
    return SliceTask(
        ndls=(Ndl(agent="REF"), write),
        pad_value=value,
        alu_disable=ALL_LANES,
        act_disable=ALL_ACTIVATIONS,
        note=TaskNote(operation=f"fill of {output.name}", operands=(of_loops(write, output.name),)),
    )


def gather(lram: Lram, values: Tensor, indices: Tensor, output: Tensor) -> list[SliceTask]:
    """Tasks for output (w, c) = rows of values (k, c) at indices (w), int32.

    Raises IllegalSliceProgram.
    """
    values, output = values.bits, output.bits
    rows, columns = values.shape
    count = math.prod(indices.shape)
    row = columns * values.element
    if (rows - 1) * row > MOST_OFFSET:
        raise IllegalSliceProgram("gather", f"offsets up to {(rows - 1) * row}; 16 bits are there")
    offsets = lram.tensor(f"offsets of {output.name}", "int16", indices.shape)
    scaling = Rescale(multipliers=(row,), low=0, high=MOST_OFFSET)
    tasks = rescale(lram, indices, offsets, rescale=scaling)
    low, high = limits(values.dtype)
    vector = min(_VECTOR_BYTES // values.element, ACT_WORDS)
    k = SliceKernel("gather")
    with k.each(count) as w:
        k.load_indices(offsets[(0,) * len(indices.shape)].at(w * 2).with_block((1, 2)))
        with k.each(-(-columns // vector), FLAT) as v:
            block = _start(values).at(v * (vector * values.element))
            k.load_data(block.with_block((vector, values.element)))
            k.combine("BOR")
            k.activate(width=vector, low=low, high=high)
            k.append(output[w], columns)
    return [*tasks, k.task()]


def _start(tensor: Tensor) -> View:
    return tensor[(0,) * len(tensor.shape)]

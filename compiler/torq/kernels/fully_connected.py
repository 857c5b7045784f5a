"""Fully connected layers: weights are the data, the input gives one weight at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..operators.products import FullyConnected
from ..operators.quantisation import FloatRange
from ..operators.tensors import Layout, Region
from ..slice.derive import GROUP_BYTES
from ..slice.formats import is_float, product_lanes
from ..slice.kernel import SliceKernel, Sums
from ..slice.loops import FLAT
from ..slice.scaling import ChannelRun
from ..slice.tensor import dense
from .kernel import ConstantSpec, InputRegion, Kernel, Places, TileDim, Values
from .scales import bits_of_sums, packed_scales, runs, scale_shape, scaling_refusal

BIAS_BYTES = 32
"""Of biases that the activation unit takes at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Outputs that one task makes: `vectors` times `vector` of them, the last ones may be noise.

    `first` is the number of the first one, those that are noise included.
    """

    run: ChannelRun
    vector: int
    first: int

    @property
    def vectors(self) -> int:
        """Passes over the input."""
        return -(-self.run.count // self.vector)

    @property
    def outputs(self) -> int:
        """Outputs, noise included."""
        return self.vectors * self.vector


class FullyConnectedKernel(Kernel[FullyConnected]):
    """Any range of outputs; what does not fill a vector goes in shorter ones.

    With `inputs` (first, count) it sums over some of the inputs only: see `over_terms`.
    """

    def __init__(self, inputs: tuple[int, int] | None = None) -> None:
        self.some_terms = inputs
        self.name = self.stem
        if inputs is not None:
            self.name += f", {inputs[1]} inputs from {inputs[0]} on"

    @property
    def stem(self) -> str:
        """The kernel's name, whatever terms it sums."""
        return "fully connected"

    def terms(self, op: FullyConnected) -> tuple[int, int]:
        """The inputs, each one step."""
        return op.x.shape[1], 1

    def over_terms(
        self, op: FullyConnected, out: Region, first: int, count: int
    ) -> FullyConnectedKernel | None:
        """Of one row, and of outputs of one vector and shift."""
        parts = _parts(op, out)
        if out.sizes[0] > 1 or len(parts) > 1 or parts[0].vectors > 1:
            return None
        return FullyConnectedKernel((first, min(count, op.x.shape[1] - first)))

    def _inputs(self, op: FullyConnected) -> tuple[int, int]:
        return self.some_terms or (0, op.x.shape[1])

    def accepts(self, op: FullyConnected) -> str | None:
        """None, or why it cannot run the operator."""
        if op.x.layout is not Layout.ROWS or op.y.layout is not Layout.ROWS:
            return f"{op.x.layout.value} to {op.y.layout.value}; rows are needed"
        if not len(op.x.shape) == len(op.weights.shape) == len(op.y.shape) == 2:
            return f"{op.x.shape} with weights of {op.weights.shape} to {op.y.shape}"
        o, i = op.weights.shape
        if op.x.shape[1] != i or op.y.shape != (op.x.shape[0], o):
            return f"{op.x.shape} with weights of {op.weights.shape} to {op.y.shape}"
        if product_lanes(op.weights.dtype, op.x.dtype) is None:
            return f"no product of {op.weights.dtype} and {op.x.dtype}"
        floating = is_float(op.x.dtype)
        if floating != isinstance(op.rescale, FloatRange) or floating != is_float(op.y.dtype):
            return f"{op.x.dtype} to {op.y.dtype} with {type(op.rescale).__name__}"
        return scaling_refusal(op.rescale, o, bits_of_sums(op.x.dtype, op.sum_bits))

    def tile_dims(self, op: FullyConnected) -> tuple[TileDim, ...]:
        """Rows, outputs."""
        return (TileDim(axis=0), TileDim(axis=1, best=_vectors(op)[0]))

    def input_regions(self, op: FullyConnected, out: Region) -> tuple[InputRegion, ...]:
        """The inputs of the same rows."""
        first, count = self._inputs(op)
        region = Region(starts=(out.starts[0], first), sizes=(out.sizes[0], count))
        return (InputRegion(operand="x", region=region),)

    def constants(self, op: FullyConnected, out: Region) -> tuple[ConstantSpec, ...]:
        """Weights (o / vector)I(vector), and a bias with its factor per output."""
        last = _parts(op, out)[-1]
        outputs = last.first + last.outputs
        return (
            ConstantSpec(
                name="weights", dtype=op.weights.dtype, shape=(outputs * self._inputs(op)[1],)
            ),
            scale_shape(op.rescale, outputs),
        )

    def pack(
        self, op: FullyConnected, out: Region, values: Values
    ) -> dict[str, NDArray[np.generic]]:
        """From "weights" (o, i) and "bias" (o,) of all outputs."""
        first, count = self._inputs(op)
        chosen = slice(out.starts[1], out.stops[1])
        weights, bias = values["weights"][chosen], values["bias"][chosen]
        parts = _parts(op, out)
        found = [part.run for part in parts]
        scales = packed_scales(op.rescale, bias, weights, op.input_zp, found)
        columns, filled = [], []
        for part in parts:
            own = slice(part.run.first, part.run.first + part.run.count)
            grouped = _filled(weights[own][:, first : first + count], part.outputs)
            grouped = grouped.reshape(part.vectors, part.vector, count)
            columns.append(grouped.transpose(0, 2, 1).ravel())
            filled.append(_filled(scales[own], part.outputs))
        return {"weights": np.concatenate(columns), "scales": np.concatenate(filled)}

    def nests(self, op: FullyConnected, out: Region, places: Places) -> Sequence[SliceKernel]:
        """One for each part."""
        first, count = self._inputs(op)
        sums = Sums(added=first > 0, kept=first + count < op.x.shape[1])
        return [_nest(op, out, places, part, sums) for part in _parts(op, out)]


def _vectors(op: FullyConnected) -> list[int]:
    """How many outputs may be made at a time, most first."""
    lanes = product_lanes(op.weights.dtype, op.x.dtype)
    assert lanes is not None
    unit = op.weights.element * lanes.data_repeats
    least = BIAS_BYTES // (4 if is_float(op.x.dtype) else 8)
    return [size // unit for size in reversed(GROUP_BYTES) if size // unit >= least]


def _parts(op: FullyConnected, out: Region) -> list[Part]:
    """What one shift scales, in whole vectors, and what is left in the shortest that holds it."""
    parts: list[Part] = []
    first = 0
    vectors = _vectors(op)
    sum_bits = bits_of_sums(op.x.dtype, op.sum_bits)
    for run in runs(op.rescale, out.starts[1], out.sizes[1], sum_bits):
        whole = run.count // vectors[0] * vectors[0]
        enough = [vector for vector in vectors if vector >= run.count - whole]
        if enough[-1] == vectors[0]:
            whole = run.count
        for start, end, vector in ((0, whole, vectors[0]), (whole, run.count, enough[-1])):
            if start == end:
                continue
            part = Part(run=run.part(start, end), vector=vector, first=first)
            parts.append(part)
            first += part.outputs
    return parts


def _nest(op: FullyConnected, out: Region, places: Places, part: Part, sums: Sums) -> SliceKernel:
    x, y, scales = places["x"], places["y"], places["scales"]
    weights = places["weights"]
    packed = dense(
        weights.name,
        weights.address + part.first * x.shape[1] * weights.element,
        weights.dtype,
        (part.vectors, x.shape[1], part.vector),
    )
    unit = scales.strides[0]
    width = BIAS_BYTES // unit
    k = SliceKernel("fully_connected", sums=sums)
    with k.each(out.sizes[0]) as n, k.each(part.vectors, FLAT) as v:
        with k.each(x.shape[1]) as i:
            k.load_weights(x[n, i])
            k.load_data(packed[v, i])
            k.multiply()
        with k.each(part.vector // width, FLAT) as q:
            place = v * (part.vector * unit) + q * (width * unit) + part.first * unit
            start = scales[(0,) * len(scales.shape)]
            k.load_bias(start.at(place).with_block((BIAS_BYTES // 4, 4)))
            if isinstance(op.rescale, FloatRange):
                k.activate_float(width=width, limits=op.rescale)
            else:
                k.activate_scaled(width=width, scaling=op.rescale, shift=part.run.shift)
            k.append(y[n, part.run.first], part.run.count)
    return k


def _filled(rows: NDArray[np.generic], count: int) -> NDArray[np.generic]:
    """`rows` with rows of zeros behind them."""
    padded = np.zeros((count, *rows.shape[1:]), rows.dtype)
    padded[: len(rows)] = rows
    return padded

"""What convolutions and depthwise ones have in common behind the ALU: groups of sums of channels
are scaled and written behind the last ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...operators.quantisation import FloatRange
from ...operators.tensors import Region
from ...slice.derive import ACT_WORDS
from ...slice.formats import Lanes, product_lanes
from ...slice.kernel import SliceKernel
from ...slice.loops import FLAT, Index, Loop
from ...slice.scaling import ChannelRun
from ..kernel import Places
from ..scales import bits_of_sums, runs
from .sweeps import AnyConvolution
from .target import Target

LANE_BYTES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Output channels that one task makes.

    Attributes:
        run: their first one, counted from the region's, their factors and common shift.
        group: channels per pass.
        weights: the first of its weights in the packed constant.
    """

    run: ChannelRun
    group: int
    weights: int

    @property
    def groups(self) -> int:
        """Passes."""
        return -(-self.run.count // self.group)


def parts_of(
    op: AnyConvolution, out: Region, group: int, rests: Sequence[int], each: int
) -> list[Part]:
    """The channels of a region by what can be scaled with one shift, in whole groups, and what is
    left of them in groups of the least of `rests` that is enough, or of the largest.

    `each`: weights of an output channel.
    """
    parts: list[Part] = []
    place = 0
    found = runs(op.rescale, out.starts[1], out.sizes[1], bits_of_sums(op.x.dtype, op.sum_bits))
    for run in found:
        whole = run.count // group * group
        for start, end in ((0, whole), (whole, run.count)):
            if start == end:
                continue
            enough = [rest for rest in rests if rest >= end - start] or [rests[-1]]
            part = Part(
                run=run.part(start, end), group=group if end == whole else enough[0], weights=place
            )
            parts.append(part)
            place += part.groups * part.group * each
    return parts


@dataclass(frozen=True, slots=True)
class ProductLanes:
    """How many pixels, and how many results at a time, a product of two types has."""

    lanes: Lanes

    def vector(self, group: int) -> int:
        """Pixels that meet the weights of a group of channels."""
        return LANE_BYTES // self.lanes.partials // group

    @property
    def width(self) -> int:
        """Results that the activation unit takes at a time."""
        return ACT_WORDS // self.lanes.partials


def lanes_of(data: str, weights: str) -> ProductLanes:
    """The lanes of a product that `accepts` has found possible."""
    lanes = product_lanes(data, weights)
    assert lanes is not None
    return ProductLanes(lanes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A group of sums: batch, group of channels, bytes to the band of y, pixels per channel."""

    n: Loop
    group: Loop
    there: Index
    pixels: int


def finish(
    k: SliceKernel, op: AnyConvolution, part: Part, places: Places, target: Target, block: Block
) -> None:
    """Scale the sums of a group of output channels and write them behind the last ones."""
    lanes = lanes_of(op.x.dtype, op.weights.dtype)
    scales = places["scales"]
    with k.each(min(part.group, part.run.count)) as o:
        channel = block.group * part.group + o + part.run.first
        k.load_bias(scales[channel])
        with k.each(block.pixels // lanes.width, FLAT):
            if isinstance(op.rescale, FloatRange):
                k.activate_float(width=lanes.width, limits=op.rescale)
            else:
                k.activate_scaled(width=lanes.width, scaling=op.rescale, shift=part.run.shift)
            k.append(target.y[block.n, channel].at(block.there), target.stream())

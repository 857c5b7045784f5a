"""Convolutions of rows, `conv1d_mpp`: products of one tap's weights each, over a batch of two.

No source of them is public: launches follow from what the kernels do. Rows of positions (`ncl`)
come with a padded copy of their start, `head`. Rows of channels (`nlc`) have stride and no padding,
and taps that lie together are one product, of weights in another order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from assay.launches.inputs import Exact, Setup

from .run import TYPES, Array, TensorRun, ceil_div, drawn

_NAME = re.compile(
    r"conv1d_mpp_(?P<given>ncl|nlc)_(?P<made>ncl|nlc)_b(?P<tile>\d+)_s(?P<simdgroups>\d)_(?P<of>\w+)"
)
_BATCH = 2
_CHANNELS = 5  # of a group
_POSITIONS = 64  # of a tile
_REST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Sizes of a convolution."""

    groups: int
    results: int  # channels of the output, in a group
    taps: int = 3
    stride: int = 1
    dilation: int = 1
    padding: int = 0
    left: int = _POSITIONS + _REST

    @property
    def given(self) -> int:
        """Positions of the input."""
        reach = (self.left - 1) * self.stride + (self.taps - 1) * self.dilation + 1
        return reach - 2 * self.padding

    @property
    def is_together(self) -> bool:
        """Whether rows of channels make all taps one product."""
        return self.dilation == 1 and self.groups == 1


def run_of(kernel: str) -> TensorRun | None:
    """Two rows, with tiles of which the last are cut."""
    found = _NAME.fullmatch(kernel)
    if found is None:
        return None
    of, tile, channels_last = found["of"], int(found["tile"]), found["given"] == "nlc"
    if not channels_last:
        row = Row(groups=2, results=tile + _REST, dilation=2, padding=_REST)
    elif found["made"] == "nlc":
        row = Row(groups=1, results=tile + _REST, stride=2)
    else:
        row = Row(groups=2, results=tile + _REST, stride=2, dilation=2)
    act = drawn(f"{kernel}.input", of, _BATCH, row.groups * _CHANNELS, row.given)
    weights = drawn(f"{kernel}.weight", of, row.taps, row.groups * row.results, _CHANNELS)
    bias = drawn(f"{kernel}.bias", of, row.groups * row.results)
    expected = convolved(row, act.astype(np.float64), weights.astype(np.float64))
    expected += bias.astype(np.float64)[:, None]
    if found["made"] == "nlc":
        expected = expected.swapaxes(1, 2)
    together = channels_last and row.is_together
    setup = Setup(
        threadgroups=(
            row.groups * ceil_div(row.results, tile),
            ceil_div(row.left, _POSITIONS),
            _BATCH,
        ),
        threadgroup=(32 * int(found["simdgroups"]), 1, 1),
        arguments={
            "input": Exact(
                array=np.ascontiguousarray(act.swapaxes(1, 2) if channels_last else act)
            ),
            "weight": Exact(
                array=np.ascontiguousarray(weights.swapaxes(0, 1) if together else weights)
            ),
            "output": Exact(array=np.zeros(expected.shape, TYPES[of])),
            "p": Exact(array=_params(row)),
            "bias": Exact(array=bias),
            "head": Exact(array=_head(row, act)),
        },
    )
    return TensorRun(
        setup=setup,
        result="output",
        expected=expected,
        sizes=f"{row.given}x{act.shape[1]} to {row.left}x{len(bias)}, {row.groups} groups",
    )


def convolved(row: Row, act: Array, weights: Array) -> Array:
    """Channels and positions of the output for each of the batch; `weights` have taps first."""
    padded = np.pad(act, [(0, 0), (0, 0), (row.padding, row.padding)])
    found = np.zeros((len(act), row.groups * row.results, row.left))
    for group in range(row.groups):
        ins = slice(group * _CHANNELS, (group + 1) * _CHANNELS)
        outs = slice(group * row.results, (group + 1) * row.results)
        for tap in range(row.taps):
            first = tap * row.dilation
            taken = padded[:, ins, first : first + row.stride * (row.left - 1) + 1 : row.stride]
            found[:, outs] += weights[tap, outs] @ taken
    return found


def _head(row: Row, act: Array) -> Array:
    """What tiles that begin in the padding read."""
    tiles = ceil_div(row.padding, _POSITIONS) * _POSITIONS
    length = min(row.given + row.padding, tiles + (row.taps - 1) * row.dilation)
    return np.ascontiguousarray(np.pad(act, [(0, 0), (0, 0), (row.padding, 0)])[..., :length])


def _params(row: Row) -> Array:
    """`Conv2DParams`, of planes with one row."""
    sizes = [_BATCH, row.groups * _CHANNELS, row.groups * row.results, 1, row.given, 1, row.left]
    steps = [1, row.taps, 1, row.stride, 0, row.padding, 1, row.dilation]
    has_bias = 1
    return np.array([*sizes, *steps, _CHANNELS, row.results, has_bias], np.int32)

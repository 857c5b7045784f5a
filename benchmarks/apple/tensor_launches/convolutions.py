"""Convolutions of volumes, `conv3d_mpp`: one of planes for each step of the filter's depth."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

import numpy as np

from assay.launches.inputs import Exact, Setup

from .run import TYPES, Array, TensorRun, ceil_div, drawn

_NAME = re.compile(
    r"conv3d_mpp_(?P<of>[a-z]+)_b(?P<bo>\d+)_w(?P<bw>\d+)_h(?P<bh>\d+)_s(?P<simdgroups>\d+)"
    r"_k(?P<kernel>\d{3})_s(?P<stride>\d{3})_d(?P<dilation>\d{3})_c(?P<channels>\d+|dyn)"
    r"_(?P<bias>no)?bias_ncdhw_(?P<un>un)?grouped"
)
_CHANNELS = 5  # where a name leaves them open
_GROUPS = 2
_REST = 3
Three = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """Sizes of a convolution: depth, height, width of each."""

    kernel: Three
    stride: Three
    dilation: Three
    given: Three
    padding: Three
    groups: int
    channels: int  # of the input, in a group
    results: int  # channels of the output, in a group

    @property
    def left(self) -> Three:
        """Of the output."""
        d, h, w = (
            (given + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
            for given, pad, dilation, kernel, stride in zip(
                self.given, self.padding, self.dilation, self.kernel, self.stride, strict=True
            )
        )
        return d, h, w


def run_of(kernel: str) -> TensorRun | None:
    """One volume with tiles of which the last are cut, with padding."""
    found = _NAME.fullmatch(kernel)
    if found is None:
        return None
    of, (bo, bw, bh) = found["of"], (int(found[each]) for each in ("bo", "bw", "bh"))
    size, stride, dilation = (_three(found[each]) for each in ("kernel", "stride", "dilation"))
    volume = Volume(
        kernel=size,
        stride=stride,
        dilation=dilation,
        given=(size[0] + 1, (bh + 1) * stride[1], (bw + 1) * stride[2]),
        padding=(size[0] // 2, size[1] // 2, size[2] // 2),
        groups=1 if found["un"] else _GROUPS,
        channels=_CHANNELS if found["channels"] == "dyn" else int(found["channels"]),
        results=bo + _REST if found["un"] else _REST,
    )
    act = drawn(f"{kernel}.act", of, *volume.given, volume.groups * volume.channels)
    weights = drawn(f"{kernel}.wts", of, *size, volume.channels, volume.groups * volume.results)
    bias = drawn(f"{kernel}.bias", of, volume.groups * volume.results)
    depth, height, width = volume.left
    expected = convolved(volume, act.astype(np.float64), weights.astype(np.float64))
    if not found["bias"]:
        expected += bias.astype(np.float64)[:, None, None, None]
    setup = Setup(
        threadgroups=(
            ceil_div(volume.results, bo) * volume.groups,
            ceil_div(width, bw),
            ceil_div(height, bh) * depth,
        ),
        threadgroup=(32 * int(found["simdgroups"]), 1, 1),
        arguments={
            "act": Exact(array=act),
            "wts": Exact(array=weights),
            "dst": Exact(array=np.zeros(expected.shape, TYPES[of])),
            "gP": Exact(array=_params(volume, has_bias=not found["bias"])),
            "bias": Exact(array=bias),
        },
    )
    return TensorRun(
        setup=setup,
        result="dst",
        expected=expected,
        sizes=f"{'x'.join(map(str, volume.given))}x{act.shape[-1]} to {expected.shape[0]} channels",
    )


def convolved(volume: Volume, act: Array, weights: Array) -> Array:
    """Channels, depth, height and width of the output; `act` has its channels last."""
    pads = [(each, each) for each in volume.padding]
    padded = np.pad(act, [*pads, (0, 0)])
    depth, height, width = volume.left
    found = np.zeros((volume.groups * volume.results, depth, height, width))
    for group in range(volume.groups):
        ins = slice(group * volume.channels, (group + 1) * volume.channels)
        outs = slice(group * volume.results, (group + 1) * volume.results)
        for at in itertools.product(*map(range, volume.kernel)):
            spans = tuple(
                slice(k * d, k * d + s * (left - 1) + 1, s)
                for k, d, s, left in zip(
                    at, volume.dilation, volume.stride, volume.left, strict=True
                )
            )
            taken = padded[(*spans, ins)]
            found[outs] += np.einsum("dhwi,io->odhw", taken, weights[at][:, outs])
    return found


def _params(volume: Volume, *, has_bias: bool) -> Array:
    """`Conv3DParams`."""
    channels, results = volume.channels, volume.results
    both = [volume.groups * channels, volume.groups * results]
    sizes = [1, *both, *volume.given[1:], *volume.left[1:]]
    steps = (volume.kernel, volume.stride, volume.padding, volume.dilation)
    plane = [each for step in steps for each in step[1:]]
    deep = [volume.given[0], volume.left[0], *(step[0] for step in steps)]
    is_channels_first = 1
    words = [*sizes, *plane, channels, results, int(has_bias), *deep, is_channels_first]
    return np.array(words, np.int32)


def _three(digits: str) -> Three:
    first, second, third = map(int, digits)
    return first, second, third

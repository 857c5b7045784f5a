"""Convolutions, tiled, for each channel and Winograd's, and what unfolds images."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from assay.launches.inputs import Exact, Given, Setup

from .values import ints, random, struct, tiles, zeros

_TILED = re.compile(
    r"implicit_gemm_conv_(?P<axes>[23])d_(?P<general>general_)?(?P<of>[a-z]+\d+)"
    r"_bm(?P<bm>\d+)_bn(?P<bn>\d+)_bk(?P<bk>\d+)_wm(?P<wm>\d+)_wn(?P<wn>\d+)"
    r"(?:_channel_(?P<channels>\w))?(?:_filter_(?P<filter>\w))?"
)
_UNFOLDED = re.compile(r"naive_unfold_(?P<transposed>transpose_)?nd_(?P<of>[a-z]+\d+)_(?P<axes>\d)")
_DEPTHWISE = re.compile(r"depthwise_conv_2d_(?P<of>[a-z]+\d+)")
_WINOGRAD = re.compile(
    r"winograd_conv_2d_(?P<which>input|output)_transform_(?P<of>[a-z]+\d+)_b[co](?P<block>\d+)"
)
_ALIGNED = 200
_LARGE_FILTER = 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A convolution's sizes. Channels lie innermost; filters have no holes, images no borders."""

    batch: int
    channels: int
    outputs: int
    image: tuple[int, ...]
    filter: tuple[int, ...]
    pad: int = 1
    step: int = 1
    groups: int = 1

    @property
    def result(self) -> tuple[int, ...]:
        """Pixels of the result."""
        pairs = zip(self.image, self.filter, strict=True)
        return tuple((i + 2 * self.pad - f) // self.step + 1 for i, f in pairs)

    def params(self) -> Exact:
        """`MLXConvParams`."""
        axes = len(self.image)
        alike = ((self.step,) * axes, (self.pad,) * axes, (1,) * axes, (1,) * axes)
        return struct(
            *(("i", each) for each in (self.batch, self.channels, self.outputs)),
            *(("i", each) for each in (self.image, self.filter, self.result, *alike)),
            ("l", packed(self.image, self.channels)),
            ("l", packed(self.filter, self.channels // self.groups)),
            ("l", packed(self.result, self.outputs)),
            ("i", self.groups),
            ("?", False),
        )

    def arrays(self, kernel: str, of: str, names: str) -> dict[str, Given]:
        """The image, the filters and room for the result, by these names."""
        each = self.channels // self.groups
        given, weights, result = names.split()
        return {
            given: random(
                f"{kernel}.image", of, self.batch * math.prod(self.image) * self.channels
            ),
            weights: random(f"{kernel}.filters", of, self.outputs * math.prod(self.filter) * each),
            result: zeros(of, self.batch * math.prod(self.result) * self.outputs),
        }


def packed(sizes: tuple[int, ...], channels: int) -> tuple[int, ...]:
    """Strides of an array of images, channels innermost."""
    found = [1]
    for size in (channels, *reversed(sizes)):
        found.append(found[-1] * size)
    return tuple(reversed(found))


def convolution(kernel: str) -> Setup | None:
    """The launch of a convolution; None for another kernel."""
    for pattern, launch in (
        (_TILED, _tiled),
        (_UNFOLDED, _unfolded),
        (_DEPTHWISE, _depthwise),
        (_WINOGRAD, _winograd),
    ):
        found = pattern.fullmatch(kernel)
        if found:
            return launch(kernel, found)
    return None


def _tiled(kernel: str, found: re.Match[str]) -> Setup:
    axes, is_general = int(found["axes"]), bool(found["general"])
    bm, bn, bk = (int(found[each]) for each in ("bm", "bn", "bk"))
    few = found["channels"] or "l"
    # But for the general one they check no channel: MLX's host takes those that fill their tiles.
    rest = 4 if is_general else 0
    channels = int(few) if few.isdigit() else bk + (rest or bk)
    size = (3,) * axes
    if found["filter"] == "l" and not few.isdigit():
        size = (1,) * (axes - 1) + (_LARGE_FILTER,)
    image = Image(
        batch=1,
        channels=channels,
        outputs=bn + (rest or bn),
        image=(5,) * (axes - 2) + (6, 9 if size[-1] == size[0] else 21),
        filter=size,
    )
    m, pixels = math.prod(image.result), math.prod(image.filter)
    blocks = tiles(channels, bk)
    iterations = blocks if is_general else pixels * blocks
    if few.isdigit():
        taken = channels if channels <= 2 else 4
        iterations = tiles(pixels * taken, bk)
    strides = packed(image.image, channels)[1:]
    return Setup(
        threadgroups=(tiles(image.outputs, bn), tiles(m, bm), 1),
        threadgroup=(32, int(found["wn"]), int(found["wm"])),
        arguments={
            **image.arrays(kernel, found["of"], "A B C"),
            "params": image.params(),
            "gemm_params": struct(
                *(("i", each) for each in (m, image.outputs, pixels * channels, iterations)),
                *(("i", each) for each in _jumps(image.filter, strides, bk)),
                *(("i", each) for each in (tiles(image.outputs, bn), tiles(m, bm), 0)),
            ),
            **(_general(image) if is_general else {}),
        },
        constants={_ALIGNED: False} if is_general else {},
    )


def _jumps(sizes: tuple[int, ...], strides: tuple[int, ...], bk: int) -> list[int]:
    """What leads from a filter's last pixel in each axis to the next, and to the next channels."""
    found = [strides[len(sizes) - 1]]
    back = 0
    for axis in range(len(sizes) - 1, 0, -1):
        back += (sizes[axis] - 1) * strides[axis]
        found.append(strides[axis - 1] - back)
    return [*found, bk - back - (sizes[0] - 1) * strides[0]]


def _general(image: Image) -> dict[str, Given]:
    """Without holes, each axis has one kind of pixels, which take the whole filter."""
    height, width = image.result
    jumps = (1, 1, 1, 1, height, width, height * width, image.batch * height * width)
    return {
        "jump_params": struct(*(("i", each) for each in jumps)),
        "base_h": ints(0, image.filter[0]),
        "base_w": ints(0, image.filter[1]),
    }


def _unfolded(kernel: str, found: re.Match[str]) -> Setup:
    axes = int(found["axes"])
    image = Image(batch=2, channels=5, outputs=4, image=(4,) * axes, filter=(3,) * axes)
    pixels, taken = 2 * math.prod(image.result), math.prod(image.filter)
    arrays = image.arrays(kernel, found["of"], "in weights out")
    arrays.pop("weights")
    return Setup(
        threads=(image.channels, taken, pixels),
        threadgroup=(image.channels, 3, 2),
        arguments={
            **arrays,
            "out": zeros(found["of"], pixels * taken * image.channels),
            "params": image.params(),
            "row_offset": ints(0),
        },
    )


def _depthwise(kernel: str, found: re.Match[str]) -> Setup:
    image = Image(batch=2, channels=16, outputs=16, image=(7, 10), filter=(3, 3), groups=16)
    height, width = image.result
    return Setup(
        threadgroups=(2, tiles(width, 8), tiles(height, 4) * 2),
        threadgroup=(8, 8, 4),
        arguments={
            **image.arrays(kernel, found["of"], "in wt out"),
            "params": image.params(),
        },
        constants={0: 3, 1: 3, 10: 1, 11: 1, 100: 4, 101: 8, 200: False},
    )


def _winograd(kernel: str, found: re.Match[str]) -> Setup:
    """Two rows of three tiles of 6 x 6 pixels of the result; the image has its borders."""
    across, down, batch, channels = 3, 2, 2, 2 * int(found["block"])
    image = Image(
        batch=batch,
        channels=channels,
        outputs=channels,
        image=(6 * down + 2, 6 * across + 2),
        filter=(3, 3),
        pad=0,
    )
    transformed = 8 * 8 * across * down * batch * channels
    names = ("inp_in", "inp_out") if found["which"] == "input" else ("out_in", "out_out")
    arrays = image.arrays(kernel, found["of"], "image filters result")
    given = (
        (arrays["image"], zeros(found["of"], transformed))
        if found["which"] == "input"
        else (random(f"{kernel}.tiles", found["of"], transformed), arrays["result"])
    )
    return Setup(
        threadgroups=(across, down, batch),
        threadgroup=(32, 2, 2),
        arguments={**dict(zip(names, given, strict=True)), "params": image.params()},
    )

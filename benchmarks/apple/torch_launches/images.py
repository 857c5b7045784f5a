"""Windows of images and their gradients, and images made larger."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from assay.launches.inputs import Given, Setup

from ..launches.values import ints, longs
from .values import TYPE_OF, Array, Launch, drawn, exact, flag, launch, room, words

_WINDOWS = re.compile(r"im2col_(?P<of>bool|float2?|half2?|bfloat)")
_FOLDED = re.compile(r"unfold_backward_(?P<of>float|half|bfloat)")
_LARGER = re.compile(r"upsample_bicubic2d(?P<back>_backward)?_(?P<of>float|half|bfloat)")
_BATCH, _CHANNELS = 2, 3


def images(kernel: str) -> Sequence[Launch]:
    """The launches of such a kernel; none of another."""
    if found := _WINDOWS.fullmatch(kernel):
        return [_windows(kernel, found["of"])]
    if found := _FOLDED.fullmatch(kernel):
        return [_folded(kernel, found["of"], size, step) for size, step in ((4, 2), (3, 5))]
    if found := _LARGER.fullmatch(kernel):
        larger = _smaller if found["back"] else _larger
        return [larger(kernel, found["of"], aligned) for aligned in (False, True)]
    return []


def _steps(*shape: int) -> tuple[int, ...]:
    """Elements from one to the next of each axis of a packed array."""
    return tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))


def _windows(kernel: str, of: str) -> Launch:
    height, width = 9, 13
    filter_, dilation, pad, stride = (3, 2), (2, 1), (1, 2), (1, 2)  # across, down
    sizes = (width, height)
    across, down = (
        (sizes[n] + 2 * pad[n] - dilation[n] * (filter_[n] - 1) - 1) // stride[n] + 1
        for n in range(2)
    )
    length, rows = across * down, _CHANNELS * filter_[0] * filter_[1]
    plain, parts = of.rstrip("2"), 2 if of.endswith("2") else 1
    count = _BATCH * _CHANNELS * height * width
    arguments: dict[str, Given] = {
        "inputData": exact(drawn(f"{kernel}.inputData", plain, parts * count)),
        "outputData": room(plain, parts * _BATCH * rows * length),
        "kernel_dilation": words(*filter_, *dilation),
        "padding_stride": ints(*pad, *stride),
        "input_strides": longs(*reversed(_steps(_BATCH, _CHANNELS, height, width))),
        "output_strides": longs(*reversed(_steps(_BATCH, rows, length)), across),
        "input_sizes": longs(width, height, _CHANNELS, _BATCH),
    }
    setup = Setup(threads=(length, _CHANNELS, _BATCH), threadgroup=(64, 1, 1), arguments=arguments)
    return Launch(setup=setup)


def _folded(kernel: str, of: str, size: int, step: int) -> Launch:
    """Gradients of an array's windows along its middle axis."""
    planes, length, inner = 4, 15, 3
    windows = (length - size) // step + 1
    count = planes * length * inner
    arguments: dict[str, Given] = {
        "grad_in": exact(drawn(f"{kernel}.grad_in", of, planes * windows * inner * size)),
        "grad_out": room(of, count),
        "input_strides": longs(*_steps(planes, windows, inner, size)),
        "output_sizes": longs(planes, length, inner),
        "output_strides": longs(*_steps(planes, length, inner)),
        "dim_size_step_ndim": words(1, size, step, 3),
    }
    return launch(count, arguments)


_SMALL, _LARGE = (5, 7), (8, 11)  # down, across


def _sizes(aligned: bool) -> dict[str, Given]:
    """What both directions are given of the two images."""
    scales = [
        (small - 1) / (large - 1) if aligned else small / large
        for small, large in zip(reversed(_SMALL), reversed(_LARGE), strict=True)
    ]
    return {
        "input_strides": longs(*reversed(_steps(_BATCH, _CHANNELS, *_SMALL))),
        "output_strides": longs(*reversed(_steps(_BATCH, _CHANNELS, *_LARGE))),
        "input_sizes": longs(*reversed(_SMALL), _CHANNELS, _BATCH),
        "output_sizes": longs(*reversed(_LARGE), _CHANNELS, _BATCH),
        "scales": exact(np.array(scales, np.float32)),
        "align_corners": flag(aligned),
    }


def _image(name: str, of: str, size: tuple[int, int]) -> Array:
    return drawn(name, of, _BATCH, _CHANNELS, *size)


def _larger(kernel: str, of: str, aligned: bool) -> Launch:
    arguments: dict[str, Given] = {
        "inputData": exact(_image(f"{kernel}.inputData", of, _SMALL)),
        "outputData": room(of, _image(kernel, of, _LARGE).size),
        **_sizes(aligned),
    }
    return launch(_LARGE[0] * _LARGE[1], arguments)


def _smaller(kernel: str, of: str, aligned: bool) -> Launch:
    """The gradient of the small image, to which threads add at once."""
    nothing = np.zeros((_BATCH, _CHANNELS, *_SMALL), TYPE_OF[of])
    arguments: dict[str, Given] = {
        "gradInputData": exact(nothing),
        "gradOutputData": exact(_image(f"{kernel}.gradOutputData", of, _LARGE)),
        **_sizes(aligned),
    }
    return launch(_LARGE[0] * _LARGE[1], arguments)

"""Products of matrices: plain ones, and those by weights of 4 and of 8 bits."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from assay.launches.inputs import Given, Raw, Setup

from ..launches.values import longs, tiles
from .values import Launch, drawn, exact, launch, room, words

_REAL = r"(?P<of>float|half|bfloat)"
_PLAIN = re.compile(rf"naive_matmul_{_REAL}")
_OF_4_BITS = re.compile(rf"int4pack_mm_(?P<group>\d+)_{_REAL}")
_OF_8_BITS = re.compile(rf"(?P<how>int8pack_mv|large_m_int8pack_mm)_{_REAL}")
_SIMDGROUP = 32


def products(kernel: str) -> Sequence[Launch]:
    """The launch of such a kernel; none of another."""
    if found := _PLAIN.fullmatch(kernel):
        return [_plain(kernel, found["of"])]
    if found := _OF_4_BITS.fullmatch(kernel):
        return [_of_4_bits(kernel, found["of"], int(found["group"]))]
    if found := _OF_8_BITS.fullmatch(kernel):
        return [_of_8_bits(kernel, found["of"], is_tiled=found["how"] != "int8pack_mv")]
    return [_packed()] if kernel == "weight_to_int4pack" else []


def _plain(kernel: str, of: str) -> Launch:
    """The right operand is transposed."""
    m, k, n = 9, 37, 13
    arguments: dict[str, Given] = {
        "mat1Data": exact(drawn(f"{kernel}.mat1Data", of, m * k)),
        "mat2Data": exact(drawn(f"{kernel}.mat2Data", of, k * n)),
        "outputData": room(of, m * n),
        "strides": longs(k, 1, 1, k, n, 1),
        "sizes": words(m, k, n, 0),  # of which the host gives three, less than the kernel's type
    }
    return launch(m * n, arguments)


def _packed() -> Launch:
    n, k = 72, 6
    made = drawn("weights", "long", n, k) * 0x1234567
    arguments: dict[str, Given] = {
        "W": exact(made.astype(np.int32)),
        "outputData": room("uchar", 4 * n * k),
        "sizes": words(n, k, 0, 0),
    }
    setup = Setup(threads=(n, k, 1), threadgroup=(64, 1, 1), arguments=arguments)
    return Launch(setup=setup)


def _of_4_bits(kernel: str, of: str, group: int) -> Launch:
    m, k, n = 3, 512, 24
    weights = drawn(f"{kernel}.B", "long", n * k // 2) * 29
    arguments: dict[str, Given] = {
        "A": exact(drawn(f"{kernel}.A", of, m * k)),
        "B": exact(weights.astype(np.uint8)),
        "scales_and_zeros": exact(drawn(f"{kernel}.scales", of, k // group * n * 2)),
        "output_data": room(of, m * n),
        "sizes": words(m, k, n, 0),
    }
    threads = (n // 4 * _SIMDGROUP, 1, m)
    return Launch(setup=Setup(threads=threads, threadgroup=(64, 1, 1), arguments=arguments))


def _of_8_bits(kernel: str, of: str, *, is_tiled: bool) -> Launch:
    m, k, n = (45 if is_tiled else 3), 96, 96
    arguments: dict[str, Given] = {
        "A": exact(drawn(f"{kernel}.A", of, m * k)),
        "B": exact((drawn(f"{kernel}.B", "int", n * k) * 13).astype(np.int8)),
        # The last tile is read whole, though the host asks for multiples of 32 only.
        "scalesAndZeros": exact(drawn(f"{kernel}.scales", of, 64 * tiles(n, 64))),
        "outputData": room(of, m * n),
        "sizes": words(m, k, n, 0),
        "shared_memory": Raw(bytes=12288 if is_tiled else 32),
    }
    groups = (tiles(m, 32), tiles(n, 64), 1) if is_tiled else (tiles(n, 8), m, 1)
    threads = 128 if is_tiled else 64
    setup = Setup(threadgroups=groups, threadgroup=(threads, 1, 1), arguments=arguments)
    return Launch(setup=setup)

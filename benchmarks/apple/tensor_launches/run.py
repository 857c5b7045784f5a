"""What is known of a kernel: its launch, and what it computes."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from assay.launches.inputs import Setup

Array = NDArray[Any]
TYPES: dict[str, np.dtype[Any]] = {
    "float": np.dtype(np.float32),
    "half": np.dtype(np.float16),
    "bfloat": np.dtype(ml_dtypes.bfloat16),
    "float8_e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
}
"""NumPy's types by what names of kernels call them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TensorRun:
    """A launch and its judge.

    Attributes:
        result: the argument that has the results, in the type of its array.
        expected: what NumPy computes of the same operands in 64 bits, in the result's shape.
        sizes: what the launch is about, for people.
    """

    setup: Setup
    result: str
    expected: Array
    sizes: str


def drawn(name: str, kind: str, *shape: int) -> Array:
    """Numbers around 0, which the name chooses."""
    chosen = np.random.default_rng(zlib.crc32(name.encode()))
    return chosen.standard_normal(shape).astype(TYPES[kind])


def ceil_div(length: int, size: int) -> int:
    """Tiles of a size that cover a length."""
    return -(-length // size)

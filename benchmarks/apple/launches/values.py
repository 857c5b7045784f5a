"""Arrays and structs as MLX's host has them."""

from __future__ import annotations

import zlib
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from assay.launches.inputs import Exact

Array = NDArray[Any]
TYPES: dict[str, np.dtype[Any]] = {
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "complex64": np.dtype(np.complex64),
    "float": np.dtype(np.float32),
    "float2": np.dtype(np.complex64),
    "complex32_t": np.dtype((np.float16, (2,))),
    "bool_": np.dtype(np.bool_),
}
"""NumPy's types by what names of kernels call them."""


def random(name: str, kind: str, *shape: int) -> Exact:
    """Numbers around 0, which the name chooses."""
    chosen = np.random.default_rng(zlib.crc32(name.encode()))
    dtype = TYPES[kind]
    if dtype == np.complex64:
        drawn = chosen.standard_normal((*shape, 2)).astype(np.float32)
        return Exact(array=drawn.view(np.complex64)[..., 0])
    if kind == "complex32_t":
        return Exact(array=chosen.standard_normal((*shape, 2)).astype(np.float16))
    if dtype == np.bool_:
        return Exact(array=chosen.random(shape) < 0.5)
    return Exact(array=chosen.standard_normal(shape).astype(dtype))


def zeros(kind: str, *shape: int) -> Exact:
    """Room for results."""
    dtype = TYPES[kind]
    return Exact(array=np.zeros(shape, dtype))


def ints(*values: int) -> Exact:
    """Integers of 32 bits."""
    return Exact(array=np.array(values, np.int32))


def longs(*values: int) -> Exact:
    """Integers of 64 bits."""
    return Exact(array=np.array(values, np.int64))


def struct(*members: tuple[str, float | tuple[int, ...]]) -> Exact:
    """A struct: the type of each member, `i`, `l`, `f` or `?`, and what it holds."""
    types = {"i": "<i4", "l": "<i8", "f": "<f4", "?": "?"}
    fields: list[tuple[str, str, tuple[int, ...]]] = []
    for number, (kind, value) in enumerate(members):
        count = (len(value),) if isinstance(value, tuple) else ()
        fields.append((f"m{number}", types[kind], count))
    made = np.zeros(1, np.dtype(fields, align=True))
    for number, (_, value) in enumerate(members):
        made[f"m{number}"] = value
    return Exact(array=made)


def tiles(length: int, size: int) -> int:
    """Tiles of a size that cover a length."""
    return -(-length // size)

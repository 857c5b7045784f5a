"""Launches, and arrays as PyTorch's host has them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from assay.launches.inputs import Exact, Given, Setup

Array = NDArray[Any]
REAL: dict[str, Any] = {"float": np.float32, "half": np.float16, "bfloat": ml_dtypes.bfloat16}
_SIGNED: dict[str, Any] = {"char": np.int8, "short": np.int16, "int": np.int32, "long": np.int64}
_UNSIGNED = {"uchar": np.uint8, "ushort": np.uint16, "uint": np.uint32, "ulong": np.uint64}
TYPE_OF = {
    name: np.dtype(kind) for name, kind in (REAL | _SIGNED | _UNSIGNED | {"bool": np.bool_}).items()
}
"""NumPy's types by Metal's names."""

_BEFORE = 0xA5  # in each byte of a result


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One run of a kernel.

    Attributes:
        addressed: contents of buffers whose addresses lie in an argument, by its name and offset.
    """

    setup: Setup
    addressed: Mapping[str, Mapping[int, Array]] = field(default_factory=dict)


def launch(threads: int, arguments: Mapping[str, Given]) -> Launch:
    """One threadgroup of so many threads, as PyTorch's host has it up to 1,024."""
    setup = Setup(threads=(threads, 1, 1), threadgroup=(threads, 1, 1), arguments=arguments)
    return Launch(setup=setup)


def drawn(name: str, of: str, *shape: int) -> Array:
    """Numbers around 0, which the name chooses; of unsigned types from 0."""
    chosen = np.random.default_rng(zlib.crc32(name.encode()))
    dtype = TYPE_OF[of]
    if of in REAL:
        return (2 * chosen.standard_normal(shape)).astype(dtype)
    low = 0 if dtype.kind in "ub" else -9
    return chosen.integers(low, 2 if dtype.kind == "b" else 10, shape).astype(dtype)


def room(of: str, count: int) -> Exact:
    """Room for results, which holds what no kernel writes."""
    return Exact(array=np.full(count * TYPE_OF[of].itemsize, _BEFORE, np.uint8))


def exact(array: Array) -> Exact:
    """An array of the host."""
    return Exact(array=np.ascontiguousarray(array))


def words(*values: int) -> Exact:
    """Integers of 32 bits without a sign."""
    return Exact(array=np.array(values, np.uint32))


def number(value: float) -> Exact:
    """A float."""
    return Exact(array=np.array([value], np.float32))


def flag(value: bool) -> Exact:
    """A byte that is 0 or 1."""
    return Exact(array=np.array([value], np.uint8))


def offsets(shape: tuple[int, ...], *strides: tuple[int, ...]) -> Array:
    """Where each operand's elements lie: sums of multiples of its strides, the first axis last."""
    places = np.indices(shape).reshape(len(shape), -1)
    return np.stack([np.tensordot(each, places, 1) for each in strides], axis=-1)


def in_threes(found: Array, kind: Any = np.uint32) -> Exact:
    """Rows of three numbers as vectors of three, which take the room of four."""
    made = np.zeros((len(found), 4), kind)
    made[:, :3] = found
    return Exact(array=made)

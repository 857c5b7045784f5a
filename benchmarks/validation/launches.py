"""Dispatches as data: which kernel, with which arguments, over which grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

Size = tuple[int, int, int]
Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """Device memory of so many bytes, zero unless `fill` writes to it."""

    bytes: int
    fill: Callable[[Bytes], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalars:
    """A buffer that holds these numbers of a NumPy type."""

    values: tuple[float, ...]
    dtype: str = "uint32"

    def bytes_of(self) -> bytes:
        """What the kernel reads."""
        return np.array(self.values, self.dtype).tobytes()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """A threadgroup argument of so many bytes."""

    bytes: int


Argument = Buffer | Scalars | Scratch


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One dispatch.

    Attributes:
        source: MSL.
        kernel: name of the function.
        arguments: in the order of the function's parameters.
        threadgroups: the grid.
        threads: of a threadgroup.
        warm: whether earlier dispatches have left in the caches what this one reads.
    """

    source: str
    kernel: str
    arguments: tuple[Argument, ...]
    threadgroups: Size
    threads: Size
    warm: bool = False

    def over(self, *threadgroups: int) -> Launch:
        """The same over another grid."""
        x, y, z = (*threadgroups, 1, 1)[:3]
        return replace(self, threadgroups=(x, y, z))


@cache
def kernel_text(file: str, **macros: str | int) -> str:
    """`kernels/FILE.metal` with macros defined before it."""
    text = (resources.files(__package__) / "kernels" / f"{file}.metal").read_text("utf-8")
    return "".join(f"#define {name} {value}\n" for name, value in macros.items()) + text


def size(*lengths: int) -> Size:
    """Three lengths, 1 where none is given."""
    x, y, z = (*lengths, 1, 1)[:3]
    return (x, y, z)


def number(*values: float, dtype: str = "uint32") -> Scalars:
    """A small constant buffer."""
    return Scalars(values=values, dtype=dtype)


def per_thread(total: int, per_group: int) -> Size:
    """Threadgroups of `per_group` for `total` threads, which must be whole."""
    if total % per_group:
        raise ValueError(f"{total} threads are not whole threadgroups of {per_group}")
    return size(total // per_group)

"""How large a grid is, from the values of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Final

Size = tuple[int, int, int]
GridOf = Callable[[Mapping[str, Any]], "Grid"]
"""A grid from the values of a call by name; outputs are there as arrays of their shape."""

_THREADS: Final = 256
_SIMDGROUPS: Final = 8


@dataclass(frozen=True, slots=True)
class Grid:
    """Threadgroups along each dimension, and threads of one."""

    threadgroups: Size
    threads: Size


def custom(
    threadgroups: Callable[[Mapping[str, Any]], tuple[int, ...]], threads: tuple[int, ...]
) -> GridOf:
    """Threadgroups by a function of the values of the call."""
    return lambda given: Grid(_three(threadgroups(given)), _three(threads))


def per_element(name: str, *, threads: int = _THREADS) -> GridOf:
    """A thread for each element of an argument; the last threadgroup may have some beyond it."""
    return lambda given: _line(given[name].size, threads)


def per_vector(name: str, width: int, *, threads: int = _THREADS) -> GridOf:
    """A thread for each `width` elements of an argument, and one for what is left."""
    return lambda given: _line(_parts(given[name].size, width), threads)


def per_row(name: str, *, threads: int = _THREADS) -> GridOf:
    """A threadgroup for each row of an argument, along its last dimension."""
    return lambda given: Grid((prod(given[name].shape[:-1]), 1, 1), (threads, 1, 1))


def simdgroup_per_row(name: str, *, simdgroups: int = _SIMDGROUPS) -> GridOf:
    """A simdgroup for each element of the last dimension of an argument [..., rows].

    Threadgroups hold `simdgroups` of them, and lie along y for what is in front of the rows.
    """

    def grid(given: Mapping[str, Any]) -> Grid:
        *batch, rows = given[name].shape
        return Grid((_parts(rows, simdgroups), prod(batch), 1), (32 * simdgroups, 1, 1))

    return grid


def _line(threads: int, together: int) -> Grid:
    return Grid((_parts(threads, together), 1, 1), (together, 1, 1))


def _parts(whole: int, size: int) -> int:
    return -(-whole // size)


def _three(sizes: tuple[int, ...]) -> Size:
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z

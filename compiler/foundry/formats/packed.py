"""Weights in a format: the bytes that a kernel is given, and what says how they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import FoundryError

Bytes = NDArray[np.uint8]
Weights = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """A matrix of `rows` x `columns` weights; the columns are what a product sums over.

    `matrix` and `scales` are flat bytes, what buffers 0 and 1 of a kernel hold; `scales` is empty
    where the format keeps everything in its blocks.
    """

    matrix: Bytes
    scales: Bytes
    rows: int
    columns: int

    @property
    def bits_per_weight(self) -> float:
        """Of both buffers together."""
        return 8 * (self.matrix.size + self.scales.size) / (self.rows * self.columns)


class Format(Protocol):
    """How weights lie in memory, and how a kernel reads them."""

    @property
    def name(self) -> str:
        """Such as `q4_0`; what it is chosen by."""

    @property
    def multiple(self) -> int:
        """Columns come in multiples of it."""

    @property
    def policy(self) -> str:
        """The name of the struct that reads weights in MSL."""

    @property
    def text(self) -> str:
        """That struct.

        `Policy::load8(matrix, scales, rows, columns, row, k, w)` reads the eight weights of a row
        from column k on, a multiple of 8, as float; what lies behind the last column is 0.
        """

    def pack(self, weights: Weights) -> Packed:
        """float32 [rows, columns] in this format. Raises FoundryError."""

    def unpack(self, packed: Packed) -> Weights:
        """float32 [rows, columns], exactly what the bytes stand for."""


class _HasName(Protocol):
    @property
    def name(self) -> str: ...


class Named:
    """What follows from the name of a format."""

    __slots__ = ()

    @property
    def policy(self: _HasName) -> str:
        """The struct's name."""
        return f"Policy{self.name.upper()}"


class Grouped(Named):
    """A format that keeps a scale for each `group` columns."""

    __slots__ = ()
    group: int

    @property
    def multiple(self) -> int:
        """Whole groups."""
        return self.group


def numbers_of(stored: NDArray[np.generic]) -> Packed:
    """Rows of numbers [rows, columns] as they are, one behind the other."""
    return Packed(as_bytes(stored), NO_SCALES, *stored.shape)


def matrix_of(weights: Weights, into: Format, *, finite: bool = True) -> Weights:
    """The weights as float32, for a format to pack. Raises FoundryError for what it cannot hold.

    `finite` is whether all have to be numbers: one that is none would spoil its whole block.
    """
    found = np.ascontiguousarray(weights, np.float32)
    if found.ndim != 2 or 0 in found.shape:
        raise FoundryError("format-shape", f"{into.name} holds matrices; these are {found.shape}")
    check_columns(into, found.shape[1])
    if finite and not (known := np.isfinite(found)).all():
        row, column = np.argwhere(~known)[0].tolist()
        raise FoundryError(
            "format-values",
            f"{into.name} holds finite weights; that of row {row}, column {column} is "
            f"{found[row, column]}",
        )
    return found


def check_columns(weights: Format, columns: int) -> None:
    """Raises FoundryError for rows that the format cannot hold."""
    if columns % weights.multiple:
        raise FoundryError(
            "format-shape",
            f"{weights.name} holds {weights.multiple} weights together; rows of {columns} are no "
            "multiple",
        )


def as_bytes(values: NDArray[np.generic]) -> Bytes:
    """The bytes of an array, in order of memory."""
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)


NO_SCALES = np.empty(0, np.uint8)

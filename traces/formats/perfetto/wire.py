"""Encodes many protobuf messages of one shape at once, from columns.

A message is a list of fields; each field is a column of values, one per message, and may be absent
from some of them. Every step is one NumPy operation over all messages: first how long each is,
then, once it is known where each begins, its bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Positions: TypeAlias = NDArray[np.int64]
Unsigned: TypeAlias = NDArray[np.uint64]
Mask: TypeAlias = NDArray[np.bool_]

_VARINT, _FIXED64, _LENGTH = 0, 1, 2


def varint(value: int) -> bytes:
    """One number as protobuf's variable-length integer."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def tag(number: int, wire_type: int) -> bytes:
    """The key before a field's value."""
    return varint(number << 3 | wire_type)


class Field(Protocol):
    """One field of every message."""

    def lengths(self) -> Positions:
        """Bytes that it takes in each message; 0 where it is absent."""

    def write(self, out: Bytes, at: Positions) -> None:
        """Put it into `out`, for each message where `at` says."""


@dataclass(slots=True)
class Varint:
    """An integer field; negative values as two's complement of 64 bits."""

    number: int
    values: NDArray[np.integer]
    present: Mask | None = None

    def lengths(self) -> Positions:
        """Bytes that it takes in each message."""
        lengths = _varint_lengths(_unsigned(self.values)) + len(tag(self.number, _VARINT))
        return lengths if self.present is None else np.where(self.present, lengths, 0)

    def write(self, out: Bytes, at: Positions) -> None:
        """Put it into `out`."""
        values = _unsigned(self.values)
        if self.present is not None:
            values, at = values[self.present], at[self.present]
        _write_varints(out, _write_constant(out, at, tag(self.number, _VARINT)), values)


@dataclass(slots=True)
class Fixed64:
    """A field of eight bytes: a fixed64 or a double."""

    number: int
    values: NDArray[np.uint64] | NDArray[np.float64]
    present: Mask | None = None

    def lengths(self) -> Positions:
        """Bytes that it takes in each message."""
        length = len(tag(self.number, _FIXED64)) + 8
        if self.present is None:
            return np.full(len(self.values), length, np.int64)
        return np.where(self.present, np.int64(length), np.int64(0))

    def write(self, out: Bytes, at: Positions) -> None:
        """Put it into `out`."""
        values = self.values
        if self.present is not None:
            values, at = values[self.present], at[self.present]
        at = _write_constant(out, at, tag(self.number, _FIXED64))
        data = values.astype("<" + values.dtype.str[1:]).view(np.uint8).reshape(-1, 8)
        for offset in range(8):
            out[at + offset] = data[:, offset]


@dataclass(slots=True)
class Nested:
    """A field that is a message itself; where it is absent its fields must be absent too."""

    number: int
    fields: Sequence[Field]
    present: Mask | None = None
    _inner: list[Positions] = field(default_factory=list)
    _prefix: Positions = field(default_factory=lambda: np.empty(0, np.int64))
    _body: Positions = field(default_factory=lambda: np.empty(0, np.int64))

    def lengths(self) -> Positions:
        """Bytes that it takes in each message."""
        self._inner = [item.lengths() for item in self.fields]
        self._body = np.sum(self._inner, axis=0)
        prefix = len(tag(self.number, _LENGTH)) + _varint_lengths(_unsigned(self._body))
        self._prefix = prefix if self.present is None else np.where(self.present, prefix, 0)
        return self._prefix + self._body

    def write(self, out: Bytes, at: Positions) -> None:
        """Put it into `out`."""
        start, body = at, self._body
        if self.present is not None:
            start, body = at[self.present], body[self.present]
        start = _write_constant(out, start, tag(self.number, _LENGTH))
        _write_varints(out, start, _unsigned(body))
        at = at + self._prefix
        for item, lengths in zip(self.fields, self._inner, strict=True):
            item.write(out, at)
            at = at + lengths


def _unsigned(values: NDArray[np.integer]) -> Unsigned:
    return values.astype(np.int64, copy=False).view(np.uint64)


def _varint_lengths(values: Unsigned) -> Positions:
    lengths = np.ones(len(values), np.int64)
    largest = int(values.max()) if len(values) else 0
    shift = 7
    while shift < 64 and largest >> shift:
        lengths += values >= np.uint64(1 << shift)
        shift += 7
    return lengths


def _write_constant(out: Bytes, at: Positions, data: bytes) -> Positions:
    """Put the same bytes at each position; returns the positions behind them."""
    for byte in data:
        out[at] = byte
        at = at + 1
    return at


def _write_varints(out: Bytes, at: Positions, values: Unsigned) -> None:
    low = (values & np.uint64(0x7F)).astype(np.uint8)
    more = values > np.uint64(0x7F)
    while more.any():
        out[at] = low | (more.astype(np.uint8) << 7)
        at, values = at[more] + 1, values[more] >> np.uint64(7)
        low = (values & np.uint64(0x7F)).astype(np.uint8)
        more = values > np.uint64(0x7F)
    out[at] = low

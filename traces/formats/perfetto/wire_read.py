"""Decodes many protobuf messages at once into columns of fields; the counterpart of `wire`.

All messages are walked side by side: each step reads one field of every message that has one left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...events.trace import Integers
from .wire import Bytes

_BLOCK = 1 << 16


class UnexpectedWire(Exception):
    """The bytes are not messages of the expected shape; a slower reader can say where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Fields of messages: step by step, so those of one message are in their order.

    Attributes:
        message: which message it is in.
        number: of the field.
        value: what a varint or eight bytes hold as a signed integer; the length of anything else.
        start: where the bytes behind a length begin.
    """

    message: Integers
    number: Integers
    value: Integers
    start: Integers

    def of(self, number: int) -> Fields:
        """Only the fields of one number."""
        rows = np.flatnonzero(self.number == number)
        return Fields(
            message=self.message[rows],
            number=self.number[rows],
            value=self.value[rows],
            start=self.start[rows],
        )

    def column(self, number: int, count: int, absent: int) -> Integers:
        """The value of a field for each of `count` messages. Raises UnexpectedWire if one has two.

        `absent` stands for messages without it.
        """
        found = np.full(count, absent, np.int64)
        rows = np.flatnonzero(self.number == number)
        messages = self.message[rows]
        seen = np.zeros(count, bool)
        seen[messages] = True
        if np.count_nonzero(seen) != len(messages):
            raise UnexpectedWire
        found[messages] = self.value[rows]
        return found


def padded(data: bytes) -> Bytes:
    """Bytes as an array, with zeros behind it so that no read leaves it."""
    found: Bytes = np.frombuffer(data + bytes(16), np.uint8)
    return found


def fields_of(data: Bytes, starts: Integers, ends: Integers) -> Fields:
    """All fields of the messages that lie in `data` from `starts` to `ends`.

    `data` comes from `padded`. Raises UnexpectedWire if the bytes do not fit, or for field types
    other than varints, eight bytes, and anything with a length.
    """
    parts = []
    for first in range(0, len(starts), _BLOCK):
        parts += _walk(data, starts[first : first + _BLOCK], ends[first : first + _BLOCK], first)
    nothing = np.empty(0, np.int64)
    message, number, value, start = (
        np.concatenate([nothing, *(part[column] for part in parts)]) for column in range(4)
    )
    return Fields(message=message, number=number, value=value, start=start)


def _walk(
    data: Bytes, starts: Integers, ends: Integers, first: int
) -> list[tuple[Integers, Integers, Integers, Integers]]:
    active = np.flatnonzero(starts < ends)
    at, stop = starts[active], ends[active]
    found = []
    while len(active):
        key, at = _varints(data, at)
        wire = key & 7
        fixed = wire == 1
        if not (fixed | (wire == 0) | (wire == 2)).all():
            raise UnexpectedWire
        value, start = _varints(data, at)
        if fixed.any():
            at_fixed = np.minimum(at[fixed], len(data) - 8)
            eight = data[at_fixed[:, None] + np.arange(8)]
            value[fixed] = eight.reshape(-1).view("<i8")
            start[fixed] = at[fixed] + 8
        after = np.where(wire == 2, start + value, start)
        if (after > stop).any() or (after <= at).any():
            raise UnexpectedWire
        found.append((active + first, key >> 3, value, start))
        left = np.flatnonzero(after < stop)
        active, at, stop = active[left], after[left], stop[left]
    return found


def _varints(data: Bytes, at: Integers) -> tuple[Integers, Integers]:
    """The varints that begin at each position, and where the bytes behind them begin."""
    byte = data[at]
    value = (byte & 0x7F).astype(np.int64)
    at = at + 1
    more = np.flatnonzero(byte >= 0x80)
    shift = 7
    while len(more):
        if shift > 63:
            raise UnexpectedWire
        byte = data[np.minimum(at[more], len(data) - 1)]
        value[more] |= (byte & 0x7F).astype(np.int64) << shift
        at[more] += 1
        more = more[byte >= 0x80]
        shift += 7
    return value, at

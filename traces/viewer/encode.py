"""Columns of numbers as bytes for the HTML viewer: the smallest of a few plain encodings."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..events.schema import ABSENT

Integers = NDArray[np.int64]
EXACT = 2**53
"""JavaScript's numbers are exact below this."""


@dataclass(slots=True, kw_only=True)
class Blob:
    """Columns one behind the other; `add` says where one went, for the header."""

    parts: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, encoding: str, data: bytes, count: int) -> dict[str, int | str]:
        """Append a column. Returns its entry: encoding, place and size in bytes, count."""
        entry: dict[str, int | str] = {
            "as": encoding,
            "at": self.size,
            "size": len(data),
            "count": count,
        }
        self.parts.append(data)
        self.size += len(data)
        return entry

    def unsigned(self, values: Integers) -> dict[str, int | str]:
        """Numbers from 0 to 2**53: LEB128, or little-endian words where those are shorter."""
        data = leb128(values)
        for name, dtype in (("u8", "<u1"), ("u16", "<u2"), ("u32", "<u4")):
            width = np.dtype(dtype).itemsize
            if width * len(values) <= len(data) and fits(values, 8 * width):
                return self.add(name, values.astype(dtype).tobytes(), len(values))
        return self.add("leb128", data, len(values))

    def integers(self, values: Integers) -> dict[str, int | str]:
        """Any 64-bit integers, ABSENT among them: zigzag plus one, 0 for ABSENT, if exact."""
        absent = values == ABSENT
        present = np.where(absent, 0, values)
        if len(values) and int(np.abs(present).max()) >= EXACT // 4:
            return self.add("i64", values.astype("<i8").tobytes(), len(values))
        zigzag = np.where(absent, 0, ((present << 1) ^ (present >> 63)) + 1)
        entry = self.unsigned(zigzag)
        return {**entry, "zigzag": 1}

    def reals(self, values: NDArray[np.float64]) -> dict[str, int | str]:
        """Real numbers, NaN among them: integers where all are, else 32 or 64 bits, exactly."""
        whole = np.isfinite(values).all() and (np.abs(values) < EXACT // 4).all()
        if whole and (values == np.rint(values)).all():
            return self.integers(values.astype(np.int64))
        with np.errstate(over="ignore", invalid="ignore"):
            single = values.astype("<f4")
        if np.array_equal(single.astype(np.float64), values, equal_nan=True):
            return self.add("f32", single.tobytes(), len(values))
        return self.add("f64", values.astype("<f8").tobytes(), len(values))


def leb128(values: Integers) -> bytes:
    """Numbers from 0 on, seven bits a byte, the least first, the top bit on all but the last."""
    if fits(values, 7):
        return values.astype(np.uint8).tobytes()
    rest = values.astype(np.uint64)
    length = np.ones(len(rest), np.int64)
    limit = 1 << 7
    while (longer := rest >= np.uint64(limit)).any():
        length += longer
        limit <<= 7
    place = np.cumsum(length) - length
    out = np.empty(int(length.sum()), np.uint8)
    while len(rest):
        more = rest >= np.uint64(128)
        out[place] = (rest & np.uint64(127)).astype(np.uint8) | (more.astype(np.uint8) << 7)
        rest, place = rest[more] >> np.uint64(7), place[more] + 1
    return out.tobytes()


def fits(values: Integers, bits: int) -> bool:
    """Whether all numbers, none of them negative, fit into so many bits."""
    return int(values.max(initial=0)) < 1 << bits


def deltas(values: Integers, first: Integers) -> Integers:
    """Differences to the number before, starting anew (from 0) at each position in `first`."""
    if not len(values):
        return values
    out = np.diff(values, prepend=0)
    starts = first[first < len(values)]
    out[starts] = values[starts]
    return out

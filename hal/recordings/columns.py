"""Columns of whole numbers, each as how much it is more than the one before, in few bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, islice, pairwise, repeat
from typing import Final

import numpy as np

Column = list[int] | bytes
"""Differences: a list that goes on with its last one, or planes of bytes: the lowest byte of all
differences, then the next one, of 2n for n and of 2n + 1 for -1 - n."""

LEAST: Final = -(1 << 31)
END: Final = (1 << 64) + LEAST
"""Numbers are at least `LEAST` and less than `END`."""

_MOST = 1 << 62
_HALF = 1 << 63
_ALL = (1 << 64) - 1
_DTYPE = "<u8"


def packed(first: int, numbers: Sequence[int]) -> Column:
    """A column of at least one number, the one before which was `first`."""
    differences = [_wrapped(new - old) for old, new in pairwise(chain((first,), numbers))]
    length = len(differences)
    while length > 1 and differences[length - 2] == differences[-1]:
        length -= 1
    if 2 * length <= len(differences) or max(map(abs, differences)) >= _MOST:
        return differences[:length]
    signed = np.array(differences, np.int64)
    folded = np.where(signed < 0, ~signed * 2 + 1, signed * 2)
    width = max(1, -(-int(folded.max()).bit_length() // 8))
    planes = folded.astype(_DTYPE).view(np.uint8).reshape(-1, 8).T[:width]
    return planes.tobytes()


def unpacked(first: int, column: Column, rows: int) -> list[int]:
    """The numbers of a column. Raises ValueError for one that has not so many rows."""
    if isinstance(column, bytes):
        differences: Iterable[int] = _of_planes(column, rows)
    elif not 0 < len(column) <= rows:
        raise ValueError(f"a column of {len(column)} numbers has not {rows} rows")
    else:
        differences = chain(column, repeat(column[-1], rows - len(column)))
    sums = accumulate(differences, initial=first)
    return [(each - LEAST & _ALL) + LEAST for each in islice(sums, 1, None)]


def _wrapped(difference: int) -> int:
    """The same but for multiples of 2 ** 64, in 64 bits with a sign."""
    return (difference + _HALF & _ALL) - _HALF


def _of_planes(data: bytes, rows: int) -> list[int]:
    width, rest = divmod(len(data), rows)
    if rest or not 0 < width <= np.dtype(_DTYPE).itemsize:
        raise ValueError(f"a column of {len(data)} bytes has not {rows} rows")
    bytes_ = np.zeros((rows, np.dtype(_DTYPE).itemsize), np.uint8)
    bytes_[:, :width] = np.frombuffer(data, np.uint8).reshape(width, rows).T
    folded = bytes_.view(_DTYPE)[:, 0]
    found: list[int] = np.where(folded & 1, ~(folded >> 1), folded >> 1).view(np.int64).tolist()
    return found

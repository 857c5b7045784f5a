"""Numbers repeated, and the places of a matrix's triangles."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from assay.launches.inputs import Given

from ..launches.values import longs
from .values import Launch, drawn, exact, launch, room

_REPEATED = re.compile(r"repeat_interleave_(?P<of>int(?:32|64))_t")
_TRIANGLE = re.compile(r"(?P<name>tril|triu)_indices_(?P<of>int|long)")
_TYPES = {"int32": "int", "int64": "long"}
_COUNT = 77
_ROWS, _COLUMNS = 23, 17
_DIAGONALS = (-4, 0, 3)


def sequences(kernel: str) -> Sequence[Launch]:
    """The launches of such a kernel; none of another."""
    if found := _REPEATED.fullmatch(kernel):
        return [_repeated(kernel, _TYPES[found["of"]])]
    if found := _TRIANGLE.fullmatch(kernel):
        triangle = _lower if found["name"] == "tril" else _upper
        return [triangle(found["of"], diagonal) for diagonal in _DIAGONALS]
    return []


def _repeated(kernel: str, of: str) -> Launch:
    times = abs(drawn(f"{kernel}.repeat_ptr", of, _COUNT))
    ends = np.cumsum(times, dtype=np.int64)
    arguments = {
        "repeat_ptr": exact(times),
        "cumsum_ptr": exact(ends),
        "result_ptr": room(of, int(ends[-1])),
    }
    return launch(_COUNT, arguments)


def _below(diagonal: int) -> int:
    """Elements of the matrix on a diagonal and below."""
    return int(np.clip(np.arange(_ROWS) + diagonal + 1, 0, _COLUMNS).sum())


def _lower(of: str, diagonal: int) -> Launch:
    count = _below(diagonal)
    first = min(_COLUMNS, 1 + diagonal) if diagonal > 0 else int(_ROWS + diagonal > 0)
    begin = max(0, -diagonal)
    whole = max(0, _ROWS - (begin + _COLUMNS - first + 1)) * _COLUMNS
    arguments: dict[str, Given] = {
        "tensor": room(of, 2 * count),
        "row_offset": longs(begin),
        "m_first_row": longs(first),
        "col": longs(_COLUMNS),
        "trapezoid_size": longs(count - whole),
        "tril_size": longs(count),
    }
    return launch(count, arguments)


def _upper(of: str, diagonal: int) -> Launch:
    count = _ROWS * _COLUMNS - _below(diagonal - 1)
    arguments: dict[str, Given] = {
        "tensor": room(of, 2 * count),
        "col_offset": longs(max(0, diagonal)),
        "m_first_row": longs(max(_COLUMNS - diagonal, 0) if diagonal > 0 else _COLUMNS),
        "col": longs(_COLUMNS),
        "rectangle_size": longs(min(_ROWS, max(0, -diagonal)) * _COLUMNS),
        "triu_size": longs(count),
    }
    return launch(count, arguments)

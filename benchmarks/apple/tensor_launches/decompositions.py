"""Steps of Cholesky's and LU decompositions: a panel's product is taken off what lies behind it.

Where a tile is cut they read beyond the matrix, and store nothing there: one more lies behind the
last one that is launched.
"""

from __future__ import annotations

import re

import numpy as np

from assay.launches.inputs import Exact, Setup

from .run import Array, TensorRun, ceil_div, drawn

_CHOLESKY = re.compile(
    r"applySYRKTrailing(?P<half>[UL])_(?P<bm>\d+)_(?P<bn>\d+)_(?P<simdgroups>\d)"
)
_LU = re.compile(r"gemmLU_(?P<bm>\d+)_(?P<bn>\d+)_(?P<simdgroups>\d)")
_PANEL = 24  # columns
_MATRICES = 2  # and one more
_REST = 5


def run_of(kernel: str) -> TensorRun | None:
    """Two matrices, with tiles of which the last are cut."""
    cholesky, lu = _CHOLESKY.fullmatch(kernel), _LU.fullmatch(kernel)
    if cholesky:
        return _cholesky(kernel, cholesky)
    return _lu(kernel, lu) if lu else None


def _cholesky(kernel: str, found: re.Match[str]) -> TensorRun:
    """The second panel's; tiles above the diagonal are left, of the matrix as the host sees it."""
    bm, bn = int(found["bm"]), int(found["bn"])
    behind = 2 * max(bm, bn) + _REST
    size, start = 2 * _PANEL + behind, 2 * _PANEL
    given = drawn(f"{kernel}.A", "float", _MATRICES + 1, size, size)
    expected = given.astype(np.float64)
    seen = expected[:_MATRICES]
    seen = seen.swapaxes(1, 2) if found["half"] == "L" else seen
    panel = seen[:, start:, _PANEL:start].copy()
    product = panel @ panel.swapaxes(1, 2)
    for row in range(0, behind, bm):
        for column in range(0, min(behind, row + bm), bn):
            rows, columns = slice(row, row + bm), slice(column, column + bn)
            seen[:, start:, start:][:, rows, columns] -= product[:, rows, columns]
    return _run(
        given,
        expected,
        (ceil_div(behind, bn), ceil_div(behind, bm), _MATRICES),
        int(found["simdgroups"]),
        {"N": [size], "NB": [_PANEL], "k": [1]},
    )


def _lu(kernel: str, found: re.Match[str]) -> TensorRun:
    bm, bn = int(found["bm"]), int(found["bn"])
    start = 2 * _PANEL
    rows, columns = start + bm + _REST, start + bn + _REST
    given = drawn(f"{kernel}.A", "float", _MATRICES + 1, rows, columns)
    expected = given.astype(np.float64)
    seen = expected[:_MATRICES]
    seen[:, start:, start:] -= seen[:, start:, _PANEL:start] @ seen[:, _PANEL:start, start:]
    return _run(
        given,
        expected,
        (ceil_div(columns - start, bn), ceil_div(rows - start, bm), _MATRICES),
        int(found["simdgroups"]),
        {
            "dims": [rows, columns],
            "win": [start, rows, start, columns],
            "kwin": [_PANEL, _PANEL, 0, 0],
        },
    )


def _run(
    given: Array,
    expected: Array,
    threadgroups: tuple[int, int, int],
    simdgroups: int,
    words: dict[str, list[int]],
) -> TensorRun:
    return TensorRun(
        setup=Setup(
            threadgroups=threadgroups,
            threadgroup=(32 * simdgroups, 1, 1),
            arguments={
                "A": Exact(array=given),
                **{name: Exact(array=np.array(each, np.uint32)) for name, each in words.items()},
            },
        ),
        result="A",
        expected=expected,
        sizes=f"{given.shape[1]} x {given.shape[2]}, panels of {_PANEL}",
    )

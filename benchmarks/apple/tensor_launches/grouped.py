"""Products in groups, `grouped_mm_*_mpp`: rows, columns or the sum's terms are cut in groups."""

from __future__ import annotations

import re

import numpy as np

from assay.launches.inputs import Exact, Setup

from .run import TYPES, Array, TensorRun, ceil_div, drawn

_NAME = re.compile(
    r"grouped_mm_(?P<mode>rows|cols|k)_mpp_(?P<a>[nt])(?P<b>[nt])_(?P<of>[a-z]+)"
    r"_bm(?P<bm>\d+)_bn(?P<bn>\d+)"
)
_GROUPS = 3
_REST = 5


def run_of(kernel: str) -> TensorRun | None:
    """Groups of which the second is empty, and tiles of which the last of each is cut."""
    found = _NAME.fullmatch(kernel)
    if found is None:
        return None
    mode, of, bm, bn = found["mode"], found["of"], int(found["bm"]), int(found["bn"])
    m, n, k = bm + _REST, bn + _REST, 37
    length = {"rows": m, "cols": n, "k": k}[mode]
    ends = [_REST, _REST, length]
    a = drawn(f"{kernel}.a", of, *((_GROUPS,) if mode == "cols" else ()), m, k)
    b = drawn(f"{kernel}.b", of, *((_GROUPS,) if mode == "rows" else ()), k, n)
    shape = (_GROUPS, m, n) if mode == "k" else (m, n)
    batched = {"rows": k * n, "cols": m * k, "k": m * n}[mode]
    strides = ((1, m) if found["a"] == "t" else (k, 1)) + ((1, k) if found["b"] == "t" else (n, 1))
    types = ",".join(["u4"] * 4 + ["u8"] * 7)
    params = np.array([(m, n, k, _GROUPS, *strides, n, 1, batched)], np.dtype(types, align=True))
    jagged = {"rows": (0, _GROUPS), "cols": (_GROUPS, 0), "k": (0, 0)}[mode]
    simdgroups = 8 if bn >= 256 else 4 if bm >= 64 else 2
    setup = Setup(
        threadgroups=(
            ceil_div(n, bn) + jagged[0],
            ceil_div(m, bm) + jagged[1],
            _GROUPS if mode == "k" else 1,
        ),
        threadgroup=(32 * simdgroups, 1, 1),
        arguments={
            "mat_a": Exact(array=_laid(a, transposed=found["a"] == "t")),
            "mat_b": Exact(array=_laid(b, transposed=found["b"] == "t")),
            "offsets": Exact(array=np.array(ends, np.int32)),
            "output": Exact(array=np.zeros(shape, TYPES[of])),
            "params": Exact(array=params),
        },
    )
    return TensorRun(
        setup=setup,
        result="output",
        expected=_expected(mode, a.astype(np.float64), b.astype(np.float64), ends),
        sizes=f"{m} x {n} x {k}, {_GROUPS} groups",
    )


def _laid(matrix: Array, *, transposed: bool) -> Array:
    return np.ascontiguousarray(np.swapaxes(matrix, -1, -2) if transposed else matrix)


def _expected(mode: str, a: Array, b: Array, ends: list[int]) -> Array:
    spans = [slice(first, last) for first, last in zip([0, *ends], ends, strict=False)]
    if mode == "rows":
        return np.concatenate([a[span] @ b[group] for group, span in enumerate(spans)])
    if mode == "cols":
        return np.concatenate([a[group] @ b[:, span] for group, span in enumerate(spans)], axis=1)
    return np.stack([a[:, span] @ b[span] for span in spans])

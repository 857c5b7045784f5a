"""Products of 8-bit numbers: `scaled_mm_mpp` of floats, with a scale for each row and column, and
`int_mm_mpp` of integers."""

from __future__ import annotations

import re

import numpy as np

from assay.launches.inputs import Exact, Setup

from .run import TYPES, TensorRun, ceil_div, drawn

_SCALED = re.compile(r"scaled_mm_mpp_(?P<to>\w+)")
_WHOLE = re.compile(r"int_mm_mpp_(?P<bm>\d+)_(?P<bn>\d+)_(?P<simdgroups>\d+)")
_TILE, _SIMDGROUPS = 32, 4
_REST = 5


def run_of(kernel: str) -> TensorRun | None:
    """Tiles of which the last are cut."""
    scaled, whole = _SCALED.fullmatch(kernel), _WHOLE.fullmatch(kernel)
    if scaled:
        return _scaled(kernel, scaled["to"])
    if whole:
        return _integers(int(whole["bm"]), int(whole["bn"]), int(whole["simdgroups"]))
    return None


def _scaled(kernel: str, to: str) -> TensorRun:
    m, n, k = _TILE + _REST, _TILE + _REST, 2 * _TILE + _REST
    a, b = (
        drawn(f"{kernel}.{name}", "float8_e4m3fn", *shape)
        for name, shape in (("a", (m, k)), ("b", (k, n)))
    )
    rows, columns = (
        np.abs(drawn(f"{kernel}.{name}", "float", count))
        for name, count in (("rows", m), ("columns", n))
    )
    has_bias = to in ("half", "bfloat")
    bias = drawn(f"{kernel}.bias", to if has_bias else "half", n)
    types = ",".join(["u4"] * 3 + ["i8"] * 6 + ["?"] * 3)
    params = np.array(
        [(m, n, k, k, 1, n, 1, n, 1, True, has_bias, to == "bfloat")], np.dtype(types, align=True)
    )
    expected = (a.astype(np.float64) @ b.astype(np.float64)) * rows[:, None] * columns[None]
    setup = Setup(
        threadgroups=(ceil_div(n, _TILE), ceil_div(m, _TILE), 1),
        threadgroup=(32 * _SIMDGROUPS, 1, 1),
        arguments={
            "a": Exact(array=a),
            "b": Exact(array=b),
            "out": Exact(array=np.zeros((m, n), TYPES[to])),
            "scale_a": Exact(array=rows),
            "scale_b": Exact(array=columns),
            "bias": Exact(array=bias),
            "p": Exact(array=params),
        },
    )
    return TensorRun(
        setup=setup,
        result="out",
        expected=expected + bias.astype(np.float64) if has_bias else expected,
        sizes=f"{m} x {n} x {k}",
    )


def _integers(bm: int, bn: int, simdgroups: int) -> TensorRun:
    m, n, k = bm + _REST, bn + _REST, 37
    draw = np.random.default_rng(1)
    a, b = (draw.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
    setup = Setup(
        threadgroups=(ceil_div(n, bn), ceil_div(m, bm), 1),
        threadgroup=(32 * simdgroups, 1, 1),
        arguments={
            "mat1Data": Exact(array=a),
            "mat2Data": Exact(array=b),
            "outputData": Exact(array=np.zeros((m, n), np.int32)),
            "strides": Exact(array=np.array([k, 1, n, 1, n, 1], np.uint64)),
            "sizes": Exact(array=np.array([m, k, n, 0], np.uint32)),
        },
    )
    return TensorRun(
        setup=setup,
        result="outputData",
        expected=a.astype(np.float64) @ b.astype(np.float64),
        sizes=f"{m} x {n} x {k}",
    )

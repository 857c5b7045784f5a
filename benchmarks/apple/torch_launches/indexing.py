"""Elements at places that other arrays name, and the offsets of elements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.launches.inputs import Exact, Given, Setup

from ..launches.values import longs
from .values import Array, Launch, drawn, exact, in_threes, launch, offsets, words

_NAMES = re.compile(
    r"index_(?P<how>select|put|put_serial|put_accumulate)_(?P<bits>\d+)bit"
    r"(?:_(?P<of>float|int))?_idx(?P<wide>32|64)"
)
_OFFSETS = re.compile(r"kernel_index_offsets_(?P<wide>32|64)")
_TYPES = {"8": "char", "16": "short", "32": "int", "64": "long"}
_WORDS: dict[str, Any] = {"32": np.uint32, "64": np.uint64}
_SIZES = (9, 11)  # of the axes that are indexed
_INNER, _MANY = 5, 21
_SHAPE = (3, 7, 11)


def indexing(kernel: str) -> Sequence[Launch]:
    """The launch of such a kernel; none of another."""
    if found := _NAMES.fullmatch(kernel):
        kind = found["of"] or _TYPES[found["bits"]]
        return [_indexed(kernel, found["how"], kind, found["wide"])]
    if found := _OFFSETS.fullmatch(kernel):
        return [_offsets(found["wide"])]
    if kernel == "kernel_index_offset":
        rows, columns = 3, 77
        arguments = {
            "strides": words(1, rows),
            "data_offsets": Exact(array=np.full(rows * columns, 7, np.uint32)),
            "iter_shape": words(rows, columns),
            "num_dimensions": words(2),
        }
        return [launch(rows * columns, arguments)]
    return []


def _offsets(wide: str) -> Launch:
    count = int(np.prod(_SHAPE))
    strides = np.array([(4, 0, 8), (12, 44, 0), (84, 4, 24)], np.uint32)
    arguments: dict[str, Given] = {
        "strides": exact(strides),
        "data_offsets": in_threes(np.full((count, 3), 7), _WORDS[wide]),
        "iter_shape": words(*_SHAPE),
        "num_dimensions": words(len(_SHAPE)),
    }
    return launch(count, arguments)


def _indexed(kernel: str, how: str, kind: str, wide: str) -> Launch:
    """Rows of an array whose first two axes are indexed, some from behind."""
    size = drawn(kernel, kind, 1).itemsize
    steps = (_SIZES[1] * _INNER * size, _INNER * size)
    row, whole = (_INNER * size, size), (0, size)
    into, taken = (row, whole) if how == "select" else (whole, row)
    array = _whole(f"{kernel}.array", kind, *_SIZES, _INNER)
    rows = _whole(f"{kernel}.rows", kind, _MANY, _INNER)
    given, result = (array, np.zeros_like(rows)) if how == "select" else (rows, array)
    count = _MANY * _INNER
    arguments: dict[str, Given] = {
        "indexAB": Exact(array=np.zeros(2, np.uint64)),
        "indexSizes": longs(*_SIZES),
        "indexStrides": longs(*steps),
        "offsets": in_threes(offsets((_MANY, _INNER), into, taken, (8, 0)), _WORDS[wide]),
        "inputData": exact(given),
        "outputData": exact(result),
        "num_indices": words(2),
    }
    if how == "put_serial":
        arguments["numIters"] = words(count)
    threads = 1 if how == "put_serial" else count
    setup = Setup(threads=(threads, 1, 1), threadgroup=(threads, 1, 1), arguments=arguments)
    places = _places(f"{kernel}.places", is_twice=how in ("put_serial", "put_accumulate"))
    return Launch(setup=setup, addressed={"indexAB": {0: places[0], 8: places[1]}})


def _whole(name: str, kind: str, *shape: int) -> Array:
    """Numbers that any order sums up to the same."""
    made = drawn(name, kind, *shape)
    return np.rint(made) if kind == "float" else made


def _places(name: str, *, is_twice: bool) -> tuple[Array, Array]:
    """Pairs of indices, of which half name a place that another does, or none does."""
    first = drawn(name, "uint", _SIZES[0] * _SIZES[1])
    order = np.argsort(first, kind="stable")[:_MANY]
    if is_twice:
        order[_MANY // 2 :] = order[: _MANY - _MANY // 2]
    made = np.stack(np.divmod(order, _SIZES[1])).astype(np.int64)
    made[0, ::3] -= _SIZES[0]
    made[1, 1::4] -= _SIZES[1]
    return made[0].view(np.uint8), made[1].view(np.uint8)

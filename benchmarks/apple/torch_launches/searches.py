"""Searches in sorted rows, and histograms."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from assay.launches.inputs import Exact, Given, Setup

from ..launches.values import longs
from .values import TYPE_OF, Launch, drawn, exact, flag, launch, offsets, room, words

_TYPES = "|".join(TYPE_OF)
_SEARCH = re.compile(rf"searchsorted_(?P<of>{_TYPES})_(?P<to>int|long)(?P<sorter>_sorter)?")
_HISTOGRAM = re.compile(r"histogramdd_(?P<of>float|half)")
_ROWS, _COLUMNS, _EDGES = 3, 37, 21
_POINTS, _BINS = 100, (6, 9)
_ALGORITHMS = 3


def searches(kernel: str) -> Sequence[Launch]:
    """The launches of such a kernel; none of another."""
    if found := _SEARCH.fullmatch(kernel):
        ways = [(right, shared) for right in (False, True) for shared in (False, True)]
        return [_search(kernel, found, *way) for way in ways]
    if found := _HISTOGRAM.fullmatch(kernel):
        ways = [(which, weighed) for which in range(_ALGORITHMS) for weighed in (False, True)]
        return [_histogram(kernel, found["of"], *way) for way in ways]
    return []


def _search(kernel: str, found: re.Match[str], right: bool, is_shared: bool) -> Launch:
    of, count = found["of"], _ROWS * _COLUMNS
    edges = drawn(f"{kernel}.data_bd", of, 1 if is_shared else _ROWS, _EDGES)
    order = np.argsort(edges, axis=-1, kind="stable")
    arguments: dict[str, Given] = {
        "data_in": exact(drawn(f"{kernel}.data_in", of, count)),
        "data_bd": exact(edges if found["sorter"] else np.take_along_axis(edges, order, -1)),
        "data_out": room(found["to"], count),
        "idim_in": longs(_COLUMNS),
        "idim_bd": longs(_EDGES),
        "numel_in": longs(count),
        "right": longs(right),
        "is_1d_boundaries": longs(is_shared),
    }
    if found["sorter"]:
        # Positions in the first row alone, where rows share their boundaries.
        arguments["data_sort"] = exact(order.astype(np.int64))
    setup = Setup(threadgroups=(1, 1, 1), threadgroup=(count, 1, 1), arguments=arguments)
    return Launch(setup=setup)


def _histogram(kernel: str, of: str, algorithm: int, is_weighed: bool) -> Launch:
    """Points of two coordinates, some of which lie in no bin."""
    dtype = TYPE_OF[of]
    edges = [np.linspace(-2, 3, count + 1).astype(dtype) for count in _BINS]
    places = offsets((_POINTS, 2), (1, _POINTS))  # transposed
    arguments: dict[str, Given] = {
        "input_": exact(drawn(f"{kernel}.input_", of, 2 * _POINTS)),
        "weight": exact(drawn(f"{kernel}.weight", of, _POINTS)),
        "local_out": Exact(array=np.zeros((_POINTS, *_BINS), dtype)),
        "offsets": words(*places.ravel().tolist()),
        "num_dims": longs(2),
        "bin_seq": exact(np.concatenate(edges)),
        "num_bin_edges": longs(*(count + 1 for count in _BINS)),
        "leftmost_edge": exact(np.array([each[0] for each in edges], dtype)),
        "rightmost_edge": exact(np.array([each[-1] for each in edges], dtype)),
        "local_out_strides": longs(_BINS[0] * _BINS[1], _BINS[1], 1),
        "algorithm": Exact(array=np.array([algorithm], np.uint8)),
        "has_weight": flag(is_weighed),
    }
    return launch(_POINTS, arguments)

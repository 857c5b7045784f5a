"""What comments of the library's kernels assume holds in the launches of their hosts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assay.compiler.foundry.kernels.arguments import Params
from assay.foundry import Kernel, format_of
from assay.foundry.library import (
    attention,
    cache_shape,
    cache_write,
    gemm,
    matmul,
    penalise,
    prefill,
    rope,
)
from assay.foundry.products import MARLIN
from assay.foundry.types import half
from assay.proofs.comments import assumptions_of

_F16 = format_of("f16")
_Q8 = format_of("q8_0")
_BLOCKS = np.zeros(cache_shape(_Q8, 2, 128, 2, 64), np.uint8)
_CACHE = np.zeros(cache_shape(_F16, 2, 128, 2, 64), np.uint8)
_FEW = {
    "q": np.zeros((3, 4, 64), np.float32),
    "keys": _CACHE,
    "values": _CACHE,
    "positions": np.zeros(3, np.int32),
    "sequences": np.zeros(3, np.uint32),
}
_MANY = {**_FEW, "q": np.zeros((70, 4, 64), np.float32), "where": np.zeros(2, np.uint32)}
_PLACES = {"x": np.zeros((5, 3, 6), np.float32), "positions": np.zeros(5, np.int32)}
_WRITTEN = {
    **_FEW,
    "k": np.zeros((3, 2, 64), np.float32),
    "v": np.zeros((3, 2, 64), np.float32),
    "positions": np.array([5, 5, 127], np.int32),
    "sequences": np.array([0, 1, 1], np.uint32),
    "cosines": np.zeros((128, 32), np.float32),
    "sines": np.zeros((128, 32), np.float32),
}
_TABLE = np.array([[5, 0, 1], [3, 2, 4]], np.uint32)
_PAGES = np.zeros(cache_shape(_Q8, 6, 64, 2, 64), np.uint8)
_PAGED = {**_WRITTEN, "keys": _PAGES, "values": _PAGES, "blocks": _TABLE}
_WORDS = format_of("fp4_128")
_MATRIX = _WORDS.pack(np.zeros((100, 256), np.float32))
_FACTORS = {
    "x": np.zeros((70, 256), np.float16),
    "matrix": _MATRIX.matrix,
    "scales": _MATRIX.scales,
}
_MATRICES = {"a": np.zeros((2, 70, 33), np.float16), "b": np.zeros((2, 33, 65), np.float16)}
_RECENT = {"x": np.zeros((3, 9), np.float32), "recent": np.zeros((3, 5), np.uint32)}


@pytest.mark.parametrize(
    ("kernel", "given"),
    [
        (attention(64, _F16), _FEW),
        (attention(64, _F16, together=2, splits=3), _FEW),
        (prefill(64, _F16), _MANY),
        (prefill(64, _F16, splits=3), _MANY),
        (rope(), _PLACES),
        (cache_write(64, _F16), _WRITTEN),
        (cache_write(64, _Q8), {**_WRITTEN, "keys": _BLOCKS, "values": _BLOCKS}),
        (cache_write(64, _Q8, is_paged=True), _PAGED),
        (penalise(), _RECENT),
        (gemm(_WORDS, 100, half, pipeline=MARLIN["async_deep"]), _FACTORS),
        (gemm(_WORDS, 100, half, pipeline=MARLIN["async_packed"]), _FACTORS),
        (matmul(half, pipeline=MARLIN["async"]), _MATRICES),
    ],
    ids=[
        "attention",
        "attention in parts",
        "prefill",
        "prefill in parts",
        "rope",
        "cache_write",
        "cache_write of blocks",
        "cache_write by a table of blocks",
        "penalise",
        "gemm with copies",
        "gemm with packed weights",
        "matmul with copies",
    ],
)
def test_launches_fulfil_what_is_assumed(kernel: Kernel, given: dict[str, Any]) -> None:
    declared = kernel.declared
    taken = {name: each for name, each in given.items() if name in declared.arguments}
    stated = assumptions_of(declared.library)[declared.function]
    values, grid = kernel._bound(taken)
    made = declared.arguments["params"]
    assert isinstance(made, Params) and made.make is not None
    groups = SimpleNamespace(**dict(zip("xyz", grid.threadgroups, strict=True)))
    known = {"groups": groups, "params": made.make(values), "distinct": _distinct, **taken}
    assert stated
    assert all(_holds(each.text, known) for each in stated), stated


def _holds(text: str, known: Mapping[str, Any]) -> bool:
    """Whether a condition holds, for each number of the buffer that it speaks of."""
    name = re.search(r"(\w+)\[\*\]", text)
    if name is None:
        return bool(eval(text, {}, known))
    numbers = known[name[1]].tolist()
    text = text.replace(name[0], "number")
    return all(eval(text, {}, {**known, "number": each}) for each in numbers)


def _distinct(*arrays: Any) -> bool:
    rows = list(zip(*(each.ravel().tolist() for each in arrays), strict=True))
    return len(set(rows)) == len(rows)

"""What comments of the library's kernels assume holds in the launches of their hosts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assay.compiler.foundry.kernels.arguments import Params
from assay.foundry import Kernel, format_of
from assay.foundry.library import attention, cache_shape, prefill, rope
from assay.proofs.comments import assumptions_of

_F16 = format_of("f16")
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


@pytest.mark.parametrize(
    ("kernel", "given"),
    [
        (attention(64, _F16), _FEW),
        (attention(64, _F16, together=2, splits=3), _FEW),
        (prefill(64, _F16), _MANY),
        (prefill(64, _F16, splits=3), _MANY),
        (rope(), _PLACES),
    ],
    ids=["attention", "attention in parts", "prefill", "prefill in parts", "rope"],
)
def test_launches_fulfil_what_is_assumed(kernel: Kernel, given: dict[str, Any]) -> None:
    declared = kernel.declared
    taken = {name: each for name, each in given.items() if name in declared.arguments}
    stated = assumptions_of(declared.library)[declared.function]
    values, grid = kernel._bound(taken)
    made = declared.arguments["params"]
    assert isinstance(made, Params) and made.make is not None
    groups = SimpleNamespace(**dict(zip("xyz", grid.threadgroups, strict=True)))
    known = {"groups": groups, "params": made.make(values)}
    assert stated
    assert all(eval(each.text, {}, known) for each in stated), stated

"""Loads that copy tiles ask for what the next turn of the loop reads."""

from __future__ import annotations

import numpy as np
import pytest

from assay.sim.simt.emit.ahead import Steps
from assay.sim.simt.emit.vectorise import Vectoriser
from assay.sim.simt.ir.cfg import analyse
from assay.sim.simt.ir.nodes import BufferRoot
from assay.sim.simt.ir.operations.memory import LOAD
from assay.sim.simt.ir.shape import LANES, Shape
from tests.support.kernels import Kernel, compile_cpp, on_engine, on_reference

_SIZE = (2 * LANES, 1, 1)
_KERNEL = """
KERNEL(DEVICE float* x, DEVICE uint* n, DEVICE float* y, THREADGROUP float* tile) {{
  uint i = __assay_thread_index_in_threadgroup();
  ulong width = n[0], stride = n[1];
  float sum = 0;
  for (ulong k = 0; k < width; k += {by}) {{
    for (ulong row = i / 32; row < 8; row += 2) tile[row * 32 + i % 32] = x[{at}];
    barrier();
    for (uint j = 0; j < 8; ++j) sum += tile[j * 32 + i % 32];
    barrier();
  }}
  y[i] = sum;
}}
"""
# Where a kernel reads, and by how many bytes each product of values makes that grow.
_PLACES = {
    "columns": ("row * stride + k + i % 32", "32", [(0, 128)]),
    "rows": ("(row + k) * stride + i % 32", "8", [(1, 32)]),
    "rows and columns": ("(row + k) * stride + k * 4 + i % 32", "8", [(0, 128), (1, 32)]),
    "turns of another width": ("k * stride + row * 32 + i % 32", "n[2]", [(2, 4)]),
    "the same again": ("row * stride + i % 32", "8", []),
    "what memory says": ("n[k] + row * stride + i % 32", "8", None),
    "a square": ("(k * k + row) * stride + i % 32", "8", None),
}


def _kernel(name: str) -> Kernel:
    at, by, _ = _PLACES[name]
    return compile_cpp(_KERNEL.format(at=at, by=by), "x n y tile:threadgroup")


@pytest.mark.parametrize("name", _PLACES)
def test_an_offset_grows_by_products_of_what_the_loop_leaves_alone(name: str) -> None:
    function = _kernel(name).function()
    cfg = analyse(function)
    loads = [
        each
        for each in function.instructions()
        if each.operation is LOAD and each.root == BufferRoot(0, "x", False, 1)
    ]
    assert loads
    for load in loads:
        assert load.block is not None
        terms = Steps(cfg.loops_of(load.block)[-1], cfg).of(load.operands[0])
        found = terms and sorted((len(product), count) for product, count in terms.items())
        assert found == (_PLACES[name][2] or terms)
        assert (terms is None) == (_PLACES[name][2] is None)


@pytest.mark.parametrize("name", _PLACES)
def test_the_next_turn_is_asked_for_where_it_reads_elsewhere(name: str) -> None:
    code = Vectoriser(_kernel(name).function(), Shape(size=_SIZE, nominal=_SIZE)).run()
    assert ("call void @llvm.prefetch.p0" in code.text) == bool(_PLACES[name][2])


@pytest.mark.parametrize("name", [name for name, place in _PLACES.items() if place[2]])
def test_what_lies_behind_the_buffer_is_asked_for_in_vain(name: str) -> None:
    x = np.random.default_rng(0).integers(-9, 9, 1640).astype(np.float32)
    n = np.zeros(64, np.uint32)
    n[:3] = 32, 48, 8
    found = [
        run(
            _kernel(name),
            [x, n, np.zeros(2 * LANES, np.float32), 1024],
            threadgroup_size=_SIZE,
            threads=_SIZE,
        )[2]
        for run in (on_engine, on_reference)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    assert np.unique(found[0]).size > 8

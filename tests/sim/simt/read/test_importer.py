"""What LLVM holds is given back in an order that it survives."""

from __future__ import annotations

import gc

import pytest

from assay.compiler.msl import compile_library
from assay.sim.simt import UnsupportedKernel
from assay.sim.simt.read.importer import optimised_text

CALLS = " + ".join(f"f(x / {at})" for at in range(2, 130))
# Too large for the levels of recursion that are followed.
RECURSIVE = f"""
int f(int x) {{ return x < 2 ? x : {CALLS}; }}
kernel void k(device int* x) {{ x[0] = f(x[1]); }}
"""


def test_a_refused_kernel_may_be_collected_in_any_order(request: pytest.FixtureRequest) -> None:
    function = compile_library(RECURSIVE).function("k")
    gc.collect()
    gc.freeze()  # what other tests left is not looked at each time
    request.addfinalizer(gc.unfreeze)
    for _ in range(6):
        with pytest.raises(UnsupportedKernel) as caught:
            optimised_text(function.bitcode, function.entry, "k")
        cycle: list[object] = [caught.value]  # keeps the traceback, and its frames, for the
        cycle.append(cycle)  # collector, which takes things apart as it finds them
        del caught, cycle
        gc.collect()


UNROLLED = """
kernel void k(device float* x, constant int& n) {
  #pragma unroll
  for (int j = 0; j < n; ++j) { if (x[j] > 1) break; x[j + 1] = x[j] * 2; }
}
"""


def test_a_loop_that_cannot_be_unrolled_as_asked_is_no_matter(
    capfd: pytest.CaptureFixture[str],
) -> None:
    function = compile_library(UNROLLED).function("k")
    assert b"llvm.loop.unroll" in function.bitcode
    optimised_text(function.bitcode, function.entry, "k")
    assert capfd.readouterr() == ("", "")

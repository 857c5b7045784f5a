"""Kernels spill whole vectors: each to one line of the cache, wherever the stack is."""

import platform
from pathlib import Path

import pytest

from assay.compiler.msl import compile_library
from assay.sim.native.jit import compile_object
from assay.sim.simt.emit.driver import driver
from assay.sim.simt.run import generation

SOURCE = """
kernel void sums(device const float* a [[buffer(0)]], device float* b [[buffer(1)]],
                 constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  float sum[16] = {};
  for (uint k = 0; k < n; k++)
    for (uint j = 0; j < 16; j++) sum[j] += a[i + k * 16 + j] * sum[(j + 5) % 16];
  for (uint j = 0; j < 16; j++) b[i * 16 + j] = sum[j];
}
"""
_ALIGN_FRAME = bytes.fromhex("4883e4c0")  # and rsp, -64


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names x86's code")
def test_the_loop_around_kernels_aligns_the_stack_to_vectors_and_they_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bytes] = []

    def noting(text: str, **how: bool) -> bytes:
        made.append(compile_object(text, **how))
        return made[-1]

    monkeypatch.setattr(generation, "compile_object", noting)
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path))
    compile_library(SOURCE).function("sums").program().specialise((32, 1, 1))
    assert made and _ALIGN_FRAME not in made[-1]
    kinds = [(barriers, observed) for barriers in (False, True) for observed in (False, True)]
    for barriers, observed in kinds:
        loop = driver(
            2,
            has_barriers=barriers,
            private_memory=0,
            streams=False,
            observed=observed,
            shadowed=observed,
        )
        assert _ALIGN_FRAME in compile_object(loop)

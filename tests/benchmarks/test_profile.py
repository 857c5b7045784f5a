"""The profile of models reads names as IREE makes them, and lanes as the engine runs them."""

from __future__ import annotations

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim import simt
from benchmarks.profile.dispatches import elements, timed, totals, use_of
from benchmarks.profile.main import reason
from benchmarks.profile.networks import transformer

_SOURCE = """#include <metal_stdlib>
using namespace metal;
kernel void rows(device const float* a [[buffer(0)]], device float* out [[buffer(1)]],
                 uint3 g [[threadgroup_position_in_grid]],
                 uint3 l [[thread_position_in_threadgroup]]) {
    if (l.x < 2)
        for (uint i = 0; i < uint(a[0]); i++)
            out[(g.x / 7 + i) * 14 + g.x % 7 * 2 + l.x] =
                a[i * 14 + g.x % 7 * 2 + l.x] + a[g.x / 7];
}"""


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("net_async_dispatch_9_matmul_like_24x3136x144_f32", 24 * 3136 * 144),
        ("main_dispatch_13_batch_matmul_1x128x3072x768_f32", 128 * 3072 * 768),
        ("net_dispatch_0_slow_memcpy", 0),
    ],
)
def test_operations_are_counted_by_the_extents_in_a_name(name: str, count: int) -> None:
    assert elements(name) == count


def test_a_profile_tells_times_lanes_and_ways_to_memory() -> None:
    executable = compile_library(_SOURCE).function("rows").program().specialise((16, 2, 1))
    memory = simt.Memory()
    arrays = [np.full(64, 2, np.float32), np.zeros(256, np.float32)]
    addresses = [memory.register(array.view(np.uint8), name="buffer") for array in arrays]
    with timed() as found:
        for _ in range(3):
            simt.dispatch(executable, memory, addresses, threadgroups=(14, 1, 1), workers=2)
    assert list(totals(found, 3)) == ["rows"]
    assert len(found["rows"].seconds) == 3
    use = use_of(executable)
    assert (use.lanes, use.packs) == (2, 7)
    assert use.ways["plain"] and use.ways["one place"] and not use.ways["lane by lane"]


def test_a_network_is_a_file_that_onnx_accepts() -> None:
    pytest.importorskip("onnx")
    assert b"LayerNormalization" in transformer(length=4, width=8, heads=2)


@pytest.mark.parametrize(
    ("ours", "kernels", "theirs", "why"),
    [
        (9.0, 1.0, 1.0, ""),
        (12.0, 1.0, 1.0, "host program"),
        (40.0, 12.0, 1.0, "host program, kernels"),
        (13.0, 12.0, 1.0, "kernels"),
        (14.0, 7.0, 1.0, "both"),
    ],
)
def test_a_model_far_above_the_peer_has_a_reason(
    ours: float, kernels: float, theirs: float, why: str
) -> None:
    assert reason(ours, kernels, theirs) == why

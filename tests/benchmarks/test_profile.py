"""The profile of models reads names as IREE makes them, and lanes as the engine runs them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim import simt
from benchmarks.profile import before
from benchmarks.profile.calls import calls_for
from benchmarks.profile.dispatches import elements, timed, totals, use_of
from benchmarks.profile.main import lanes_of, main, reason
from benchmarks.profile.models import names, without_peer
from benchmarks.profile.networks import transformer

ROOT = Path(__file__).parents[2]
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
    assert lanes_of(use) == "2 x 7"
    assert use.ways["plain"] and use.ways["one place"] and not use.ways["lane by lane"]


def test_lanes_that_see_each_other_all_run() -> None:
    source = _SOURCE.replace("+ a[g.x / 7]", "+ simd_sum(a[l.x])")
    executable = compile_library(source).function("rows").program().specialise((16, 2, 1))
    use = use_of(executable)
    assert use.across and lanes_of(use) == "32, across"


def test_a_model_without_a_peer_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "math_log10_trunc" in without_peer()
    assert not set(without_peer()) & set(names(zoo=True))
    with pytest.raises(SystemExit):
        main(["math_log10_trunc"])
    assert "math_log10_trunc is compared with NumPy" in capsys.readouterr().err


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


def test_a_model_runs_by_turns_with_an_earlier_assay(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("iree.compiler")
    assert before.compare(["matvec"], ROOT) in (0, 1)  # two times of the same are never told apart
    told = capfd.readouterr()
    assert "matvec: " in told.err and "<= 1.03" in told.out


def test_a_folder_without_assay_is_no_earlier_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["matvec", "--before", str(tmp_path)])
    assert "has no folder 'assay'" in capsys.readouterr().err


@pytest.mark.parametrize(("one", "calls"), [(1.0, 3), (0.02, 3), (0.006, 10), (1e-9, 1000)])
def test_a_round_has_calls_for_a_while(one: float, calls: int) -> None:
    assert calls_for(one) == calls

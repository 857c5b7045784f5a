"""Kernels that a host puts together: it defines the structs and joins stages."""

import numpy as np
import pytest

from tests.support.metal_kernel import SOURCES, library_of, pipeline, run

PARAMS = np.dtype([("N", "<u4"), ("K", "<u4"), ("alpha", "<f4")])
METAL_NAMES = {"<u4": "uint", "<f4": "float"}


def struct_of(name: str, dtype: np.dtype) -> str:
    """The struct that the sources only name."""
    fields = "".join(f"    {METAL_NAMES[kind]} {field};\n" for field, kind in dtype.descr)
    return f"struct {name} {{\n{fields}}};\n"


def composed(policy: str, hook: str, epilogue: str) -> str:
    stages = [
        (SOURCES / "stages" / f"{stage}.metal").read_text()
        for stage in ("policies", "gemv", "epilogues")
    ]
    return f"""#include <metal_stdlib>
using namespace metal;
{struct_of("GemvParams", PARAMS)}
{"".join(stages)}
[[kernel]] void fused(
    const device uchar* matrix [[buffer(0)]], const device uchar* scales [[buffer(1)]],
    const device half* x [[buffer(2)]], device half* output [[buffer(3)]],
    constant GemvParams* params [[buffer(4)]], const device half* gamma [[buffer(5)]],
    uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]],
    uint3 tptg [[threads_per_threadgroup]]) {{
    threadgroup float shared_mem[32];
    run_gemv<{policy}, {hook}, {epilogue}>(matrix, scales, x, output, params, gamma, gid, lid, tptg,
                                           shared_mem);
}}
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("policy", "hook", "epilogue"),
    [
        ("PolicyF16", "NoHook", "SiluTimes"),
        ("PolicyQ8", "RmsNormHook", "Store"),
    ],
)
@pytest.mark.parametrize("simdgroups", [1, 4])
def test_a_matrix_times_a_vector_by_stages(
    policy: str, hook: str, epilogue: str, simdgroups: int
) -> None:
    rng = np.random.default_rng(simdgroups)
    n, k, alpha = 11, 96, 0.5
    x, gamma = rng.standard_normal((2, k)).astype(np.float16)
    before = rng.standard_normal(n).astype(np.float16)
    result = before.copy()
    if policy == "PolicyF16":
        weights = rng.standard_normal((n, k)).astype(np.float16)
        scales = np.zeros(1, dtype=np.float16)
        values = weights.astype(np.float64)
    else:
        weights = rng.integers(-127, 128, (n, k)).astype(np.int8)
        scales = rng.uniform(0.001, 0.01, (n, k // 32)).astype(np.float16)
        values = weights * scales.astype(np.float64).repeat(32, axis=1)

    run(
        pipeline(library_of(composed(policy, hook, epilogue)), "fused"),
        weights,
        scales,
        x,
        result,
        np.array((n, k, alpha), dtype=PARAMS).tobytes(),
        gamma,
        threadgroups=-(-n // simdgroups),
        threadgroup=32 * simdgroups,
    )

    vector = x.astype(np.float64)
    if hook == "RmsNormHook":
        vector = vector / np.sqrt((vector**2).mean() + 1e-5) * gamma
    sums = alpha * (values @ vector)
    expected = sums if epilogue == "Store" else before * sums / (1 + np.exp(-sums))
    np.testing.assert_allclose(result, expected, rtol=5e-3, atol=5e-3)

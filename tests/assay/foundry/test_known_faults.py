"""Faults that others' kernels had, made in ours: checks report each, or numbers show it.

Those of pipelines are in `pipeline_mutants.py` and `test_declaration.py`, those of any kernel in
`tests/checks/field`. TB is cchance27/test-burn, MM RESMP-DEV/metal-marlin.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from assay.compiler.foundry.structs.names import FLOAT, HALF
from assay.foundry import Kernel, Standalone, WordColumns, bias, format_of, output, per_element
from assay.foundry.library import (
    attention,
    fused_gemv,
    gemm,
    gemv,
    gemv_columns,
    layer_norm,
    sample,
)
from assay.foundry.products import MARLIN, Pipeline, Simdgroups, Tile, striped
from assay.foundry.types import half
from assay.launch import LaunchError
from tests.assay.foundry.factors import Weighted, drawn

FP4 = WordColumns("fp4", 8)
SMALL = Pipeline(tile=Tile(16, 16, 16), by=Simdgroups(2, 1), buffers=2)
Made = tuple[Kernel, dict[str, Any]]


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        name: what was wrong, and where.
        make: a kernel of ours without it, and its arguments.
        old, new: text of the kernel, and what it becomes.
        check: what reports it.
        file: where, as `#line` names parts of a text.
    """

    name: str
    make: Callable[[], Made]
    old: str
    new: str
    check: str
    file: str


def weighted(make: Any, m: int, n: int, k: int, **options: Any) -> Callable[[], Made]:
    def made() -> Made:
        given = Weighted(m, n, k, FP4, of=np.float32 if options.get("is_float") else np.float16)
        of = float if options.get("is_float") else half
        chosen = {name: each for name, each in options.items() if name != "is_float"}
        return make(FP4, n, of, **chosen), given.values()

    return made


def columns(rows: int) -> Callable[[], Made]:
    def made() -> Made:
        weights = WordColumns("fp4", 32)
        packed = weights.pack(drawn(0, rows, 64))
        values = {"matrix": packed.matrix, "scales": packed.scales, "x": drawn(1, 64)}
        return gemv_columns(weights, rows), values

    return made


def normal() -> Made:
    packed = format_of("f32").pack(drawn(0, 5, 37))
    kernel = fused_gemv([format_of("f32")], [5], norm=1e-5)
    x, gamma = drawn(1, 37), drawn(2, 37)
    return kernel, {"matrix": packed.matrix, "scales": packed.scales, "x": x, "gamma": gamma}


def normalised() -> Made:
    x = drawn(0, 2, 100)
    return layer_norm(), {"x": x, "weight": drawn(1, 100), "bias": drawn(2, 100)}


def attending() -> Made:
    random = np.random.default_rng(0)
    weights = format_of("f32")
    keys, values = (weights.pack(random.normal(size=(20, 32))).matrix for _ in range(2))
    given = {
        "q": random.normal(size=(1, 1, 32)).astype(np.float32),
        "keys": keys.reshape(1, 20, 1, -1),
        "values": values.reshape(1, 20, 1, -1),
        "positions": np.array([19], np.int32),
        "sequences": np.zeros(1, np.uint32),
    }
    return attention(32, weights), given


def sampling() -> Made:
    return sample(), {"x": drawn(0, 1, 500)}


def shifted() -> Made:
    weights = format_of("f16")
    packed = weights.pack(drawn(0, 32800, 8))
    kernel = gemm(weights, 32800, half, epilogue=[bias(float)], pipeline=SMALL)
    x = drawn(1, 1, 8, of=np.float16)
    values = {"matrix": packed.matrix, "scales": packed.scales, "x": x}
    return kernel, values | {"bias": drawn(2, 32800)}


FAULTS = [
    Fault(
        "rows beyond the last return in front of a barrier (TB WarpLayoutStage, N % 8)",
        columns(20),
        "    float sums[ROWS] = {};\n",
        "    if (first >= rows) {\n        return;\n    }\n    float sums[ROWS] = {};\n",
        "barrier",
        "gemv_columns.metal",
    ),
    Fault(
        "simdgroups without rows return in front of a barrier (MM mmfp4_gemm)",
        weighted(gemm, 5, 16, 40, pipeline=SMALL),
        "    Sums sums[ALONG_M][ALONG_N];\n",
        "    if (row + top >= params->m) {\n        return;\n    }\n"
        "    Sums sums[ALONG_M][ALONG_N];\n",
        "barrier",
        "product.h",
    ),
    Fault(
        "gamma is read behind the last column (TB FFN's tail)",
        normal,
        "gamma[min(k + i, columns - 1)]",
        "gamma[k + i]",
        "bounds",
        "gemv_parts.metal",
    ),
    Fault(
        "vectors are loaded in eights behind the last column (TB QKV's tail)",
        normal,
        "const float value = float(from[min(i, last)]);",
        "const float value = float(from[i]);",
        "bounds",
        "gemv_parts.metal",
    ),
    Fault(
        "a column of a bias is a short (TB GEMM's apply_bias)",
        shifted,
        "epilogue(float(own[e]), uint(at), c)",
        "epilogue(float(own[e]), uint(at), uint(short(c)))",
        "bounds",
        "gemm_f16_bias.metal",
    ),
    Fault(
        "a shuffle takes from lanes that are not there (TB sampler)",
        attending,
        "score += simd_shuffle_xor(score, step);",
        "if ((lane & step) == 0) { score += simd_shuffle_down(score, step); }",
        "init",
        "attention.metal",
    ),
    Fault(
        "barriers of the threadgroup in a simdgroup's edge of a tile (MM striped)",
        weighted(gemm, 12, 16, 40, pipeline=SMALL, is_float=True),
        "        simdgroup_barrier(mem_flags::mem_threadgroup);\n        for (uint e = lane",
        "        threadgroup_barrier(mem_flags::mem_threadgroup);\n        for (uint e = lane",
        "barrier",
        "matrices.h",
    ),
    Fault(
        "all simdgroups stage their edges in the same room (MM kernels.py)",
        weighted(gemm, 12, 16, 40, pipeline=SMALL),
        "(a_tiles) + own * STAGED * 64;",
        "(a_tiles);",
        "race",
        "matrices.h",
    ),
    Fault(
        "scales are advanced too far from the second group on (mlx#4201)",
        weighted(gemm, 5, 16, 40, pipeline=SMALL),
        "ulong(k / 8) * rows + row;\n        const float scale",
        "ulong(k / 8 * 2) * rows + row;\n        const float scale",
        "bounds",
        "program_source.metal",
    ),
    Fault(
        "no barrier behind a mean (llama.cpp#3057)",
        normalised,
        "    threadgroup_barrier(mem_flags::mem_threadgroup);  // partial may still be read from "
        "before\n",
        "",
        "race",
        "shared.h",
    ),
    Fault(
        "histograms are not waited for (TB sampler's merge)",
        sampling,
        "        threadgroup_barrier(mem_flags::mem_threadgroup);\n",
        "",
        "race",
        "sampling.metal",
    ),
]
QUICK = "a shuffle takes"


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(
            each, id=each.name, marks=() if each.name.startswith(QUICK) else pytest.mark.slow
        )
        for each in FAULTS
    ],
)
def test_a_fault_that_was_made_elsewhere_is_reported(fault: Fault) -> None:
    kernel, values = fault.make()
    assert not kernel.check(**values).findings
    assert fault.old in kernel.source
    kernel.declared.source = kernel.source.replace(fault.old, fault.new)
    damaged = Kernel(kernel.declared, grid=kernel.grid_of)
    vars(damaged.declared).pop("library", None)
    findings = damaged.check(**values).findings
    found = [each for each in findings if each.check == fault.check]
    files = {
        site.file
        for each in found
        for party in each.parties
        for site in (party.site, *party.site.inlined)
    }
    assert fault.file in files, (fault.name, findings)


def test_kernels_of_one_name_and_different_texts_are_different_kernels() -> None:
    made = []
    for number in (1, 2):
        source = (
            "kernel void same(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]])"
            f" {{ y[i] = {number}; }}"
        )
        declared = Standalone(source, "same", {"y": output(float, (4,))})
        made.append(Kernel(declared, grid=per_element("y", threads=4))().tolist())
    assert made == [[1] * 4, [2] * 4]


@pytest.mark.parametrize("kind", ["gemv", pytest.param("gemm", marks=pytest.mark.slow)])
def test_weights_of_zeros_do_not_hide_what_is_no_number(kind: str) -> None:
    # MM skips words of zeros, and what is infinite vanishes.
    packed = FP4.pack(np.zeros((9, 16), np.float32))
    x = np.zeros((1, 16), np.float16)
    x[0, 3] = np.inf
    make = {"gemv": gemv(FP4, 9, half), "gemm": gemm(FP4, 9, half, pipeline=SMALL)}[kind]
    assert np.isnan(make(matrix=packed.matrix, scales=packed.scales, x=x)).all()


def test_weights_of_tests_are_not_all_zeros() -> None:
    # jax#30467: quantisation made zeros of everything, and tests compared 0 with 0.
    given = Weighted(3, 20, 64, FP4)
    numbers = FP4.unpack(given.packed())
    assert (numbers != 0).mean() > 0.8 and len(np.unique(numbers)) > 50


@pytest.mark.slow
def test_sums_of_halves_are_far_worse_than_those_of_floats() -> None:
    # candle#3409: half accumulation adds up over k.
    given = Weighted(4, 16, 4096, WordColumns("fp4", 128), seed=3)
    expected = given.values()["x"].astype(np.float64) @ given.weights.unpack(given.packed()).T
    errors = []
    for accumulator in (FLOAT, HALF):
        pipeline = replace(MARLIN["decode"], accumulator=accumulator)
        made = gemm(given.weights, 16, half, pipeline=pipeline)(**given.values())
        errors.append(np.abs(made - expected).max())
    assert errors[1] > 4 * errors[0]


def test_rows_that_nobody_computes_are_no_numbers() -> None:
    # TB's ThreadLayoutStage takes the threadgroup's place for the row: an eighth is computed.
    given = Weighted(1, 13, 64, FP4)
    kernel = gemv(FP4, 13, half)
    assert not np.isnan(kernel(**given.values())).any()
    kernel.declared.source = kernel.source.replace("gid.x * 8 + lid.x / 32", "gid.x")
    again = Kernel(kernel.declared, grid=kernel.grid_of)
    assert np.isnan(again(**given.values())[0, 2:]).all()


@pytest.mark.slow
def test_an_empty_slice_that_is_counted_without_a_sign_does_not_end_and_is_told() -> None:
    # MM's striped kernel: k_end - k_start of the last of four slices of five tiles is 5 - 6.
    kernel = striped(FP4, 16, half, slices=4, groups=2, pipeline=SMALL).kernels[0]
    values = Weighted(16, 16, 80, FP4).values()
    assert not kernel.check(**values).findings
    for old, new in (
        ("const uint first = min(slice * share, tiles);", "const uint first = slice * share;"),
        (
            "for (uint tile = first; tile < last; ++tile) {",
            "const uint count = last - first;\n"
            "        for (uint i = 0, tile = first; i < count; ++i, ++tile) {",
        ),
    ):
        assert old in kernel.source
        kernel.declared.source = kernel.source.replace(old, new)
    with pytest.raises(LaunchError, match=r"does not end|too long|fuel|steps"):
        kernel(**values)

"""The FP4 pipelines: right for ragged sizes, the same to the bit in all forms, without findings."""

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from assay.compiler.foundry.structs.names import HALF
from assay.foundry import FoundryError, Kernel, WordColumns, format_of
from assay.foundry.library import gemm, matmul
from assay.foundry.library import marlin as marlin_form
from assay.foundry.products import MARLIN, Pipeline, Simdgroups, Striped, Tile, striped
from assay.foundry.types import bfloat, half
from tests.assay.foundry.factors import Weighted, assert_product, drawn

FP4 = WordColumns("fp4", 8)
"""Groups of eight, so that k may end within any tile."""
TILES = [
    Tile(64, 64, 32),
    Tile(64, 64, 16),
    Tile(32, 64, 32),
    Tile(32, 32, 32),
    Tile(48, 48, 32),
    Tile(16, 64, 32),
]
RAGGED = [(1, 1, 8), (64, 64, 32), (61, 70, 64), (65, 63, 88), (7, 130, 120)]
"""m, n, k: one element; whole tiles; ragged ones; from one to four tiles of k of 32."""
SMALL = {
    "three_stages_divergent": Pipeline(
        tile=Tile(16, 16, 16), buffers=3, by=Simdgroups(2, 1), loaders=2
    ),
    "hybrid": Pipeline(tile=Tile(16, 16, 16), buffers=3, weights="fused"),
    "async": Pipeline(tile=Tile(16, 16, 16), buffers=2, is_async=True),
    "async_packed": Pipeline(tile=Tile(16, 16, 16), buffers=2, is_async=True, weights="packed"),
    "async_packed_deep": Pipeline(
        tile=Tile(16, 16, 16), buffers=3, is_async=True, weights="packed"
    ),
}
KNOWN: dict[Any, Kernel] = {}


def marlin(pipeline: Pipeline, columns: int, element: Any = half) -> Kernel:
    key = (pipeline, columns, element)
    if key not in KNOWN:
        KNOWN[key] = gemm(FP4, columns, element, pipeline=pipeline)
    return KNOWN[key]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SMALL)
def test_pipelines_are_right_for_ragged_sizes_and_one_to_four_tiles_of_k(name: str) -> None:
    for seed, (m, k) in enumerate([(1, 8), (16, 16), (17, 32), (35, 40), (3, 64)]):
        given = Weighted(m, 37, k, FP4, seed=seed)
        given.check(marlin(SMALL[name], 37)(**given.values()))


def test_all_pipelines_give_the_same_bits() -> None:
    given = Weighted(35, 37, 120, FP4)
    made = [marlin(pipeline, 37)(**given.values()).tobytes() for pipeline in SMALL.values()]
    assert len(set(made)) == 1
    again = marlin(SMALL["hybrid"], 37)(**given.values()).tobytes()
    assert again == made[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["three_stages_divergent", "async", "async_packed", "async_packed_deep"]
)
def test_a_pipeline_of_roles_has_no_findings(name: str) -> None:
    given = Weighted(17, 37, 40, FP4)
    assert not marlin(SMALL[name], 37).check(**given.values()).findings


@pytest.mark.parametrize(("name", "count"), [("async", 1), ("async_packed", 2)])
def test_a_copy_that_nobody_waits_for_is_reported(name: str, count: int) -> None:
    given = Weighted(17, 37, 40, FP4)
    kernel = gemm(FP4, 37, half, pipeline=SMALL[name])
    wait = f"wait_for_copies({count}, copies);"
    assert wait in kernel.declared.source
    kernel.declared.source = kernel.declared.source.replace(wait, "")
    kinds = {each.kind for each in kernel.check(**given.values()).findings}
    assert kinds == {"copy-not-waited"}


@pytest.mark.slow
@pytest.mark.parametrize("turned", [(False, True), (True, False)])
def test_both_factors_are_copied_asynchronously(turned: tuple[bool, bool]) -> None:
    kernel = matmul(float, turned=turned, pipeline=replace(SMALL["async"], buffers=3))
    for m, n, k in [(1, 1, 1), (16, 16, 48), (35, 19, 70)]:
        a, b = drawn(0, m, k), drawn(1, k, n)
        values = {"a": a.T if turned[0] else a, "b": b.T if turned[1] else b}
        assert_product(kernel(**values), a, b)
        assert not kernel.check(**values).findings


def test_weights_without_words_are_not_copied_packed() -> None:
    with pytest.raises(FoundryError, match=r"q4_0 has no words .* fp4_128, nf4_128, u4_128"):
        gemm(format_of("q4_0"), 37, half, pipeline=SMALL["async_packed"])
    with pytest.raises(FoundryError, match="packed weights are those of a format"):
        matmul(half, pipeline=SMALL["async_packed"])


@pytest.mark.parametrize("kind", ["nf4", "u4"])
def test_words_of_other_codes_are_copied_packed_and_fused(kind: Any) -> None:
    weights = WordColumns(kind, 8)
    for name in ("async_packed", "hybrid"):
        for m, k in [(1, 8), (17, 40)]:
            given = Weighted(m, 37, k, weights)
            given.check(gemm(weights, 37, half, pipeline=SMALL[name])(**given.values()))


def test_a_form_that_there_is_not_is_refused_with_those_there_are() -> None:
    with pytest.raises(FoundryError, match=r"there is no four_stages; there are single, two_st"):
        marlin_form(FP4, 8, form="four_stages")


def forms() -> list[Any]:
    """Every form on every tile that it can have."""
    found = [
        pytest.param(replace(pipeline, tile=tile), id=f"{name}-{tile}")
        for name, pipeline in MARLIN.items()
        for tile in (TILES if name in ("two_stages", "three_stages") else [pipeline.tile])
    ]
    small = replace(MARLIN["three_stages_divergent"], tile=Tile(48, 48, 32), by=Simdgroups(1, 2))
    found.append(pytest.param(small, id=f"three_stages_divergent-{small.tile}"))
    found.append(
        pytest.param(replace(MARLIN["hybrid"], tile=Tile(48, 48, 32)), id="hybrid-48x48x32")
    )
    return found


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", forms())
def test_every_form_on_every_tile_is_right_and_clean(pipeline: Pipeline) -> None:
    expected = MARLIN["single"]
    for seed, (m, n, k) in enumerate(RAGGED):
        given = Weighted(m, n, k, FP4, seed=seed)
        kernel = marlin(pipeline, n)
        made = kernel(**given.values())
        given.check(made)
        assert made.tobytes() == marlin(expected, n)(**given.values()).tobytes()
        assert not kernel.check(**given.values()).findings


@pytest.mark.slow
@pytest.mark.parametrize("name", MARLIN)
def test_half_accumulators_and_bfloat_stay_within_their_bounds(name: str) -> None:
    for m, n, k in RAGGED:
        given = Weighted(m, n, k, FP4)
        kernel = marlin(replace(MARLIN[name], accumulator=HALF), n)
        made = kernel(**given.values())
        given.check(made, sums=np.float16)
        wide = Weighted(m, n, k, FP4, of=ml_dtypes.bfloat16)
        wide.check(marlin(MARLIN[name], n, bfloat)(**wide.values()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["single", "two_stages", "three_stages_divergent", "hybrid"])
@pytest.mark.parametrize("slices", [1, 3, 4, 16])
def test_stripes_are_right_for_empty_slices_and_any_number_of_threadgroups(
    name: str, slices: int
) -> None:
    bits: dict[int, set[bytes]] = {}
    for groups in (1, 5, 40):
        kernel: Striped = striped(
            FP4, 70, half, slices=slices, groups=groups, pipeline=MARLIN[name]
        )
        for k in (0, 32, 160):  # no tile, one tile, five tiles of k
            packed = FP4.pack(drawn(k, 70, max(k, 8)))
            given = Weighted(65, 70, k, FP4, seed=k) if k else None
            values = (
                given.values()
                if given
                else {
                    "matrix": packed.matrix,
                    "scales": packed.scales,
                    "x": np.empty((65, 0), np.float16),
                }
            )
            made = kernel(**values)
            if given:
                given.check(made)
            else:
                assert not made.any()
            assert not [each for report in kernel.check(**values) for each in report.findings]
            bits.setdefault(k, set()).add(made.tobytes())
    assert all(len(each) == 1 for each in bits.values())


@pytest.mark.slow
def test_results_are_the_same_to_the_bit_on_any_number_of_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = Weighted(130, 200, 256, format_of("fp4_128"))
    made = set()
    for workers in ("1", "2", "5"):
        monkeypatch.setenv("ASSAY_WORKERS", workers)
        kernel = gemm(format_of("fp4_128"), 200, half, pipeline=MARLIN["three_stages"])
        made |= {kernel(**given.values()).tobytes() for _ in range(2)}
    assert len(made) == 1

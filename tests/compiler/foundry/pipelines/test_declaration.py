"""Pipelines that do not come out are refused when declared, by the name of the rule they break."""

from typing import Any

import pytest

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.pipelines import MARLIN, Budget, Pipeline, Simdgroups, Threads, Tile
from assay.compiler.foundry.structs.names import FLOAT, HALF, INT

WHOLE = Tile(64, 64, 32)


def budget(tile: Tile = WHOLE, *, stated: Any = None, **declared: Any) -> Budget:
    pipeline = Pipeline(tile=tile, **declared)
    return Budget(pipeline=pipeline, element=HALF, weight_bits=4, stated=stated)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        # Half of the tile by 2x4 matrices for each of 2x2 simdgroups, as a design note had it.
        (
            lambda: Pipeline(tile=WHOLE, by=Simdgroups(2, 2, each=(2, 4))),
            r"2x2 simdgroups with 2x4 matrices of 8x8 compute 32x64 of 64x64; rows 32 to 63 are "
            r"never computed \[tile-coverage\]",
        ),
        # Two simdgroups that compute need 4x8 each; 4x4 leave half of the columns.
        (
            lambda: Pipeline(tile=WHOLE, by=Simdgroups(2, 1, each=(4, 4)), buffers=3, loaders=2),
            r"compute 64x32 of 64x64; columns 32 to 63 are never computed \[tile-coverage\]",
        ),
        (
            lambda: Pipeline(tile=Tile(48, 48, 32), by=Simdgroups(4, 1)),
            r"4x1 simdgroups with 1x6 .* compute 32x48 of 48x48; rows 32 to 47 are never computed",
        ),
        (
            lambda: Pipeline(tile=Tile(8, 64, 32), by=Simdgroups(2, 2)),
            r"compute 16x64 of 8x64; rows 8 to 15 are not in it \[tile-coverage\]",
        ),
        (
            lambda: Pipeline(tile=Tile(64, 64, 32), by=Threads(16, 12)),
            r"16x12 threads with 4x5 elements compute 64x60 of 64x64; columns 60 to 63 are never",
        ),
        (lambda: Tile(64, 60, 32), r"tile 64x60x32: its sides are multiples of 8"),
        (lambda: Tile(64, 64, 0), r"tile 64x64x0: its sides are multiples of 8, at least one"),
        # 192 words for 128 threads: one each leaves a third of the tile as it was.
        (
            lambda: Pipeline(tile=Tile(48, 48, 32), words_per_thread=1),
            r"its part of x has 192 words of 8; 128 threads with 1 each load 128; leave "
            r"words_per_thread away, and they loop \[tile-words\]",
        ),
        # 384 words for 1024 threads: none each, and nothing is ever loaded.
        (
            lambda: Pipeline(tile=Tile(128, 32, 24), by=Simdgroups(8, 4), words_per_thread=0),
            r"384 words of 8; 1024 threads with 0 each load 0",
        ),
        (
            lambda: Pipeline(tile=WHOLE, by=Simdgroups(2, 1), loaders=2, words_per_thread=2),
            r"256 words of 8; 64 threads with 2 each load 128; .*\[tile-words\]",
        ),
        (
            lambda: Pipeline(tile=Tile(64, 64, 8), by=Threads(64, 32)),
            r"2048 threads; a threadgroup has at most 1024.*\[threadgroup-budget\]",
        ),
        (
            lambda: Pipeline(tile=Tile(40, 8, 8), by=Threads(5, 4)),
            r"20 threads; a threadgroup has at most 1024, in whole simdgroups of 32",
        ),
        (lambda: Pipeline(tile=WHOLE, buffers=0), r"0 buffers: .* 1 to 4 \[pipeline-form\]"),
        (lambda: Pipeline(tile=WHOLE, band=0), r"bands of 0 rows of tiles: at least one"),
        (lambda: Pipeline(tile=WHOLE, buffers=5), r"5 buffers: a pipeline has 1 to 4"),
        (lambda: Pipeline(tile=WHOLE, buffers=1, loaders=2), r"need two buffers"),
        (lambda: Pipeline(tile=WHOLE, buffers=1, is_async=True), r"into another buffer than they"),
        (lambda: Pipeline(tile=WHOLE, by=Threads(), weights="fused"), r"are for simdgroups"),
        (lambda: Pipeline(tile=WHOLE, weights="packed"), r"packed weights are copied asynchronou"),
        (lambda: Pipeline(tile=WHOLE, accumulator=INT), r"sums are float or half"),
        (
            lambda: Budget(pipeline=Pipeline(tile=WHOLE, buffers=3), element=FLOAT),
            r"3 buffers: 24576 bytes for x, 24576 for weights, 0 for results, 49152 in all; a "
            r"threadgroup has 32768 \[threadgroup-budget\]",
        ),
    ],
)
def test_what_does_not_come_out_is_refused(make: Any, message: str) -> None:
    with pytest.raises(FoundryError, match=message):
        make()


@pytest.mark.parametrize(
    ("stated", "tile", "declared", "message"),
    [
        ({"read_b": 512}, WHOLE, {}, "read_b is stated as 512 bytes; it comes to 1,024"),
        (
            {"total": 18432},
            Tile(64, 64, 16),
            {"buffers": 3},
            "total is stated as 18,432 bytes; it comes to 12,288",
        ),
        (
            {"left": 19712},
            WHOLE,
            {"buffers": 3, "weights": "fused"},
            "left is stated as 19,712 bytes; it comes to 19,968",
        ),
        (
            {"a_tiles": 15360},
            Tile(16, 64, 32),
            {"buffers": 3},
            "a_tiles is stated as 15,360 bytes; it comes to 3,072",
        ),
    ],
)
def test_bytes_that_a_plan_states_are_held_to_its_declaration(
    stated: dict[str, int], tile: Tile, declared: dict[str, Any], message: str
) -> None:
    with pytest.raises(FoundryError, match=rf"{message} *\[threadgroup-budget\]"):
        budget(tile, stated=stated, **declared)


@pytest.mark.parametrize(
    ("tile", "declared", "stated"),
    [
        (WHOLE, {"buffers": 2}, {"a_tile": 4096, "b_tile": 4096, "total": 16384}),
        (WHOLE, {"buffers": 3}, {"total": 24576, "left": 8192, "read_a": 4096, "read_b": 1024}),
        (WHOLE, {"buffers": 4}, {"total": 32768, "left": 0}),
        (Tile(64, 64, 16), {"buffers": 3}, {"a_tile": 2048, "b_tile": 2048, "total": 12288}),
        (Tile(32, 64, 32), {"buffers": 3}, {"a_tile": 2048, "b_tile": 4096, "total": 18432}),
        (Tile(32, 32, 32), {"buffers": 3}, {"total": 12288}),
        (Tile(48, 48, 32), {"buffers": 3}, {"a_tile": 3072, "b_tile": 3072, "total": 18432}),
        (Tile(16, 64, 32), {"buffers": 3}, {"a_tiles": 3072, "total": 15360}),
        (WHOLE, {"buffers": 3, "weights": "fused"}, {"decoded": 512, "total": 12800}),
        (WHOLE, {"buffers": 1, "weights": "fused"}, {"staging": 0, "total": 4608}),
        (
            WHOLE,
            {"buffers": 2, "weights": "packed", "is_async": True},
            {"packed": 1024, "total": 17408},
        ),
        (
            WHOLE,
            {"buffers": 3, "weights": "packed", "is_async": True},
            {"packed": 3072, "total": 27648},
        ),
    ],
)
def test_bytes_of_a_pipeline(tile: Tile, declared: dict[str, Any], stated: dict[str, int]) -> None:
    assert budget(tile, stated=stated, **declared)


def test_multiplications_of_a_simdgroup_follow_from_its_share() -> None:
    assert MARLIN["two_stages"].share == (4, 4)
    assert MARLIN["two_stages"].multiplications == 64
    assert MARLIN["three_stages_divergent"].share == (4, 8)
    assert MARLIN["three_stages_divergent"].multiplications == 128
    assert Pipeline(tile=Tile(48, 48, 32)).share == (3, 3)
    assert Pipeline(tile=WHOLE, by=Threads()).multiplications == 0

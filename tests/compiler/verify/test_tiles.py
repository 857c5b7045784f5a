"""No iteration of a ring's loop reads a stale tile, and none is lost; else that is not proved."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from assay.compiler.msl import compile_library
from assay.compiler.verify import Launch
from assay.compiler.verify.rings import Rings, Rotation, rotations_of
from assay.proofs.names import names_of
from assay.proofs.rings import rings_json, rings_text

from .sources import NO_RACES

RIGHT = """\
#include <metal_stdlib>
using namespace metal;
kernel void k(device const float* x, device float* y, constant uint& n, constant uint& m,
              uint t [[thread_index_in_threadgroup]], uint g [[thread_position_in_grid]]) {
    threadgroup float tiles[3][64];
    float sum = 0;
    if (0 < n) tiles[0][t] = x[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (1 < n) tiles[1][t] = x[64 + t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < n; ++k) {
        if (k + 2 < n) tiles[(k + 2) % 3][t] = x[64 * (k + 2) + t];
        sum += tiles[k % 3][63 - t];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    y[g] = sum;
}
"""
FORMS = {
    "as it is": (),
    "by fewer loaders": (
        ("if (k + 2 < n) tiles[(k + 2) % 3][t] = x[64 * (k + 2) + t];", "LOAD"),
        (
            "LOAD",
            "if (k + 2 < n && t < 16) for (uint i = t; i < 64; i += 16) "
            "tiles[(k + 2) % 3][i] = x[64 * (k + 2) + i];",
        ),
    ),
    "computed": ((" = x[", " = 2 * x["),),
    "read by some": (("sum +=", "if (t >= 32) sum +="),),
    "read in an inner loop": (
        ("sum += tiles[k % 3][63 - t]", "for (uint i = 0; i < 4; ++i) sum += tiles[k % 3][i]"),
    ),
    "with what is beyond": (
        ("x[t];", "m > t ? x[t] : 0;"),
        ("x[64 + t];", "m > 64 + t ? x[64 + t] : 0;"),
        ("x[64 * (k + 2) + t];", "m > 64 * (k + 2) + t ? x[64 * (k + 2) + t] : 0;"),
    ),
}
_ROWS = (
    ("x[t];", "x[m * (t / 8) + t % 8];"),
    ("x[64 + t];", "x[m * (t / 8) + (t % 8 + 8)];"),
    ("x[64 * (k + 2) + t];", "x[m * (t / 8) + 8 * (k + 2) + t % 8];"),
)
FORMS["of a matrix"] = _ROWS
STALE = {
    "a row of a matrix too far": (*_ROWS, ("m * (t / 8) + t % 8", "m * (t / 8 + 1) + t % 8")),
    "rows of another length": (*_ROWS, ("m * (t / 8) + t % 8", "n * (t / 8) + t % 8")),
    "the loop loads a tile again": (("64 * (k + 2)", "64 * (k + 1)"),),
    "the loop leaves a tile out": (("64 * (k + 2)", "64 * (k + 3)"),),
    "a wrong tile before the loop": (("x[64 + t]", "x[t]"),),
    "tiles before the loop exchanged": (
        ("x[t]", "x[128 + t]"),
        ("x[64 + t]", "x[t]"),
        ("128", "64"),
    ),
    "all a tile late": (
        ("k + 2) + t", "k + 3) + t"),
        ("x[64 + t]", "x[128 + t]"),
        ("x[t]", "x[64 + t]"),
    ),
    "loaded one buffer too early": (("tiles[(k + 2)", "tiles[(k + 1)"),),
    "read one buffer too early": (("tiles[k % 3]", "tiles[(k + 1) % 3]"),),
    "two buffers": (("% 3", "% 2"), ("tiles[3]", "tiles[2]")),
    "a part of the tile": (("if (k + 2 < n)", "if (k + 2 < n && t < 32)"),),
    "columns turned": (("(k + 2) + t]", "(k + 2) + 63 - t]"),),
    "other numbers": (("= x[t]", "= 2 * x[t]"),),
    "decoded as another type": (
        ("= x[t]", "= ((device const half*)x)[t]"),
        ("= x[64 + t]", "= ((device const half*)x)[64 + t]"),
        ("= x[64 * (k + 2) + t]", "= ((device const bfloat*)x)[64 * (k + 2) + t]"),
    ),
    "other conditions": (("= x[t]", "= m > t ? x[t] : 0"),),
    "a second write": (("sum +=", "if (t == 7) tiles[(k + 2) % 3][t] = 0; sum +="),),
    "a buffer that does not go round": (("sum +=", "if (k == m) tiles[0][t] = 0; sum +="),),
    "one row more": (
        ("x[64 * (k + 2) + t];", "x[64 * (k + 2) + t], tiles[(k + 2) % 3][t + 1] = 0;"),
    ),
}
LOST = {
    "the last iterations are missing": (("k < n;", "k < m;"),),
    "loaded for iterations that there are not": (("if (k + 2 < n)", ""),),
    "loaded before a loop that may not be": (("if (0 < n)", ""),),
    "read in some iterations": (("sum +=", "if (k % 2 == 0) sum +="),),
    "not read in the last iterations": (("sum +=", "if (k + 5 < n) sum +="),),
    "read as data say": (("sum +=", "if (x[k] > 0) sum +="),),
    "read in one threadgroup": (("sum +=", "if (g / 64 == m) sum +="),),
    "loaded one buffer too early": (("tiles[(k + 2)", "tiles[(k + 1)"),),
}


QUICK = (
    "as it is",
    "the loop leaves a tile out",
    "read one buffer too early",
    "the last iterations are missing",
    "decoded as another type",
    "not read in the last iterations",
)


def named(cases: Iterable[str]) -> list[object]:
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in cases]


def ring(*changes: tuple[str, str]) -> Rotation:
    source = RIGHT
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    kernel = compile_library(source).function("k")
    launch = Launch(size=(64, 1, 1), names=names_of(kernel), holds=("n <= 1000000", "m <= 1000000"))
    rings = Rings(rotations=tuple(rotations_of(kernel.program(), launch, NO_RACES)))
    (found,) = rings.rotations
    assert found.tiles is not None
    assert rings_json(rings)["rotations"][0]["tiles"]["in_order"] is found.tiles.are_in_order
    shown = "\n".join(rings_text(rings))
    told = "proved:    of each tile that is loaded in and before the loop some part is read"
    assert (told in shown) is found.tiles.are_read
    return found


@pytest.mark.parametrize("form", named(FORMS))
def test_tiles_in_order_are_proved_for_all_iterations(form: str) -> None:
    tiles = ring(*FORMS[form]).tiles
    assert tiles is not None
    assert (tiles.are_in_order, tiles.are_read) == (True, True), tiles.obstacles


@pytest.mark.parametrize("fault", named(STALE))
def test_a_stale_tile_is_not_called_the_right_one(fault: str) -> None:
    tiles = ring(*STALE[fault]).tiles
    assert tiles is not None
    assert not tiles.are_in_order
    assert tiles.obstacles


@pytest.mark.parametrize("fault", named(LOST))
def test_a_tile_that_nobody_reads_is_not_called_read(fault: str) -> None:
    tiles = ring(*LOST[fault]).tiles
    assert tiles is not None
    assert not tiles.are_read
    assert tiles.obstacles


def test_the_tile_that_the_first_iteration_reads_is_told() -> None:
    assert ring().tiles.first == 0  # type: ignore[union-attr]
    late = ring(*STALE["all a tile late"]).tiles
    assert late is not None and late.first == 1
    assert "the first iteration reads tile 1" in late.obstacles[0].why


_NARROW = "x[m * (t / 8) + t % 8];"
_WIDE = (
    ("x[t];", _NARROW),
    ("x[64 + t];", "x[m * (t / 8) + (t % 8 + 8)];"),
    ("x[64 * (k + 2) + t];", "x[ulong(m) * (t / 8) + (8 * (k + 2) + t % 8)];"),
)
"""Rows are found by 64 bits in the loop and by 32 before it."""


def _any_rows(*changes: tuple[str, str]) -> Rotation:
    source = RIGHT
    for old, new in (*_WIDE, *changes):
        assert old in source
        source = source.replace(old, new)
    kernel = compile_library(source).function("k")
    launch = Launch(size=(64, 1, 1), names=names_of(kernel), holds=("n <= 1000000",))
    (found,) = rotations_of(kernel.program(), launch, NO_RACES)
    return found


def test_tiles_that_are_in_order_only_if_nothing_wraps_are_told_so() -> None:
    found = _any_rows()
    assert found.tiles is not None
    assert (found.tiles.are_in_order, found.tiles.are_read) == (True, True), found.tiles.obstacles
    assert {each.why for each in found.tiles.rests_on} == {"what is computed here does not wrap"}
    shown = "\n".join(rings_text(Rings(rotations=(found,))))
    assert "      if program_source.metal:7: what is computed here does not wrap" in shown
    (stated,) = rings_json(Rings(rotations=(found,)))["rotations"]
    assert {each["line"] for each in stated["tiles"]["rests_on"]} >= {7}


def test_tiles_that_are_in_order_anyhow_rest_on_nothing() -> None:
    assert ring().tiles.rests_on == ()  # type: ignore[union-attr]


def test_a_wrong_tile_is_not_excused_by_what_does_not_wrap() -> None:
    found = _any_rows((_NARROW, "x[m * (t / 8) + t % 8 + 1];"))
    assert found.tiles is not None
    assert not found.tiles.are_in_order
    assert not found.tiles.rests_on

"""What is told of rings holds of all threadgroups, and of all that is done with the array."""

from __future__ import annotations

import pytest

from assay.compiler.msl import compile_library
from assay.compiler.verify import Launch, Place
from assay.compiler.verify.rings import RESTS_ON, Rings, Rotation, Tiles, rotations_of
from assay.proofs.names import names_of
from assay.proofs.rings import rings_text

from .sources import NO_RACES, SMALL_RING

_READ = "sum += a[k"
_SUM = f"{_READ} % 2][63 - t];"


def _ring(*changes: tuple[str, str], ragged: bool = False, most: int = 1000000) -> Rotation:
    source = SMALL_RING
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    kernel = compile_library(source).function("k")
    holds = ("n > 0", f"n <= {most}")
    launch = Launch(size=(64, 1, 1), names=names_of(kernel), holds=holds, ragged=ragged)
    (found,) = rotations_of(kernel.program(), launch, NO_RACES)
    return found


def _tiles(*changes: tuple[str, str]) -> Tiles:
    tiles = _ring(*changes).tiles
    assert tiles is not None
    return tiles


def test_tiles_that_each_threadgroup_reads_are_not_lost() -> None:
    assert _tiles().are_read
    assert _tiles((_READ, f"if (t == 0) {_READ}")).are_read
    assert _tiles((_READ, f"if (t == 63) {_READ}")).are_read


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "change",
    [
        (_READ, f"if (g == 0) {_READ}"),
        (_READ, f"if (g < 1 || k > 5) {_READ}"),
        (_READ, f"if (g != 1) {_READ}"),
        ("if (k + 1 < n)", "if (k + 1 < n + min(g, 1u))"),
    ],
    ids=["the first", "the first at the beginning", "all but one", "the first loads less"],
)
def test_tiles_that_some_threadgroups_do_not_read_may_be_lost(change: tuple[str, str]) -> None:
    tiles = _tiles(change)
    assert not tiles.are_read
    assert tiles.obstacles


_THREE = (
    ("a[2]", "a[3]"),
    ("a[0][t] = x[t]", "a[0][t] = x[t]; a[1][t] = x[64 + t]; a[2][t] = 0"),
    (
        "if (k + 1 < n) a[(k + 1) % 2][t] = x[64 * (k + 1) + t];",
        "a[(k + 2) % 3][t] = x[64 * (k + 2) + t]; ALL;",
    ),
    (_SUM, f"{_SUM.replace('2', '3')}\nMORE"),
)
_BESIDE = {
    "a buffer that stays": "sum += a[0][(t + 32) % 64];",
    "in a loop with barriers within": "for (uint j = 0; j < 3; ++j) { sum += a[j][t]; ALL; }",
    "a buffer that data choose": "sum += a[uint(x[k]) % 3][(t + 32) % 64];",
}


def test_a_ring_of_which_all_accesses_go_round_is_distinct() -> None:
    ring = _ring(*_THREE, ("MORE", ""))
    assert ring.is_distinct
    assert not ring.beside


@pytest.mark.parametrize("more", _BESIDE.values(), ids=_BESIDE)
def test_nothing_is_said_of_buffers_that_are_accessed_out_of_turn(more: str) -> None:
    ring = _ring(*_THREE, ("MORE", more))
    assert not ring.is_proved
    assert not ring.is_distinct
    line = 1 + next(at for at, text in enumerate(SMALL_RING.split("\n")) if _SUM in text)
    assert [each.line for each in ring.beside] == [line + 1]
    shown = "\n".join(rings_text(Rings(rotations=(ring,))))
    assert "proved:    for all k, no buffer" not in shown
    assert f"program_source.metal:{line + 1}: this does not go round, and is not shown" in shown


def test_no_tile_is_said_to_be_in_order_where_threadgroups_may_not_be_full() -> None:
    ring = _ring(ragged=True)
    assert ring.is_proved
    assert ring.tiles is not None and not ring.tiles.proved
    assert "threadgroups that are not full" in ring.tiles.obstacles[0].why


_FROM = ("x[t]", "x[64 * (OFF) + t]"), ("x[64 * (k + 1) + t]", "x[64 * (k + 1 + (OFF)) + t]")
_LATE = {
    "some threadgroups": "g == 0 ? 0 : 1",
    "some threads": "t >= 32 ? 1 : 0",
    "some threads of some threadgroups": "g > 1 && t == 3 ? 2 : 0",
}
_ELSEWHERE = {
    "threads in rows": "n * (t / 8)",
    "threadgroups in parts of it": "n * g",
    "threadgroups in rows of a known length": "1024 * g",
}


@pytest.mark.parametrize("off", _LATE.values(), ids=_LATE)
def test_tiles_are_not_in_order_where_some_begin_a_tile_late(off: str) -> None:
    tiles = _tiles(*_FROM, ("OFF", off))
    assert not tiles.are_in_order
    assert "may begin with tile" in tiles.obstacles[0].why


@pytest.mark.parametrize("off", _ELSEWHERE.values(), ids=_ELSEWHERE)
def test_tiles_are_in_order_where_others_begin_elsewhere(off: str) -> None:
    assert _tiles(*_FROM, ("OFF", off)).are_in_order


def test_tiles_are_in_order_where_others_begin_behind_the_loops_last() -> None:
    changes = *_FROM, ("OFF", "2 * g")
    short, longer = (_ring(*changes, most=most).tiles for most in (2, 3))
    assert short is not None and short.are_in_order
    assert longer is not None and not longer.are_in_order


def test_of_a_tile_that_is_read_in_part_it_is_told_that_some_is_read() -> None:
    ring = _ring(("63 - t", "31 - t % 32"))
    assert ring.tiles is not None and ring.tiles.are_read
    shown = "\n".join(rings_text(Rings(rotations=(ring,))))
    what = "of each tile that is loaded in and before the loop some part is read"
    assert f"proved:    {what}: none is lost whole" in shown


_POINTED = """\
#include <metal_stdlib>
using namespace metal;
#define ALL threadgroup_barrier(mem_flags::mem_threadgroup)
struct Both { device float* x; device float* y; };
kernel void k(constant Both& both, constant uint& n, uint t [[thread_index_in_threadgroup]]) {
    threadgroup float a[2][64];
    a[0][t] = both.x[t];
    ALL;
    for (uint k = 0; k < n; ++k) {
        if (k + 1 < n) a[(k + 1) % 2][t] = both.x[64 * (k + 1) + t];
        both.y[64 * k + t] = a[k % 2][63 - t];
        ALL;
    }
}
"""


@pytest.mark.parametrize("is_same", [False, True])
def test_tiles_of_memory_that_the_loop_writes_by_another_pointer_may_be_stale(
    is_same: bool,
) -> None:
    x, y = Place(0, 0, "x"), Place(1, 0, "y")
    places = {(0, 0): x, (0, 8): x if is_same else y}
    kernel = compile_library(_POINTED).function("k")
    launch = Launch(
        size=(64, 1, 1), names=names_of(kernel), holds=("n <= 1000000",), pointers=places
    )
    (ring,) = rotations_of(kernel.program(), launch, NO_RACES)
    assert ring.tiles is not None and ring.tiles.are_in_order is not is_same


def test_what_is_read_both_before_and_behind_writes_is_said_to_be_read_in_no_iteration() -> None:
    ring = _ring(("if (k + 1 < n) a[", "sum += a[k % 2][t]; if (k + 1 < n) a["))
    assert ring.ahead is None
    assert _ring().ahead == 1


_PACKED = (
    "kernel void",
    "struct __attribute__((packed)) P { float v; };\nkernel void",
)
_BEFORE = "a[0][t] = x[t];"
_LATER = f"{_BEFORE} ALL; *(threadgroup P*)((threadgroup uchar*)a + OFF) = P{{7}};"


@pytest.mark.parametrize("off", ["4 * t + 2", "4 * t + 1", "4 * t"])
def test_tiles_that_a_store_before_the_loop_straddles_are_not_in_order(off: str) -> None:
    assert not _tiles(_PACKED, (_BEFORE, _LATER), ("OFF", off)).are_in_order


def test_tiles_that_a_store_in_the_loop_straddles_are_not_in_order() -> None:
    place = "(threadgroup uchar*)a[(k + 1) % 2] + 4 * t + 2"
    store = f"if (k + 1 < n && t < 63) *(threadgroup P*)({place}) = P{{7}};"
    assert not _tiles(_PACKED, (_READ, f"{store} {_READ}")).are_in_order


_UNSET = {
    "a write in the loop": (_READ, f"if (q == 4) a[(k + 1) % 2][t] = 3; {_READ}"),
    "a write before the loop": (_BEFORE, f"{_BEFORE} if (q == 4) a[0][t] = 9;"),
    "a read": (_READ, f"if (q == 3) {_READ}"),
    "a read and a write": (
        "if (k + 1 < n) a[",
        "if (q == 3) sum += a[k % 2][t]; if (k + 1 < n && q == 3) a[",
    ),
    "what is stored": ("= x[64 * (k + 1) + t];", "= q == 3 ? x[64 * (k + 1) + t] : 0;"),
    "where it is from": ("= x[64 * (k + 1) + t];", "= x[64 * (k + 1) + t + q - 3];"),
}
_VAIN = {
    "of what is written": ("sum += a", "float vain = a[(k + 1) % 2][t]; sum += a"),
    "of what is read": ("sum += a", "float vain = a[k % 2][t]; sum += a"),
    "behind the loop": ("y[64 * g + t]", "float vain = a[0][63 - t]; y[64 * g + t]"),
}


_SET_BY = {
    "a variable": "uint q; if (n > 5) q = 3;",
    "an array": "uint q[2]; if (n > 5) q[0] = 3;",
    "an array in memory": "uint q[2]; if (n > 5) q[n % 2] = 3;",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("set_by", _SET_BY.values(), ids=_SET_BY)
@pytest.mark.parametrize("change", _UNSET.values(), ids=_UNSET)
def test_nothing_is_proved_of_a_ring_that_depends_on_what_may_have_no_value(
    change: tuple[str, str], set_by: str
) -> None:
    old, new = change
    used = new.replace("q ", "q[0] ") if "[" in set_by else new
    ring = _ring((old, used), ("float sum = 0;", f"float sum = 0; {set_by}"))
    assert not ring.is_proved
    assert ring.tiles is not None and not ring.tiles.proved
    assert all("no value" in each.why for each in ring.tiles.obstacles)


def test_what_has_no_value_and_does_not_touch_the_ring_is_no_matter() -> None:
    ring = _ring(("float sum = 0;", "float sum = 0, q; if (n > 5) q = 3;"), ("= sum", "= sum + q"))
    assert ring.is_proved and ring.tiles is not None and ring.tiles.proved == 2


@pytest.mark.parametrize("change", _VAIN.values(), ids=_VAIN)
def test_nothing_is_proved_of_a_ring_that_is_read_in_vain(change: tuple[str, str]) -> None:
    ring = _ring(change)
    assert not ring.is_proved
    assert ring.tiles is not None and not ring.tiles.proved
    assert "nobody needs" in ring.tiles.obstacles[0].why


def test_nothing_is_proved_of_a_ring_that_may_be_read_unwritten() -> None:
    assert "initialised" in RESTS_ON
    kernel = compile_library(SMALL_RING).function("k")
    answers = tuple(each for each in NO_RACES if each.about != "initialised")
    (ring,) = rotations_of(kernel.program(), Launch(size=(64, 1, 1)), answers)
    assert not ring.is_proved


_LOST = {
    "in a buffer beyond": (("a[2]", "a[3]"), (_BEFORE, f"{_BEFORE} a[2][t] = x[128 + t];")),
    "in a part of a buffer beyond": (
        ("a[2]", "a[3]"),
        (_BEFORE, f"{_BEFORE} a[1][t + 32] = x[t];"),
    ),
    "twice before the loop": ((_BEFORE, f"a[0][t] = x[t + 700]; ALL; {_BEFORE}"),),
    "in part twice before the loop": ((_BEFORE, f"if (t < 5) a[0][t] = 7; ALL; {_BEFORE}"),),
    "twice in the loop": (
        ("if (k + 1 < n)", "if (k + 1 < n) a[(k + 1) % 2][t] = 7; ALL; if (k + 1 < n)"),
    ),
    "behind a loop that is come to again": (
        ("for (uint k", f"for (uint j = 0; j < 3; ++j) {{ {_BEFORE} ALL; for (uint k"),
        (_BEFORE, ""),
        ("y[64 * g + t]", "ALL; a[1][t] = 7; ALL; }\ny[64 * g + t]"),
    ),
}


@pytest.mark.parametrize("changes", _LOST.values(), ids=_LOST)
def test_tiles_that_are_written_where_nobody_reads_them_may_be_lost(
    changes: tuple[tuple[str, str], ...],
) -> None:
    tiles = _tiles(*changes)
    assert not tiles.are_read
    assert tiles.obstacles


@pytest.mark.parametrize("stored", ["sum", "unset"])
def test_what_is_stored_behind_the_loop_is_no_tile_of_it(stored: str) -> None:
    behind = f"float unset; if (n > 5) unset = 3; a[0][t] = {stored}; ALL; sum += a[0][t ^ 1];"
    ring = _ring(("y[64 * g + t]", f"{behind} y[64 * g + t]"))
    assert ring.is_proved and ring.tiles is not None and ring.tiles.proved == 2
    shown = "\n".join(rings_text(Rings(rotations=(ring,))))
    assert "proved:    of each tile that is loaded in and before the loop" in shown

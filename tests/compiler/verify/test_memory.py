"""Memory behind pointers, structs that assumptions speak of, writes of one value, ragged grids."""

from __future__ import annotations

import pytest

from assay.compiler.verify import Place, Pointers

from .sources import proved

_HEAD = "#include <metal_stdlib>\nusing namespace metal;\n//! [kernel.k]\n//! threadgroup = 64\n"
BINDINGS = """\
struct Bindings { device float* a [[id(0)]]; device float* b [[id(1)]]; };
kernel void k(constant Bindings& bound [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    bound.b[i] = bound.a[2 * i];
}
"""
CHOSEN = """\
kernel void k(device const float* x, device MASK float* m, device float* y, constant uint& n,
              uint i [[thread_position_in_grid]]) {
    device const float* p = n ? m + n : nullptr;
    y[i] = p ? x[i] + p[i] : x[i];
    WRITE
}
"""
ROWS = """\
struct Args { int ne0; ulong nb[4]; };
kernel void k(constant Args& args, constant int* shape, device char* y,
              uint t [[thread_index_in_threadgroup]],
              uint2 group [[threadgroup_position_in_grid]]) {
    for (int i = t; i < args.ne0; i += 64)
        *(device float*)(y + group.x * args.nb[1] + group.y * args.nb[2] + 4 * i) = shape[1];
}
"""
STRIDE = """\
kernel void k(constant ulong& n, device const float* x, device const float* w, device float* y,
              uint i [[thread_position_in_grid]]) {
    for (uint at = i; at < n; at += uint(n / 2 + n % 2)) y[at] = sqrt(x[at]) * w[WHICH];
}
"""
STRIDES = """\
kernel void k(constant ulong& n, constant ulong& axes, constant ulong* sizes,
              constant ulong* strides, device const float* x, device float* y,
              uint i [[thread_position_in_grid]]) {
    for (uint at = i; at < n; at += uint(n / 2 + n % 2)) {
        uint left = at, from = 0;
        for (uint d = 0; d < axes; ++d) {
            from += (left % sizes[d]) * strides[d] MORE;
            left /= sizes[d];
        }
        y[at] = x[from] + 1;
    }
}
"""
OF_GRID = """\
kernel void k(device uint* y, uint2 at [[thread_position_in_grid]],
              uint2 grid [[threads_per_grid]]) { y[at.x + grid.x * at.y] = at.y; }
"""
OF_GROUP = """\
kernel void k(device uint* y, uint t [[thread_index_in_threadgroup]],
              uint group [[threadgroup_position_in_grid]],
              uint size [[threads_per_threadgroup]]) { y[group * size + t] = t + group; }
"""


def buffer_races(
    source: str,
    *,
    holds: tuple[str, ...] = (),
    pointers: Pointers | None = None,
    ragged: bool = False,
) -> str:
    """The verdict of the only kernel of a source."""
    found = proved(_HEAD + source, "buffer races", holds=holds, pointers=pointers, ragged=ragged)
    return found["buffer races"].verdict


def test_memory_behind_pointers_that_an_argument_holds_is_each_its_own() -> None:
    assert buffer_races(BINDINGS) == "proved"
    assert buffer_races(BINDINGS.replace("bound.b[i]", "bound.b[i / 2]")) == "refuted"


# The last of four threadgroups reads 4 bytes at 2040.
@pytest.mark.parametrize(
    ("start", "verdict"), [(0, "refuted"), (2040, "refuted"), (2044, "proved")]
)
def test_pointers_into_one_buffer_are_told_apart_by_their_places(start: int, verdict: str) -> None:
    pointers = {(0, 0): Place(0, 0, "heap"), (0, 8): Place(0, start, "heap")}
    assert buffer_races(BINDINGS, holds=("groups.x == 4",), pointers=pointers) == verdict


def test_a_pointer_whose_place_is_not_known_leaves_races_undecided() -> None:
    assert buffer_races(BINDINGS, pointers={(0, 0): Place(0, 0, "heap")}) == "undecided"


@pytest.mark.parametrize(
    ("mask", "write", "verdict"), [("const", "", "proved"), ("", "m[i] = 1;", "undecided")]
)
def test_what_is_read_through_a_pointer_that_was_chosen_does_not_race_if_nobody_writes_there(
    mask: str, write: str, verdict: str
) -> None:
    assert buffer_races(CHOSEN.replace("MASK", mask).replace("WRITE", write)) == verdict


def test_assumptions_name_members_of_structs_and_elements_of_arrays() -> None:
    rows = ("args.ne0 >= 0", "4 * args.ne0 <= args.nb[1]", "shape[1] > 0")
    assert buffer_races(ROWS, holds=(*rows, "groups.x * args.nb[1] <= args.nb[2]")) == "proved"
    assert buffer_races(ROWS, holds=rows) == "refuted"


BEGINNINGS = """\
kernel void k(device const float* x, device float* y, device const uint& n,
              uint t [[thread_index_in_threadgroup]],
              uint at [[threadgroup_position_in_grid]]) {
    float sum = FIRST;
    for (uint i = BEGIN; i < n; i += 64) sum += x[i];
    y[at] = sum;
}
"""


@pytest.mark.parametrize(("which", "verdict"), [("at", "proved"), ("i", "refuted")])
def test_writes_of_one_value_by_several_threads_are_no_race(which: str, verdict: str) -> None:
    assert buffer_races(STRIDE.replace("WHICH", which)) == verdict


def test_sums_that_may_be_fused_may_differ_from_iteration_to_iteration() -> None:
    source = STRIDE.replace("w[WHICH]", "w[at] + 1")
    assert buffer_races(source) == "refuted"


@pytest.mark.parametrize(("more", "verdict"), [("", "proved"), ("+ i", "refuted")])
def test_what_a_loop_computes_of_the_same_is_the_same(more: str, verdict: str) -> None:
    assert buffer_races(STRIDES.replace("MORE", more)) == verdict


@pytest.mark.parametrize(
    ("begin", "first", "verdict"),
    [
        ("0", "0", "proved"),
        ("at", "0", "proved"),
        ("t", "0", "refuted"),
        ("0", "t", "refuted"),
        ("at", "x[at]", "proved"),
        ("0", "x[t]", "refuted"),
    ],
)
def test_what_a_loop_computes_differs_where_it_begins_with_what_differs(
    begin: str, first: str, verdict: str
) -> None:
    source = BEGINNINGS.replace("BEGIN", begin).replace("FIRST", first)
    assert buffer_races(source) == verdict


def test_what_is_read_where_others_write_may_differ() -> None:
    assert buffer_races(STRIDE.replace("w[WHICH]", "y[at]")) == "refuted"


def test_the_last_threadgroups_of_a_grid_may_not_be_full() -> None:
    assert buffer_races(OF_GRID, ragged=True) == "proved"
    assert buffer_races(OF_GROUP) == "proved"
    assert buffer_races(OF_GROUP, ragged=True) == "refuted"


PICKED = """\
kernel void k(device uint* x, device uint* y, device uint* z, device const uint& n,
              uint i [[thread_position_in_grid]]) {
    for (uint at = 0; at < n; ++at) threadgroup_barrier(mem_flags::mem_none);
    device uint* to = n > 3 ? x : y;
    to[i] = 1;
    z[i] = 1;
}
"""


def test_a_write_through_a_chosen_pointer_leaves_other_buffers_alone() -> None:
    assert proved(_HEAD + PICKED)["barriers"].verdict == "proved"


def test_a_write_through_a_chosen_pointer_may_be_to_each_of_its_buffers() -> None:
    mine = PICKED.replace("const uint& n,", "uint& n,").replace("? x : y", "? &n : y")
    assert proved(_HEAD + mine)["barriers"].verdict != "proved"
    assert proved(_HEAD + PICKED, "buffer races")["buffer races"].verdict == "undecided"


PAIR = """\
struct Size { uint rows; uint columns; uint one; };
kernel void k(constant Size& of, device uint* y, uint2 at [[thread_position_in_grid]]) {
    Size size = of;
    y[at.y * size.columns + at.x] = size.rows + size.one;
}
"""


def test_members_that_are_read_together_are_what_is_assumed_of_each() -> None:
    holds = ("of.rows == 7", "of.columns == 64", "groups.x == 1", "groups.y <= 9")
    answers = proved(_HEAD + PAIR, "buffer races", holds=holds)
    assert answers["buffer races"].verdict == "proved"
    narrow = ("of.rows == 64", "of.columns == 63", "groups.x == 1", "groups.y <= 9")
    answers = proved(
        _HEAD + PAIR.replace("size.rows + size.one", "at.x"), "buffer races", holds=narrow
    )
    assert answers["buffer races"].verdict == "refuted"


BYTES = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
kernel void k(device const uint* data, device uint* y, uint t [[thread_index_in_threadgroup]]) {{
    threadgroup uchar bins[64 * 66];
    for (uint i = 0; i < 66; ++i) bins[64 * i + t] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint place = {place};
    bins[place + ((data[t] >> 10) & 63u) * 64] += 1;
    bins[place + ((data[t] >> 26) & 63u) * 64] += 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t] = bins[t];
}}
"""


@pytest.mark.parametrize(
    ("place", "verdict"),
    [
        ("((t & 15u) << 2) | ((t & 48u) >> 4)", "proved"),
        ("2 * t", "refuted"),  # columns are longer than rows are apart
        ("(t & 31u) << 1", "refuted"),
    ],
)
def test_rows_that_data_choose_are_told_from_columns(place: str, verdict: str) -> None:
    found = proved(BYTES.format(place=place), "threadgroup races")
    assert found["threadgroup races"].verdict == verdict

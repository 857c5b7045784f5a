"""Tiles that go through arrays of the threads' own on their way, as weights do that are decoded."""

from __future__ import annotations

import pytest

from assay.compiler.msl import compile_library
from assay.compiler.verify import Launch
from assay.compiler.verify.rings import Tiles, rotations_of
from assay.proofs.names import names_of

from .sources import NO_RACES

_LOAD = """\
inline void NAME(device const uint* x, device const float* f, uint m, uint at,
                 threadgroup float* tile, uint t) {
    float w[8];
    for (uint i = 0; i < 8; ++i) w[i] = 0;
    if (at < m) {
        uint word = x[at];
        for (uint i = 0; i < 8; ++i) w[i] = float(word >> (4 * i) & 15u) * f[at / 4];
    }
    for (uint i = 0; i < 8; ++i) tile[64 * i + t] = w[i];
}
"""
_RING = """\
kernel void k(device const uint* x, device const float* f, device float* y, constant uint& n,
              constant uint& m, uint t [[thread_index_in_threadgroup]],
              uint g [[thread_position_in_grid]]) {
    threadgroup float tiles[3 * 512];
    float sum = 0;
    for (uint k = 0; k < min(n, 2u); ++k) before(x, f, m, 64 * k + t, tiles + k % 3 * 512, t);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < n; ++k) {
        if (k + 2 < n) inside(x, f, m, 64 * (k + 2) + t, tiles + (k + 2) % 3 * 512, t);
        for (uint i = 0; i < 8; ++i) sum += tiles[k % 3 * 512 + 64 * i + 63 - t];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    y[g] = sum;
}
"""
_HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
_ZERO = "for (uint i = 0; i < 8; ++i) w[i] = 0;"
_STALE = {
    "other numbers": ("15u)", "7u)"),
    "other factors": ("f[at / 4]", "f[at / 8]"),
    "another bound": ("at < m", "at + 1 < m"),
    "another place": ("x[at]", "x[at + 1]"),
    "turned": ("= w[i]", "= w[7 - i]"),
    "not all zeros": ("i < 8; ++i) w[i] = 0", "i < 7; ++i) w[i] = 0"),
    "not all filled": ("i < 8; ++i) w[i] = float", "i < 7; ++i) w[i] = float"),
    "no zeros": (_ZERO, ""),
    "zeros behind": (
        "for (uint i = 0; i < 8; ++i) tile",
        _ZERO + "for (uint i = 0; i < 8; ++i) tile",
    ),
    "zeros in between": (
        "tile[64 * i + t] = w[i]",
        "{ tile[64 * i + t] = w[i]; w[(i + 1) % 8] = 0; }",
    ),
}


def _tiles(before: str, inside: str) -> Tiles:
    texts = [before.replace("NAME", "before"), inside.replace("NAME", "inside"), _RING]
    kernel = compile_library(_HEAD + "".join(texts)).function("k")
    launch = Launch(size=(64, 1, 1), names=names_of(kernel), holds=("n <= 1000000",))
    (found,) = rotations_of(kernel.program(), launch, NO_RACES)
    assert found.tiles is not None
    return found.tiles


def test_decoded_tiles_are_proved_to_be_in_order() -> None:
    tiles = _tiles(_LOAD, _LOAD)
    assert (tiles.are_in_order, tiles.are_read) == (True, True), tiles.obstacles
    assert tiles.first == 0


_QUICK = ("other numbers", "not all zeros", "no zeros")


def _named() -> list[object]:
    return [
        each if each in _QUICK else pytest.param(each, marks=pytest.mark.slow) for each in _STALE
    ]


@pytest.mark.parametrize("fault", _named())
def test_what_is_decoded_otherwise_before_the_loop_is_not(fault: str) -> None:
    old, new = _STALE[fault]
    assert old in _LOAD
    assert not _tiles(_LOAD.replace(old, new), _LOAD).are_in_order


def test_what_is_decoded_otherwise_in_the_loop_is_not() -> None:
    assert not _tiles(_LOAD, _LOAD.replace("15u)", "7u)")).are_in_order


@pytest.mark.parametrize("fault", ["no zeros", "not all zeros"])
def test_what_an_earlier_tile_left_is_not_taken_for_this_ones(fault: str) -> None:
    same = _LOAD.replace(*_STALE[fault])
    assert not _tiles(same, same).are_in_order


def test_a_ring_that_is_a_tile_late_is_told() -> None:
    late = _RING.replace("64 * k + t", "64 * (k + 1) + t").replace("(k + 2) + t", "(k + 3) + t")
    texts = [_LOAD.replace("NAME", name) for name in ("before", "inside")]
    kernel = compile_library(_HEAD + "".join(texts) + late).function("k")
    launch = Launch(size=(64, 1, 1), names=names_of(kernel), holds=("n <= 1000000",))
    (found,) = rotations_of(kernel.program(), launch, NO_RACES)
    assert found.tiles is not None and not found.tiles.are_in_order


_HALVES = """\
inline void fill(device const uint* x, device const float* f, uint m, uint at, thread float* w) {
    const device float* from = f + 8 * at;
    if (m % 8 == 0) {
        const float4 low = *reinterpret_cast<const device float4*>(from);
        const float4 high = *reinterpret_cast<const device float4*>(from + 4);
        for (uint i = 0; i < 4; ++i) {
            w[i] = low[i];
            w[i + 4] = high[i];
        }
        return;
    }
    const uint count = min(8u, m - at);
    for (uint i = 0; i < 8; ++i) w[i] = i < count ? from[i] : 0.0f;
}
inline void NAME(device const uint* x, device const float* f, uint m, uint at,
                 threadgroup float* tile, uint t) {
    float w[8];
    for (uint i = 0; i < 8; ++i) w[i] = 0;
    if (at < m) fill(x, f, m, at, w);
    for (uint i = 0; i < 8; ++i) tile[64 * i + t] = w[i];
}
"""
_OTHERWISE = {
    "halves exchanged": ("w[i + 4] = high[i]", "w[i + 4] = low[i]"),
    "another part of a vector": ("w[i] = low[i]", "w[i] = low[i ^ 1]"),
    "the second half of another place": ("(from + 4)", "(from + 8)"),
    "one filled anew": ("w[i + 4] = high[i];\n", "w[i + 4] = high[i];\n w[3] = 0;\n"),
    "another way taken": ("m % 8 == 0", "m % 16 == 0"),
    "fewer on the other way": ("min(8u, m - at)", "min(7u, m - at)"),
    "a third store in between": ("w[i] = low[i];\n", "w[i] = low[i];\n w[i + 1] = high[i];\n"),
}


def _halves(name: str, *change: str) -> str:
    text = _HALVES.replace(*change) if change else _HALVES
    assert not change or change[0] in _HALVES
    return text.replace("fill(", f"fill_{name}(").replace("NAME", name)


def test_tiles_that_are_filled_by_halves_on_one_of_two_ways_are_in_order() -> None:
    tiles = _tiles(_halves("before"), _halves("inside"))
    assert (tiles.are_in_order, tiles.are_read) == (True, True), tiles.obstacles


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", _OTHERWISE)
def test_halves_that_are_filled_otherwise_before_the_loop_are_not(fault: str) -> None:
    assert not _tiles(_halves("before", *_OTHERWISE[fault]), _halves("inside")).are_in_order


@pytest.mark.parametrize("count", [0, 7])
def test_a_half_that_is_left_from_an_earlier_tile_is_not_taken_for_this_ones(count: int) -> None:
    fewer = "i < 8; ++i) w[i] = 0;", f"i < {count}; ++i) w[i] = 0;"
    assert not _tiles(_halves("before", *fewer), _halves("inside", *fewer)).are_in_order

"""Tiles that are made of words which an iteration hands on through threadgroup memory."""

from __future__ import annotations

import pytest

from assay.compiler.msl import compile_library
from assay.compiler.verify import Launch
from assay.compiler.verify.rings import Rings, Rotation, rotations_of
from assay.proofs.names import names_of
from assay.proofs.rings import rings_text

from .sources import NO_RACES

_DECODED = """\
#include <metal_stdlib>
using namespace metal;
kernel void k(device const uint* x, device float* y, constant uint& n,
              uint t [[thread_index_in_threadgroup]], uint g [[thread_position_in_grid]]) {
    threadgroup float tiles[2 * 512];
    threadgroup uint words[BUFFERS * 64];
    float sum = 0;
    if (0 < n) {
        for (uint i = 0; i < 8; ++i) tiles[64 * i + t] = float(x[t] >> (4 * i) & 15u);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < n; ++k) {
        const uint next = k + 1;
        threadgroup uint* own = words + next % BUFFERS * 64;
        if (next < n) own[t] = x[64 * next + t];
        for (uint i = 0; i < 8; ++i) sum += tiles[k % 2 * 512 + 64 * i + t];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (next < n) {
            const uint column = 63 - t;
            const uint word = own[column];
            for (uint i = 0; i < 8; ++i) {
                tiles[next % 2 * 512 + 64 * i + column] = float(word >> (4 * i) & 15u);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    y[g] = sum;
}
"""
_STALE = {
    "words of another tile": ("x[64 * next + t]", "x[64 * k + t]"),
    "words of another column": ("own[column]", "own[t]"),
    "words turned": ("own[t] =", "own[63 - t] ="),
    "half of the words": ("if (next < n) own", "if (next < n && t < 32) own"),
    "other numbers": ("word >> (4 * i) & 15u", "word >> (4 * i) & 7u"),
    "words overwritten": ("own[t] =", "own[t] = 0; own[63 - t] ="),
    "words that other threads overwrite": (
        "own[t] = x[64 * next + t]",
        "{ own[t] = x[64 * next + t]; own[t / 2] = x[64 * next + t / 2] + 1; }",
    ),
    "one store that writes twice": ("own[t] = x", "own[t / 2] = x"),
}


def _rings(buffers: int, *changes: tuple[str, str]) -> dict[str, Rotation]:
    source = _DECODED
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    kernel = compile_library(source.replace("BUFFERS", str(buffers))).function("k")
    launch = Launch(size=(64, 1, 1), names=names_of(kernel), holds=("n <= 1000000",))
    return {each.array: each for each in rotations_of(kernel.program(), launch, NO_RACES)}


@pytest.mark.parametrize("buffers", [1, 2, 3])
def test_tiles_of_words_that_are_handed_on_in_the_same_iteration_are_in_order(buffers: int) -> None:
    found = _rings(buffers)
    assert found.keys() == ({"tiles"} if buffers == 1 else {"tiles", "words"})
    for each in found.values():
        assert each.tiles is not None
        assert (each.tiles.are_in_order, each.tiles.are_read) == (True, True), each.tiles.obstacles


@pytest.mark.sampled(2)
@pytest.mark.parametrize("buffers", [1, 2])
@pytest.mark.parametrize("fault", _STALE)
def test_tiles_of_other_words_are_not(fault: str, buffers: int) -> None:
    found = _rings(buffers, _STALE[fault])["tiles"]
    assert found.tiles is not None
    assert not found.tiles.are_in_order


def test_words_are_not_followed_without_a_barrier() -> None:
    barrier = "        threadgroup_barrier(mem_flags::mem_threadgroup);\n        if"
    found = _rings(1, (barrier, "        if"))["tiles"]
    assert found.tiles is None or not found.tiles.are_in_order


def test_words_of_another_buffer_are_not_followed() -> None:
    found = _rings(2, ("own[column]", "words[k % BUFFERS * 64 + column]"))["tiles"]
    assert found.tiles is not None
    assert not found.tiles.are_in_order


def test_a_ring_that_is_read_in_the_iteration_that_writes_it_is_told() -> None:
    words = _rings(2)["words"]
    assert words.ahead == 0
    assert "what iteration k writes is read in the same iteration" in "\n".join(
        rings_text(Rings(rotations=(words,)))
    )


@pytest.mark.parametrize("fault", ["half of the words", "words overwritten"])
def test_words_that_are_not_all_of_their_iteration_are_not_in_order(fault: str) -> None:
    words = _rings(2, _STALE[fault])["words"]
    assert words.tiles is not None
    assert not words.tiles.are_in_order


def test_words_that_may_not_be_read_are_told() -> None:
    words = _rings(
        2, ("const uint word = own[column];", "if (n > 9) break; const uint word = own[column];")
    )
    tiles = {name: each.tiles for name, each in words.items()}
    assert tiles["words"] is None or not tiles["words"].are_read
    # What the loop decodes behind that is read in front of it, an iteration later.
    assert tiles["tiles"] is not None and tiles["tiles"].are_read

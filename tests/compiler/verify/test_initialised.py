"""Threadgroup memory that is written before it is read, by whatever thread, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from .sources import RING, WITH_ARRAYS, proved
from .test_corpus import BEYOND

QUICK = ("histogram", "softmax", "tree_reduction")
_HEAD = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
kernel void k(device float* x, constant uint& n, uint t [[thread_index_in_threadgroup]],
              uint lane [[thread_index_in_simdgroup]],
              uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float s[128];
"""
B = "threadgroup_barrier(mem_flags::mem_threadgroup);"
S = "simdgroup_barrier(mem_flags::mem_threadgroup);"
WRITTEN = {
    "all by two iterations": f"for (uint i = t; i < 128; i += 64) s[i] = 0; {B} x[t] = s[n & 127];",
    "by one branch or the other": f"if (x[t] > 0) s[t] = 1; else s[t] = 2; {B} x[t] = s[63 - t];",
    "by one lane of each simdgroup": f"if (lane == 0) s[simdgroup] = 1; {B} x[t] = s[t & 1];",
    "rows with a gap": f"for (uint i = t; i < 96; i += 64) s[i / 12 * 13 + i % 12] = i;"
    f"{B} if (n < 8) for (uint c = 0; c < 12; ++c) x[c] = s[n * 13 + c];",
    "backwards": f"s[63 - t] = t; {B} x[t] = s[t ^ 5];",
    "by the thread itself": "uint at = (uint(x[t]) & 1) * 64 + t; s[at] = 1; x[t] = s[at];",
    "by another lane before a barrier": f"s[t] = 1; {S} x[t] = s[t ^ 1];",
    "by the iteration before": f"s[t] = 0; for (uint i = 0; i < n; ++i) {{ {B}"
    f" float v = s[i % 2 * 64 + 63 - t]; {B} s[(i + 1) % 2 * 64 + t] = v; }}",
    "as far as it is read": f"if (t < n) s[t] = 1; {B} if (t < n && n < 65) x[t] = s[n - 1 - t];",
    "once by most threads": f"if (n < 9) {{ for (uint i = t; i < 50; i += 64) s[i] = 0; {B}"
    f" x[t] = s[uint(x[t]) % 50]; }}",
    "down to a number": f"s[t] = 0; if (t < 64) s[64 + t] = 0; {B} uint i = 15;"
    f" while (i != 0 && x[n + i] > s[i]) --i; x[t] = s[i];",
    "in wider pieces": f"((threadgroup float2*)s)[t] = 0; {B} x[t] = s[127 - t];",
}
UNWRITTEN = {
    "by another lane, with no barrier": "s[t] = 1; x[t] = s[t ^ 1];",
    "half of it": f"s[t] = 0; {B} x[t] = s[n & 127];",
    "but in one branch": f"if (x[t] > 0) s[t] = 1; {B} x[t] = s[63 - t];",
    "by one lane of one simdgroup": f"if (t == 0) s[simdgroup] = 1; {B} x[t] = s[t & 1];",
    "a loop that may be left": f"for (uint i = t; i < 128; i += 64) {{ if (x[i] > 9) break;"
    f" s[i] = 0; }} {B} x[t] = s[t + 64];",
    "an iteration that is left out": f"for (uint i = t; i < 128; i += 64) {{ if (i == n) continue;"
    f" s[i] = 0; }} {B} x[t] = s[t + 64];",
    "as many iterations as there are": f"for (uint i = t; i < n; i += 64) s[i & 127] = 0;"
    f"{B} x[t] = s[t];",
    "by the iteration after": f"for (uint i = 0; i < n; ++i) {{ float v = s[t]; {B}"
    f" s[t] = v + 1; {B} x[t] = v; }}",
    "what is below all iterations": f"if (t < 16) for (uint i = 0; i < n && i < 4; ++i)"
    f" s[64 + i * 16 + t] = 0; {B} if (n > 3) for (uint j = 0; j < 128; ++j) x[j] = s[127 - j];",
    "less by most threads": f"if (n < 9) {{ for (uint i = t; i < 49; i += 64) s[i] = 0; {B}"
    f" x[t] = s[uint(x[t]) % 50]; }}",
    "down beyond a number": f"if (t < 15) s[t] = 0; {B} uint i = 15;"
    f" while (i != 0 && x[n + i] > 0) --i; x[t] = s[i];",
    "a byte too little": f"((threadgroup uchar*)s)[4 * t] = 0; {B} x[t] = s[t];",
    "a row's gap": f"for (uint i = t; i < 96; i += 64) s[i / 12 * 13 + i % 12] = i;"
    f"{B} x[t] = s[n & 63];",
}

_TILES = _HEAD.replace("= 64", "= 128").replace("s[128]", "s[1024]") + (
    "threadgroup float4* row ="
    " (threadgroup float4*)(s + (t % 4 * 4 + t / 32) * 64 + t / 4 % 8 * 8);"
)
_READ = "simdgroup_load(a, s + (simdgroup / 2 * 2 + d * 4) * 64, 8); simdgroup_store(a, x, 8);"
_READS = f"{B} simdgroup_float8x8 a; for (uint d = 0; d < 4; ++d) {{ {_READ} }}"
HALVES = {
    "row[0] = x[t]; row[1] = x[n];": True,
    "row[0] = x[t]; if (n > 3) row[1] = x[n];": False,
    "row[0] = x[t]; if (t != 77) row[1] = x[n];": False,
    "if (n > 3) row[0] = x[t]; else row[1] = x[n];": False,
    "row[0] = x[t]; row[0] = x[n];": False,
}
"""Stores of the rows of tiles of 8 x 8, and whether they are whole."""


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_proved(name: str) -> None:
    answer = proved(_HEAD + WRITTEN[name] + "}\n", "initialised")["initialised"]
    assert answer.verdict == "proved", answer


@pytest.mark.parametrize("name", UNWRITTEN)
def test_what_may_be_unwritten_is_not_proved(name: str) -> None:
    answer = proved(_HEAD + UNWRITTEN[name] + "}\n", "initialised")["initialised"]
    assert answer.verdict == "refuted", answer
    assert answer.counterexamples[0].memory == "s"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("stores", HALVES)
def test_tiles_are_written_if_both_halves_of_their_rows_are(stores: str) -> None:
    answer = proved(f"{_TILES}{stores}{_READS}}}\n", "initialised")["initialised"]
    assert (answer.verdict == "proved") == HALVES[stores], answer


def test_of_two_sides_of_a_branch_neither_comes_first() -> None:
    body = "if (t % 2) s[t] = 1; else x[t] = s[t + 1];"
    assert proved(_HEAD + body + "}\n", "initialised")["initialised"].verdict != "proved"
    body = "if (t % 2 == 0) x[t] = s[t + 1]; else s[t] = 1;"
    assert proved(_HEAD + body + "}\n", "initialised")["initialised"].verdict != "proved"


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else (pytest.mark.slow,))
        for path in WITH_ARRAYS
        if path.stem not in BEYOND
    ],
)
def test_kernels_of_the_corpus_write_before_they_read(path: Path) -> None:
    assert proved(path.read_text(), "initialised")["initialised"].verdict == "proved"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("buf_load = 2", "buf_load = 1"),
        ("(kt + 2) * TILE_K", "(kt + 3) * TILE_K"),
        ("i < TILE_M * TILE_K; i += 128", "i < TILE_M * TILE_K - 1; i += 128"),
        ("B_buf[1][r][c] =", "B_buf[0][r][c] ="),
    ],
)
def test_a_ring_that_loses_a_tile_reads_what_nobody_wrote(old: str, new: str) -> None:
    assert old in RING
    assert proved(RING.replace(old, new, 1), "initialised")["initialised"].verdict == "refuted"


@pytest.mark.slow
def test_a_ring_reads_what_it_wrote_for_all_k() -> None:
    assert proved(RING, "initialised")["initialised"].verdict == "proved"

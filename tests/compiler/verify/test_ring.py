"""The page's ring of three buffers: right for all K, and which of its barriers it needs."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet

from .sources import BARRIER, RING, proved, without_barrier


def changed(old: str, new: str) -> str:
    assert old in RING
    return RING.replace(old, new, 1)


LOOP = RING.rindex(BARRIER)
FROM_COUNTER = changed("buf_load = (buf_load + 1) % STAGES;", "").replace(
    "if (simd_id < 2) {", "buf_load = (kt + 2) % STAGES; if (simd_id < 2) {", 1
)
FREE = {
    "as it is": RING,
    "without the first barrier": without_barrier(RING, 0),
    "without the second barrier": without_barrier(RING, 1),
    "buffers counted from the loop": FROM_COUNTER,
    # Faults that are no races: a tile is lost, and an array is left.
    "loads begin one buffer early": changed("buf_load = 2", "buf_load = 1"),
    "four buffers of three": RING.replace("% STAGES", "% 4"),
}
RACING = {
    "without both first barriers": without_barrier(RING, 0, 1),
    "without the loop's barrier": without_barrier(RING, 2),
    "loads go round two buffers": changed("(buf_load + 1) % STAGES", "(buf_load + 1) % 2"),
    "loads begin where products do": changed("buf_load = 2", "buf_load = 0"),
    "loaders go a row further": changed("A_buf[buf_load][r][c]", "A_buf[buf_load][r + 1][c]"),
    "the loop's barrier orders buffers": RING[:LOOP]
    + BARRIER.replace("mem_threadgroup", "mem_device")
    + RING[LOOP + len(BARRIER) :],
}
DIVERGENT = f"{RING[:LOOP]}if (simd_id < 2) {RING[LOOP:]}"


QUICK = ("as it is", "loads begin where products do", "without both first barriers")


def sampled(names: Iterable[str]) -> list[ParameterSet]:
    """All names, of which but a few are slow."""
    marks = {name: () if name in QUICK else (pytest.mark.slow,) for name in names}
    return [pytest.param(name, marks=mark) for name, mark in marks.items()]


@pytest.mark.parametrize("name", sampled(FREE))
def test_a_ring_is_free_of_races_for_all_k(name: str) -> None:
    answers = proved(FREE[name], "buffer races", "bounds", holds=("grid.x <= N",))
    for about in ("barriers", "threadgroup races", "buffer races"):
        assert answers[about].verdict == "proved", answers[about]
    # A fourth buffer would lie behind the array.
    assert (answers["bounds"].verdict == "proved") == ("four" not in name)


@pytest.mark.parametrize("name", sampled(RACING))
def test_a_broken_ring_is_refuted(name: str) -> None:
    assert proved(RACING[name])["threadgroup races"].verdict == "refuted"


def test_a_barrier_that_only_loaders_reach_is_refuted() -> None:
    assert proved(DIVERGENT)["barriers"].verdict == "refuted"

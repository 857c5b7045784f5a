"""The kernels of the mutation corpus are proved; with a barrier less they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from .sources import BARRIER, WITH_ARRAYS, proved, without_barrier

BEYOND = ("bitonic_sort", "radix_pass")
"""Kernels whose addresses are made of masks in doubling loops, or of ranks from memory."""
ATOMIC = ("histogram",)
"""Kernels whose accesses to threadgroup memory are all atomic: they need no barriers for that."""
PROVED = [path for path in WITH_ARRAYS if path.stem not in BEYOND]
DROPPED = [
    pytest.param(path, number, id=f"{path.stem}-{number}")
    for path in PROVED
    if path.stem not in ATOMIC
    for number in range(path.read_text().count(BARRIER))
]


def test_it_is_twelve_kernels_with_twenty_two_barriers() -> None:
    assert len(PROVED) == 12 + len(ATOMIC)
    assert len(DROPPED) == 22


@pytest.mark.parametrize("path", PROVED, ids=lambda path: path.stem)
def test_a_kernel_of_the_corpus_is_proved_for_all_sizes(path: Path) -> None:
    answers = proved(path.read_text(), "bounds")
    for about in ("barriers", "threadgroup races", "bounds"):
        assert answers[about].verdict == "proved", answers[about]


@pytest.mark.parametrize("path", [p for p in WITH_ARRAYS if p.stem in BEYOND], ids=lambda p: p.stem)
def test_what_is_beyond_the_prover_is_not_called_proved(path: Path) -> None:
    assert proved(path.read_text())["threadgroup races"].verdict != "proved"


@pytest.mark.slow
@pytest.mark.parametrize(("path", "number"), DROPPED)
def test_a_kernel_without_one_of_its_barriers_is_refuted(path: Path, number: int) -> None:
    answer = proved(without_barrier(path.read_text(), number))["threadgroup races"]
    assert answer.verdict == "refuted"
    assert all(len(example.actors) == 2 for example in answer.counterexamples)

"""Kernels of GPUVerify's and Faial's suites: what is told of them is what was found."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.proving_peers.main import HERE, counted, is_right, measured, peers, stored, table

PAGE = Path(__file__).parents[2] / "docs/how-it-works/proofs.md"
QUICK = ("saxpy", "part_of_each_group", "next_group")


def test_the_page_has_the_stored_results() -> None:
    found = stored()
    lines = table((peer, found[peer.name]) for peer in peers())
    assert "\n".join(lines) in PAGE.read_text()


def test_each_kernel_has_a_source_and_each_source_is_told_of() -> None:
    sources = {path.stem for path in (HERE / "kernels").glob("*.metal")}
    assert sources == {peer.name for peer in peers()}


def test_no_stored_answer_is_wrong() -> None:
    found = stored()
    assert [peer.name for peer in peers() if not is_right(peer, found[peer.name])] == []


def test_undecided_ones_are_counted_as_such() -> None:
    known = [(peer, found) for peer in peers() if (found := stored()[peer.name])]
    text = counted(known)
    theirs = [peer for peer in peers() if peer.gpuverify]
    ours = [each for each in theirs if stored()[each.name].answer != "undecided"]
    assert f"Of the {len(theirs)} that GPUVerify decides, Assay decides {len(ours)}." in text


def _again(name: str) -> str:
    (peer,) = (each for each in peers() if each.name == name)
    return measured(peer).answer


@pytest.mark.parametrize("name", QUICK)
def test_some_answers_are_found_again(name: str) -> None:
    assert _again(name) == stored()[name].answer


@pytest.mark.slow
@pytest.mark.parametrize("name", [peer.name for peer in peers()])
def test_all_answers_are_found_again(name: str) -> None:
    assert _again(name) == stored()[name].answer

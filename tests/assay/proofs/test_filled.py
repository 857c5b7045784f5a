"""Runs of counterexamples hold to what is assumed of numbers in buffers."""

from __future__ import annotations

import pytest

from assay.proofs import KernelProof, ProofOptions, prove_source

_SOURCE = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
kernel void k(device const uint* slots, device float* y, constant uint& n,
              uint i [[thread_position_in_grid]]) {
    if (i < n) y[INDEX] = float(i) + 1;
}
"""


def _proof(index: str, *assume: str, **buffers: str) -> KernelProof:
    options = ProofOptions(cache=False, offers=False, assume=assume, buffers=buffers)
    source = _SOURCE.replace("INDEX", index)
    (found,) = prove_source(source, "k.metal", options, workers=1)
    return found


def _races(proof: KernelProof) -> str:
    return next(each.verdict for each in proof.answers if each.about == "buffer races")


def test_a_race_is_shown_by_numbers_that_differ_as_assumed() -> None:
    assert _races(_proof("slots[i]")) == "refuted"
    assert _races(_proof("slots[i] / 2", "distinct(slots)")) == "refuted"
    assert _races(_proof("slots[i]", "1000 <= slots[*] and slots[*] < 1010")) == "refuted"


# Nothing knows that Gray codes differ, and that squares do is too hard.
_GRAY = "slots[i] ^ (slots[i] >> 1)"
_SQUARE = "slots[i] * slots[i] % 1000003"


@pytest.mark.parametrize("assume", ["distinct(slots)", "distinct(slots) and slots[*] < 2 * n"])
@pytest.mark.parametrize("index", [_GRAY, pytest.param(_SQUARE, marks=pytest.mark.slow)])
def test_no_race_is_shown_that_only_other_numbers_have(index: str, assume: str) -> None:
    assert _races(_proof(index, assume)) == "undecided"
    assert _races(_proof(index)) == "refuted"


def test_what_is_assumed_of_numbers_is_told() -> None:
    proof = _proof("slots[i]", "distinct(slots) and slots[*] < n")
    assert proof.is_proved
    assert "distinct(slots) and slots[*] < n" in proof.assumptions
    assert "slots holds a number at least, as all are assumed to be" in proof.assumptions


@pytest.mark.parametrize(("most", "is_enough"), [(1, False), (63, False), (64, True)])
def test_fewer_numbers_than_elements_are_not_assumed_to_differ(most: int, is_enough: bool) -> None:
    assumed = f"distinct(slots) and slots[*] < {most}"
    proof = _proof("slots[i]", assumed, slots="4 * grid.x")
    assert proof.is_proved is is_enough
    assert ("fewer numbers as those in 'slots'" in proof.problem) is not is_enough


def test_numbers_that_cannot_be_show_nothing() -> None:
    proof = _proof("slots[i] / 2", "slots[*] < 3 and slots[*] > 5")
    assert not proof.is_proved and not proof.is_refuted
    assert proof.problem == "no number is as those in 'slots' are assumed to be"


_TABLE = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
kernel void k(constant uint* c, device uint* y, uint i [[thread_position_in_grid]]) {
    if (c[0] > 3 || c[0] == c[1]) y[0] = i;
}
"""


@pytest.mark.parametrize(
    ("assumed", "can_be"),
    [
        ("c[0] == 5 and c[*] < 3", False),
        ("c[0] == 2 and c[*] < 3", True),
        ("c[2] == 5 and c[*] < 3", True),  # beyond the stated length
        ("distinct(c) and c[0] == c[1]", False),
        ("distinct(c) and c[0] == c[2]", True),
    ],
)
def test_what_is_assumed_of_all_numbers_holds_of_those_that_are_named(
    assumed: str, can_be: bool
) -> None:
    options = ProofOptions(cache=False, offers=False, assume=(assumed,), buffers={"c": "8"})
    (proof,) = prove_source(_TABLE, "k.metal", options, workers=1)
    assert ("no launch fulfils all" not in proof.problem) is can_be


_PAIRS = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
kernel void k(device const uint* a, device const uint* b, device uint* y, constant uint& n,
              uint i [[thread_position_in_grid]]) {
    if (i < n) y[a[i] * 2 + b[i]] = i;
}
"""


@pytest.mark.parametrize(
    ("assumed", "is_enough"),
    [
        ("distinct(a, b) and a[*] < 2 and b[*] < 2 and n >= 5", False),
        ("distinct(a, b) and a[*] < 2 and b[*] < 2 and n >= 4", True),
        ("distinct(a, b) and a[*] < 1 and b[*] < 1 and n >= 2", False),
        ("distinct(a) and a[*] % 32 == 0 and a[*] < 64 and n >= 3", False),
        ("distinct(a) and a[*] % 32 == 7 and a[*] < 64 and n >= 2", True),
        ("distinct(a) and a[*] % 2 == 0 and a[*] % 3 == 0 and a[*] < 12 and n >= 3", False),
    ],
)
def test_numbers_differ_in_as_many_ways_as_there_are(assumed: str, is_enough: bool) -> None:
    options = ProofOptions(
        cache=False, offers=False, assume=(assumed,), buffers={"a": "4 * n", "b": "4 * n"}
    )
    (proof,) = prove_source(_PAIRS, "k.metal", options, workers=1)
    assert ("there are fewer numbers" not in proof.problem) is is_enough


def test_numbers_of_two_buffers_have_to_be_at_once() -> None:
    assumed = ("a[*] < n and b[*] >= n", "a[*] > 2 and b[*] < 3")
    options = ProofOptions(cache=False, offers=False, assume=assumed)
    (proof,) = prove_source(_PAIRS, "k.metal", options, workers=1)
    assert "no launch fulfils all" in proof.problem

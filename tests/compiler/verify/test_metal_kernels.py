"""Random kernels in Metal source: what is written there contradicts no proof."""

from __future__ import annotations

import pytest

from assay.compiler.verify import kernel

from . import metal_launches
from .judge import LONG, QUICK
from .metal_launches import contradictions

FORGETFUL = 12  # kernels, of some of which a proof without `reads` is wrong


def _found(seeds: range, *, optimised: bool = False) -> list[str]:
    return [line for each in seeds for line in contradictions(each, QUICK, optimised=optimised)]


def test_no_launch_contradicts_a_proof_of_a_kernel_in_metal() -> None:
    assert _found(range(8)) == []
    assert _found(range(20, 23), optimised=True) == []


@pytest.mark.slow
def test_no_launch_contradicts_a_proof_of_many_kernels_in_metal() -> None:
    assert _found(range(8, 400)) == []
    assert _found(range(400, 500), optimised=True) == []
    assert [line for each in range(500, 550) for line in contradictions(each, LONG)] == []


@pytest.mark.parametrize("seed", [1183, 1701, 200_632])
def test_kernels_that_contradicted_a_proof_contradict_none(seed: int) -> None:
    """They copy structs at known places of a threadgroup's array onto themselves."""
    assert contradictions(seed, QUICK) == []
    assert contradictions(seed, QUICK, optimised=True) == []


def test_accesses_that_llvm_clones_are_told_apart() -> None:
    kernel = 980  # LLVM names what it clones by suffixes, and these must not be the checks' own
    given = metal_launches.answers(metal_launches.function_of(kernel), ("bounds",), QUICK)
    assert given["bounds"] == "refuted"


def test_a_prover_that_reads_only_what_is_needed_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "LOOPS", kernel.LOOPS - {"reads"})
    assert _found(range(40, 40 + FORGETFUL)) != []


def test_launches_show_faults_of_all_kinds() -> None:
    seeds = range(40)
    found = {about for each in seeds for about in metal_launches.found_in_launches(each)}
    assert found == set(metal_launches.ABOUT)


@pytest.mark.parametrize("seed", [4007143, 5005309])
def test_what_is_read_for_a_write_beyond_an_own_array_races(seed: int) -> None:
    assert contradictions(seed, QUICK) == []

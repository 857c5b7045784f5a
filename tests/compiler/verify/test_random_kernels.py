"""Random kernels: what all pairs of threads of some launch do contradicts no proof."""

from __future__ import annotations

import os

import pytest

from assay.compiler.verify import Launch, prove
from assay.sim.simt import Program
from tests.support.kernels import ENTRY, assemble

from .brute_force import Ending, ending, reads_unwritten
from .random_kernels import RandomKernel, drawn, written
from .random_text import PARAMETERS, text

QUICK = range(6)
SIZES = ((0, 0), (1, 3), (3, 1), (5, 64), (64, 2))
FAULT_OF: dict[str, Ending] = {"barriers": "divergent", "threadgroup races": "race"}
# `python -m tests.campaigns random-proofs` draws 100,000.
MANY = int(os.environ.get("ASSAY_PROOF_CASES", "300"))
IN_ONE = 50


def contradictions(seed: int) -> list[str]:
    """Proofs about a seed's kernel that some launch contradicts."""
    return contradicted(drawn(seed), seed, ("barriers", "threadgroup races"))


def contradicted(kernel: RandomKernel, seed: int, about: tuple[str, ...]) -> list[str]:
    """Proofs about a kernel that some launch contradicts."""
    made = assemble.__wrapped__(text(kernel), PARAMETERS)
    program = Program(made.bitcode, ENTRY, name=f"seed {seed}", parameters=made.parameters)
    answers = prove(program, Launch(size=(kernel.threads, 1, 1)), about)
    endings = {sizes: ending(kernel, *sizes) for sizes in SIZES}
    unwritten = [
        f"seed {seed}: initialised is proved; n, m = {sizes} reads what nobody wrote"
        for answer in answers
        for sizes in SIZES
        if answer.about == "initialised"
        if answer.verdict == "proved" and reads_unwritten(kernel, *sizes)
    ]
    return unwritten + [
        f"seed {seed}: {answer.about} is proved; n, m = {sizes} is {found}"
        for answer in answers
        for sizes, found in endings.items()
        if answer.verdict == "proved" and FAULT_OF.get(answer.about) == found
    ]


def test_no_launch_contradicts_a_proof() -> None:
    assert [line for seed in QUICK for line in contradictions(seed)] == []


WRITTEN = ("barriers", "threadgroup races", "initialised")


def test_no_launch_reads_what_is_proved_to_be_written() -> None:
    found = [contradicted(written(seed), seed, WRITTEN) for seed in range(3)]
    assert found == [[], [], []]


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, MANY, IN_ONE))
def test_no_launch_of_many_kernels_reads_what_is_proved_to_be_written(start: int) -> None:
    seeds = range(start, start + IN_ONE)
    assert [line for seed in seeds for line in contradicted(written(seed), seed, WRITTEN)] == []


def test_neighbours_that_overlap_are_not_taken_to_write_the_same() -> None:
    # Lanes store the same 64-bit constant at each 32-bit element.
    assert contradictions(1414) == []


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, MANY, IN_ONE))
def test_no_launch_of_many_kernels_contradicts_a_proof(start: int) -> None:
    assert [line for seed in range(start, start + IN_ONE) for line in contradictions(seed)] == []


def test_the_oracle_finds_races_divergence_and_neither() -> None:
    found = {ending(drawn(seed), 5, 64) for seed in range(60)}
    assert found >= {"free", "race", "divergent"}
    assert {reads_unwritten(written(seed), 3, 1) for seed in range(20)} == {True, False}

"""What may go wrong in a damaged kernel is reported; in a correct one nothing is."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from assay.compiler.msl import compile_library

from .campaign import FEW, KERNELS, MANY, findings_of, judge, mutants_of, plan_of
from .mutants import BARRIER, Mutant
from .oracle import depends_on_schedule

SEED = 20
SAMPLE = 2  # mutants of each kernel in the fast suite
DOUBLES = 120  # mutants with two damages of each kernel in the slow one
by_kernel = pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)


@pytest.fixture(autouse=True)
def _little_fuel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_FUEL", "3000000")


@pytest.mark.sampled(3)
@by_kernel
def test_a_correct_kernel_has_no_findings(path: Path) -> None:
    findings = findings_of(path, compile_library(path.read_text()))
    assert not findings, "\n".join(map(str, findings))


@pytest.mark.sampled(3)
@by_kernel
def test_a_correct_kernel_gives_the_same_bits_under_any_schedule(path: Path) -> None:
    plan = plan_of(path, compile_library(path.read_text()))
    assert depends_on_schedule(plan, FEW) is None


@pytest.mark.parametrize("name", ["tree_reduction", "transpose", "scan", "device_passes"])
def test_the_oracle_sees_a_missing_barrier(name: str) -> None:
    (path,) = (path for path in KERNELS if path.stem == name)
    source = path.read_text().replace("mem_flags::mem_device", "mem_flags::mem_threadgroup")
    damaged = source.replace(BARRIER, "", 1)
    assert depends_on_schedule(plan_of(path, compile_library(damaged)), MANY) is not None


def _missed(path: Path, mutants: list[Mutant], schedules: range) -> list[str]:
    """The mutants that can go wrong without a report."""
    verdicts = [(mutant.what, judge(path, mutant, schedules)) for mutant in mutants]
    return [f"{what}; seed {v.differs}" for what, v in verdicts if v.is_missed]


@pytest.mark.sampled(3)
@by_kernel
def test_mutants_that_may_go_wrong_are_reported(path: Path) -> None:
    mutants = mutants_of(path, seed=SEED, doubles=10)
    assert _missed(path, random.Random(SEED).sample(mutants, SAMPLE), FEW) == []


@pytest.mark.slow
@by_kernel
def test_every_mutant_that_may_go_wrong_is_reported(path: Path) -> None:
    assert _missed(path, mutants_of(path, seed=SEED, doubles=DOUBLES), MANY) == []

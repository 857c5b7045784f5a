"""Runs mutants: what is reported, and whether what is not reported is harmless."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from assay.checks import Inputs, Report, Setup, read_annotations
from assay.checks.runs import run_setup
from assay.compiler.msl import CompileError, KernelFunction, Library, compile_library
from assay.launches.plan import Plan, make_plan
from assay.launches.runner import Runner
from assay.sim.check import Finding

from .mutants import Mutant, double_mutants, single_mutants
from .oracle import depends_on_schedule

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.metal"))
FEW, MANY = range(5), range(8)  # schedules of the oracle
SEEDS = (1, 2, 3)  # orders that the checks see


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a mutant.

    Attributes:
        compiles: whether it is a kernel at all.
        findings: what the checks report.
        differs: the first schedule under which its result changes, if that was looked for.
    """

    compiles: bool = True
    findings: tuple[Finding, ...] = ()
    differs: int | None = None

    @property
    def is_missed(self) -> bool:
        """Whether it can go wrong without a report."""
        return not self.findings and self.differs is not None


def mutants_of(path: Path, *, seed: int, doubles: int) -> list[Mutant]:
    """All single mutants of a kernel, and so many double ones."""
    source = path.read_text()
    return [*single_mutants(source), *double_mutants(source, seed, doubles)]


def judge(path: Path, mutant: Mutant, schedules: range) -> Verdict:
    """Run a mutant under all usual checks; if nothing is reported, under the schedules."""
    try:
        library = compile_library(mutant.source)
        findings = findings_of(path, library)
    except CompileError:
        return Verdict(compiles=False)
    if findings:
        return Verdict(findings=findings)
    return Verdict(differs=depends_on_schedule(plan_of(path, library), schedules))


def findings_of(path: Path, library: Library) -> tuple[Finding, ...]:
    """What the usual checks report, and whether orders of simdgroups change the results."""
    report = Report(seeds=SEEDS)
    kernel, setup = _kernel_and_setup(path, library)
    run_setup(kernel, setup, Runner(library), report)
    return tuple(report.findings)


def plan_of(path: Path, library: Library) -> Plan:
    """How the kernel of a file, or a mutant of it, is run."""
    return make_plan(*_kernel_and_setup(path, library))


def _kernel_and_setup(path: Path, library: Library) -> tuple[KernelFunction, Setup]:
    (name,) = library.function_names
    (setup,) = _inputs(path).setups[name]
    return library.function(name), setup


@functools.cache
def _inputs(path: Path) -> Inputs:
    return read_annotations(path.read_text(), str(path))

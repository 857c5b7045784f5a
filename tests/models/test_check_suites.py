"""Suites of IREE's check operations pass and fail as the CPU build of the same source does."""

import json
from pathlib import Path

import pytest

from assay.hal.vm import Session
from assay.hal.vm.checks import run_tests

from .check_reference import verdicts, write
from .conftest import Builds

SUITES = sorted((Path(__file__).parent / "check").glob("*.mlir"))
LONG = ("attention", "linalg", "math", "stablehlo", "tensor", "tosa")
by_suite = pytest.mark.parametrize(
    "suite",
    [pytest.param(p, marks=[pytest.mark.slow] if p.stem in LONG else []) for p in SUITES],
    ids=lambda path: path.stem,
)


@by_suite
def test_a_suite_has_the_verdicts_of_the_cpu_build(suite: Path, builds: Builds) -> None:
    source, rewritten = write(suite, builds.work)
    on_cpu = verdicts(rewritten, builds.module(source, "llvm-cpu"))
    session = Session("emulated")
    results = run_tests(session, session.load(builds.module(suite, "metal")))
    emulated = {result.name: result.outcome == "passed" for result in results}
    messages = json.dumps({r.name: [*r.failures, r.error] for r in results}, indent=2)
    assert emulated == on_cpu, messages


@by_suite
def test_only_the_failing_suite_fails(suite: Path, builds: Builds) -> None:
    source, rewritten = write(suite, builds.work)
    for name, passed in verdicts(rewritten, builds.module(source, "llvm-cpu")).items():
        assert passed == (not name.startswith("fails")), name

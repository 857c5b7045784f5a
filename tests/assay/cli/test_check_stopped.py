"""Checks that are stopped, or take too long, tell what was checked until then."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.checks.source import SourceCheck
from assay.reports.report import ReportPart

from .conftest import Done

Assay = Callable[..., Done]
SOURCE = """kernel void first(device float* x) { x[0] = 1; }
kernel void second(device float* x) { x[0] = 2; }
"""


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    path = tmp_path / "kernels.metal"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def default_sigterm() -> Iterator[None]:
    """What a process begins with; pytest or its plugins may have set another."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("default_sigterm")
def test_sigterm_leaves_a_report_of_the_kernels_that_were_done(
    assay: Assay, kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = SourceCheck.part

    def stopped(self: SourceCheck, name: str, *rest: tuple[object, ...]) -> ReportPart:
        if name == "second":
            signal.raise_signal(signal.SIGTERM)
        return part(self, name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(SourceCheck, "part", stopped)
    out = tmp_path / "report.json"
    done = assay("check", kernels, "--format", "json", "--output", out)
    assert done.code == 128 + signal.SIGTERM
    report = json.loads(out.read_text())
    assert [each["name"] for each in report["kernels"]] == ["first"]
    said = f"{kernels}: the check was stopped by a signal after 1 of 2 kernels"
    assert report["unchecked"] == [said] and not report["passed"]
    assert f"error: {said}" in done.out


def test_a_kernel_that_takes_too_long_is_told_as_not_checked(assay: Assay, kernels: Path) -> None:
    # No process is up within this time.
    done = assay("check", kernels, "-f", "first", "--timeout-per-kernel", "0.1")
    assert done.code == 2
    assert (
        "kernel 'first' was not checked: it took more than 0.1 s (--timeout-per-kernel); "
        "state smaller arguments or a smaller grid in --args"
    ) in done.out

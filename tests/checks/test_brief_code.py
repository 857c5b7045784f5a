"""Small dispatches take code that is made quickly; what is found does not depend on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.checks import Report, SourceOptions, check_source
from assay.hal.metal.emulated.programs import pipeline
from assay.sim.check import DEFAULT_CHECKS, OPTIONAL_CHECKS, Finding

from .cases import bugs
from .run import _PROGRAMS

_FILES = sorted({case.path for case in bugs() if not case.name.startswith(_PROGRAMS)})
_CHECKS = frozenset({*DEFAULT_CHECKS, *OPTIONAL_CHECKS})


def _findings(path: Path) -> list[Finding]:
    report = Report(_CHECKS)
    check_source(path.read_text(), str(path), report, SourceOptions())
    return list(report.findings)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[] if number % 16 == 0 else pytest.mark.slow)
        for number, path in enumerate(_FILES)
    ],
)
def test_findings_are_those_of_the_better_code(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    brief = _findings(path)
    monkeypatch.setattr(pipeline, "_SMALL_SIMDGROUPS", 0)
    assert brief == _findings(path)
    assert brief

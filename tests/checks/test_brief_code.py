"""Small dispatches take code that is made quickly; what is found does not depend on it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from assay.checks import Report, SourceOptions, check_source
from assay.hal.metal.emulated.programs import pipeline
from assay.sim.check import DEFAULT_CHECKS, OPTIONAL_CHECKS, Finding

from .cases import bugs
from .run import _PROGRAMS

_FILES = sorted({case.path for case in bugs() if not case.name.startswith(_PROGRAMS)})
_CHECKS = frozenset({*DEFAULT_CHECKS, *OPTIONAL_CHECKS})


def _findings(path: Path, checks: Iterable[str] = _CHECKS) -> list[Finding]:
    report = Report(checks)
    check_source(path.read_text(), str(path), report, SourceOptions())
    return list(report.findings)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[] if number % 32 == 0 else pytest.mark.slow)
        for number, path in enumerate(_FILES)
    ],
)
def test_findings_are_those_of_the_better_code(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    brief = _findings(path)
    monkeypatch.setattr(pipeline, "_SMALL_SIMDGROUPS", 0)
    assert brief == _findings(path)
    assert brief


# A write of what is there already is none for who looks lane by lane, but not for who looks at runs
# of lanes: which of the two looks must not depend on the code.
SAME_VALUES = """#include <metal_stdlib>
using namespace metal;
//! [kernel.mix]
//! threads = [256]
//! threadgroup = [256]
//! arguments.x = { dtype = "float32", shape = [256], fill = "ones" }
kernel void mix(device float* x, uint i [[thread_index_in_threadgroup]]) {
    x[i] = x[255 - i];
}
"""


def test_writes_of_what_was_there_are_found_by_either_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mix.metal"
    path.write_text(SAME_VALUES)
    brief = _findings(path, ["race"])
    assert [each.kind for each in brief] == ["race-read-write"]
    monkeypatch.setattr(pipeline, "_SMALL_SIMDGROUPS", 0)
    assert brief == _findings(path, ["race"])

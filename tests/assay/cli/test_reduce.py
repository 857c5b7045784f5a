"""`assay reduce`: one small file with the same finding, exit codes, bad input."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Done

Assay = Callable[..., Done]
RACY = """\
#include <metal_stdlib>
using namespace metal;
kernel void flip(device const float* x, device float* y, uint t [[thread_index_in_threadgroup]]) {
    threadgroup float s[256];
    float unused = 3;
    s[t] = x[t];
    y[t] = s[255 - t];
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flip.metal").write_text(RACY)
    (tmp_path / "whole.metal").write_text(RACY.replace("255 - t", "t"))
    (tmp_path / "notes.txt").write_text("")
    return tmp_path


def test_the_result_runs_by_itself_and_has_the_finding(assay: Assay, folder: Path) -> None:
    done = assay("reduce", "flip.metal", "--kind", "race-read-write", "--output", "small.metal")
    assert done.code == 0, done.err
    assert "assay check small.metal shows: race-read-write" in done.out
    done = assay("check", "small.metal", "--check", "race")
    assert done.code == 1
    assert "[race-read-write]" in done.out


def test_json_has_the_source_and_the_finding(assay: Assay, folder: Path) -> None:
    done = assay("reduce", "flip.metal", "--check", "race", "--json")
    data = json.loads(done.out)
    assert data["finding"]["kind"] == "race-read-write"
    assert data["lines_after"] < data["lines_before"]
    assert "kernel void flip" in data["source"]


@pytest.mark.slow
def test_what_is_left_has_no_findings_of_other_kinds(assay: Assay, folder: Path) -> None:
    barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);"
    written = RACY.replace("s[t] = x[t];", f"s[255 - t] = 0;\n{barrier}\ns[t] = x[t];")
    (folder / "written.metal").write_text(written)
    done = assay("reduce", "written.metal", "--output", "small.metal")
    assert done.code == 0, done.err
    done = assay("check", "small.metal", "--json")
    assert {each["check"] for each in json.loads(done.out)["findings"]} == {"race"}


@pytest.mark.slow
def test_the_command_that_shows_the_finding_is_told(assay: Assay, folder: Path) -> None:
    turned = RACY.replace("float s[256]", "float s[32]").replace("s[255 - t]", "s[31 - t]")
    (folder / "turn.metal").write_text(f"//! [kernel.flip]\n//! threadgroup = 32\n{turned}")
    done = assay("reduce", "turn.metal", "--check", "lanes", "--output", "small.metal")
    assert done.code == 0, done.err
    assert "assay check small.metal --check lanes shows: lane-race" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.metal",), "there is no such file"),
        (("notes.txt",), "expected MSL source"),
        (("whole.metal",), "whole.metal: there is no finding to reduce it to"),
        (("flip.metal", "--kind", "nan"), "no finding of kind 'nan'"),
        (("flip.metal", "--check", "nothing"), "--check nothing"),
        (("flip.metal", "-f", "other"), "there is no kernel 'other'"),
        (("flip.metal", "-o", "flip.metal"), "this would write over what is read"),
    ],
)
def test_bad_input_is_told(
    assay: Assay, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = assay("reduce", *arguments)
    assert done.code == 2
    assert message in done.err

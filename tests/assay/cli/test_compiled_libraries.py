"""inspect, check and time of a library that Apple's compiler would have made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.compiler.air.container import read_container
from tests.support.metallib import Buffer, kernel, library

Assay = Callable[..., Any]
COPY = kernel(
    "copy",
    """  %i = zext i32 %p0 to i64
  %from = getelementptr float, ptr addrspace(1) %b0, i64 %i
  %v = load float, ptr addrspace(1) %from
  %to = getelementptr float, ptr addrspace(1) %b1, i64 %i
  store float %v, ptr addrspace(1) %to""",
    (Buffer(name="x", element="float", access="read"), Buffer(name="y", element="float")),
)
ARGUMENTS = """[kernel.copy]
threads = [64, 1, 1]
arguments.x = {{ dtype = "float32", shape = [64], fill = "random" }}
arguments.y = {{ dtype = "float32", shape = [{}], fill = "zeros" }}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "copy.metallib"
    path.write_bytes(library({"copy": COPY}))
    return path


def given(path: Path, length: int) -> list[object]:
    arguments = path.with_name("arguments.toml")
    arguments.write_text(ARGUMENTS.format(length))
    return ["--args", arguments]


def test_inspect_lists_the_kernels_with_their_arguments(assay: Assay, path: Path) -> None:
    done = assay("inspect", path, "--json")
    assert done.code == 0
    (found,) = json.loads(done.out)["kernels"]
    assert [(a["index"], a["name"], a["access"]) for a in found["arguments"]] == [
        (0, "x", "read"),
        (1, "y", "read_write"),
    ]
    assert found["place"] == f"{path}/copy.ll:1"


def test_inspect_shows_the_listing_whose_lines_findings_name(assay: Assay, path: Path) -> None:
    found = assay("check", path, *given(path, 8)).out
    (line,) = {
        each.split(":")[1] for each in found.split("\n") if each.startswith(f"{path}/copy.ll:")
    }
    shown = assay("inspect", path, "--listing").out
    (text,) = [each for each in shown.split("\n") if each.strip().startswith(f"{line} | ")]
    assert "store float" in text
    (kernel,) = json.loads(assay("inspect", path, "--listing", "--json").out)["kernels"]
    assert "store float" in kernel["listing"][int(line) - 1]


def test_a_library_without_kernels_says_what_it_has(assay: Assay, path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"TYPE\1\0\2", b"TYPE\1\0\1"))
    done = assay("inspect", path)
    said = " ".join(done.out.split())
    assert "0 kernels; functions of other kinds, which do not run here: 1 fragment" in said
    failed = assay("check", path)
    assert failed.code == 2
    assert "there is no kernel in it, but functions that do not run: 1 fragment" in failed.err


def test_check_points_at_the_line_of_the_listing(assay: Assay, path: Path) -> None:
    assert assay("check", path, *given(path, 64)).code == 0
    done = assay("check", path, *given(path, 60))
    assert done.code == 1
    assert "copy.ll:8:1: error: out-of-bounds write of 4 bytes at byte 240 of y" in done.out
    assert "8 |   store float %" in done.out


def test_time_predicts_it(assay: Assay, path: Path) -> None:
    done = assay("time", path, *given(path, 64), "--json")
    assert done.code == 0
    assert "copy" in json.loads(done.out)["program"]


@pytest.mark.parametrize(
    ("command", "done"),
    [pytest.param("check", "checked", marks=pytest.mark.slow), ("time", "timed")],
)
def test_of_many_kernels_stderr_says_how_many_are_done(
    assay: Assay, path: Path, monkeypatch: pytest.MonkeyPatch, command: str, done: str
) -> None:
    def run(count: int) -> list[str]:
        names = [f"k{number}" for number in range(count)]
        path.write_bytes(library({name: COPY.replace("@copy", f"@{name}") for name in names}))
        text = ARGUMENTS.format(64)
        path.with_suffix(".toml").write_text("".join(text.replace("copy", x) for x in names))
        ended = assay(command, path, "--args", path.with_suffix(".toml"))
        assert ended.code == 0, ended.err
        return [line for line in ended.err.split("\n") if line]

    assert run(9) == []  # they took no time
    monkeypatch.setattr("assay.cli.terminal._QUIET_S", 0.0)
    assert run(9) == [f"{number}/9 kernels {done}" for number in range(1, 10)]
    assert run(3) == []


def test_a_damaged_library_is_refused_without_a_traceback(assay: Assay, path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])
    for command in ("inspect", "check", "time"):
        done = assay(command, path)
        assert done.code != 0
        assert "damaged or truncated Metal library" in done.out + done.err


def test_commands_for_models_name_those_for_kernels(assay: Assay, path: Path) -> None:
    recorded = ("record", "--device", "emulated", "-o", path.with_name("a.assay-recording"))
    for command in (("run",), recorded):
        done = assay(*command, path)
        assert done.code != 0
        assert f"{path}: these are compiled kernels, not a model; `assay check {path}`" in done.err
        assert "`assay time`" in done.err and "`assay inspect`" in done.err


def test_an_empty_library_is_called_empty(assay: Assay, path: Path) -> None:
    path.write_bytes(b"")
    for command in ("inspect", "check", "time"):
        done = assay(command, path)
        assert done.code != 0
        assert f"{path}: the file is empty" in done.out + done.err


def test_a_library_damaged_after_it_was_opened_is_refused(assay: Assay, path: Path) -> None:
    assert assay("check", path, *given(path, 64)).code == 0
    whole = path.read_bytes()
    code = read_container(whole, "x").functions["copy"].bitcode()
    path.write_bytes(whole.replace(code, bytes(len(code))))
    for command in ("inspect", "check", "time"):
        done = assay(command, path, *(given(path, 64) if command != "inspect" else ()))
        assert done.code != 0, command
        assert "the bitcode of 'copy' is not what its hash says" in done.out + done.err

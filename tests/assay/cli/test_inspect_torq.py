"""inspect of Torq executables: what it says of them, and how it fails."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.hal.torq.archive import Container, write_container
from assay.hal.torq.format import StartHost
from assay.hal.torq.write import write_executable
from assay.hw.torq.notes import Notes, SliceRun, TaskNote
from tests.support.torq_executables import multiply

Assay = Callable[..., Any]


@pytest.fixture
def multiply_file(tmp_path: Path) -> Path:
    path = tmp_path / "multiply.torq"
    path.write_bytes(write_executable(multiply()))
    return path


def test_inspect_shows_bindings_actions_jobs_and_memory(assay: Assay, multiply_file: Path) -> None:
    out = assay("inspect", multiply_file).out
    assert "executable multiply, runtime 2, hardware id 0" in out
    assert "binding 0: buffer 0 from byte 0, 136 B at XRAM 0x101000, read only" in out
    assert "start NSS at LRAM 0x0 (slice 0, DMA in, DMA out): 5 tasks" in out
    assert "SLC0  program at 0x05a00  after #2" in out
    assert "XW    store 64 B  LRAM 0x10c0 to 0x1100 -> XRAM 0x102000 to 0x102040  after #3" in out
    assert "LRAM  0x00001000 to 0x00001100  actions 0 to 4  buffer 0" in out
    assert "1 NSS programs of 5 tasks: runs of slices 1 of SLC0; 2 loads of" in out
    assert "CFG" not in out


def test_words_are_disassembled_where_they_are_executed(assay: Assay, multiply_file: Path) -> None:
    out = assay("inspect", multiply_file, "--words").out
    assert "NPU program of action 2 at LRAM 0x00000" in out
    assert "0x05b00: a2001000  DEDR descriptor from 0x001000, 2 loops, last" in out
    assert "SYN wait for all: dr wr br qw act ce0, last" in out


def test_the_task_graph_is_printed_for_graphviz(assay: Assay, multiply_file: Path) -> None:
    lines = assay("inspect", multiply_file, "--dot").out.splitlines()
    assert (lines[0], lines[-1]) == ("digraph tasks {", "}")
    assert "  j2 -> j3;" in lines


def test_json_has_everything(assay: Assay, multiply_file: Path) -> None:
    (found,) = json.loads(assay("inspect", multiply_file, "--json").out)["executables"]
    assert [job["unit"] for job in found["jobs"]] == ["HOST", "XR", "XR", "SLC0", "XW"]
    assert found["programs"][0]["problem"] == ""
    assert "words" not in found["jobs"][3]
    with_words = json.loads(assay("inspect", multiply_file, "--json", "--words").out)
    assert with_words["executables"][0]["jobs"][3]["words"][0]["word"] == 0x100E0080


def test_jobs_tell_what_their_compiler_meant_each_run_to_do(assay: Assay, tmp_path: Path) -> None:
    task = TaskNote(operation="mul of y", source="model.mlir:3")
    runs = (
        SliceRun(unit="SLC1", address=0, tasks=()),
        SliceRun(unit="SLC0", address=0x5A00, tasks=(task,)),
    )
    path = tmp_path / "multiply.torq"
    path.write_bytes(write_executable(replace(multiply(), notes=Notes(slice_runs=runs))))
    out = assay("inspect", path).out
    assert "SLC0  program at 0x05a00  [mul of y (model.mlir:3)]  after #2" in out


def test_an_archive_with_executables_is_told_from_a_module(assay: Assay, tmp_path: Path) -> None:
    path = tmp_path / "model.vmfb"
    members = (("a_torq_fb.fb", multiply()), ("b_torq_fb.fb", multiply()))
    path.write_bytes(write_container(Container(executables=members, module=b"host")))
    out = assay("inspect", path).out
    assert "a_torq_fb.fb: executable multiply" in out
    assert "b_torq_fb.fb: executable multiply" in out


def test_what_a_file_says_cannot_steer_the_terminal(assay: Assay, tmp_path: Path) -> None:
    call = StartHost(function="\x1b[2Jf", arguments=())
    hostile = replace(multiply(), name="\x1b]0;x\x07", actions=(call,), host_code=b"ELF")
    path = tmp_path / "hostile.torq"
    path.write_bytes(write_executable(hostile))
    for option in ("--all", "--dot"):
        assert "\x1b" not in assay("inspect", path, option).out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"runtime_version": 9}, "written for runtime version 9"),
        ({"hw_id": 4}, "compiled for hardware id 4, and SL2610 has 0"),
    ],
)
def test_what_cannot_run_is_refused_with_the_reason(
    assay: Assay, tmp_path: Path, change: dict[str, int], message: str
) -> None:
    path = tmp_path / "other.torq"
    path.write_bytes(write_executable(replace(multiply(), **change)))  # type: ignore[arg-type]
    done = assay("inspect", path)
    assert done.code == 1
    assert message in done.err


def test_wrong_options_and_files_are_refused(
    assay: Assay, tmp_path: Path, multiply_file: Path
) -> None:
    assert assay("inspect", tmp_path / "none.torq").code == 2
    assert "--msl is for modules and models" in assay("inspect", multiply_file, "--msl", "x").err
    source = tmp_path / "x.metal"
    source.write_text("")
    assert "--words is for Torq executables" in assay("inspect", source, "--words").err
    done = assay("inspect", multiply_file, "--torq-hw", "512:9:coral_v1:nss_v1")
    assert "slice count is 9; 1 to 2" in done.err
    damaged = tmp_path / "damaged.torq"
    damaged.write_bytes(b"\x08\x00\x00\x00SNPU" + b"\xff" * 40)
    assert "damaged or truncated FlatBuffer" in assay("inspect", damaged).err

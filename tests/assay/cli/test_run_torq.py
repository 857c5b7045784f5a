"""run of Torq executables: results, files, and how it fails."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.cli.torq.run import first
from assay.hal.torq.archive import Container, write_container
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.format import (
    Alloc,
    BufferInfo,
    BufferType,
    ElementType,
    HostCopy,
    Segment,
    StartHost,
)
from assay.hal.torq.write import write_executable
from assay.hw.torq.words.commands import NssProgram, NssTask
from assay.sim.native.c_unit import CUnit
from assay.traces.files import read_trace
from tests.support.torq_executables import BLOCK, CODE, INPUTS, OUTPUT, image, load, multiply, store

Assay = Callable[..., Any]


@pytest.fixture
def multiply_file(tmp_path: Path) -> Path:
    path = tmp_path / "multiply.torq"
    path.write_bytes(write_executable(multiply()))
    return path


@pytest.fixture
def operands(tmp_path: Path) -> Path:
    """a counts from 0, b is 2 everywhere; bias 10, scale 2^16: results are 2 a + 10 - 3."""
    a, b = np.arange(64, dtype=np.int8), np.full(64, 2, np.int8)
    data = a.tobytes() + b.tobytes() + np.array([10, 1 << 16], np.int32).tobytes()
    path = tmp_path / "operands.bin"
    path.write_bytes(data)
    return path


def test_time_says_why_each_unit_has_no_work(assay: Assay, multiply_file: Path) -> None:
    text = assay("time", multiply_file).out
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("  ")}
    assert "not started yet" in lines["XW"] and "NSS waits for XR" in lines["XW"]
    assert "nothing left to do" in lines["XR"]
    assert lines["NSS"].split(maxsplit=1)[1].startswith("waits for")
    found = json.loads(assay("time", multiply_file, "--json").out)
    for by in ("units", "reasons"):
        assert all(sum(unit.values()) == found["cycles"] for unit in found[by].values())
    assert found["reasons"]["XR"]["nothing left to do"] > 0


def test_a_run_that_has_to_compile_first_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CUnit, "is_cached", lambda unit: True)
    assert first("running") == "running"
    monkeypatch.setattr(CUnit, "is_cached", lambda unit: False)
    assert first("running").endswith("takes some seconds once, then running")


def test_run_prints_the_buffers_that_the_program_writes(
    assay: Assay, multiply_file: Path, operands: Path
) -> None:
    done = assay("run", multiply_file, "--input", f"136xi8=@{operands}")
    assert "EXEC @multiply" in done.out
    assert "64xi8=7 9 11 13" in done.out
    assert "cycles of the NPU" in done.out


def test_results_go_to_files_and_json(
    assay: Assay, multiply_file: Path, operands: Path, tmp_path: Path
) -> None:
    stored = tmp_path / "results.bin"
    done = assay(
        "run", multiply_file, "--input", f"136xi8=@{operands}", "--output", f"@{stored}", "--json"
    )
    found = json.loads(done.out)
    wanted = np.clip(2 * np.arange(64) + 7, -128, 127)
    assert found["cycles"] > 0
    assert np.fromfile(stored, np.int8).tolist() == wanted.tolist()


def test_a_member_of_an_archive_is_chosen_by_name(
    assay: Assay, operands: Path, tmp_path: Path
) -> None:
    path = tmp_path / "model.vmfb"
    members = (("a_torq_fb.fb", multiply()), ("b_torq_fb.fb", multiply()))
    path.write_bytes(write_container(Container(executables=members)))
    value = f"136xi8=@{operands}"
    assert "EXEC @b_torq_fb.fb" in assay("run", path, "-f", "b_torq", "--input", value).out
    assert "several executables are there: a_torq_fb.fb, b" in assay("run", path).err
    assert "none of the executables matches" in assay("run", path, "-f", "none").err


def test_wrong_inputs_and_options_are_refused(
    assay: Assay, multiply_file: Path, tmp_path: Path
) -> None:
    done = assay("run", multiply_file)
    assert done.code == 2
    assert "0 inputs for 1 buffers that are read (136 bytes); for example" in done.err
    assert done.err.endswith("--input 136xi8=0\n")
    done = assay("run", multiply_file, "--input", "5xi8=0")
    assert "an input of 5 bytes for buffer 0, which has 136" in done.err
    assert "--trace" in assay("run", multiply_file, "--trace", "x.doc").err
    assert "--device is not" in assay("run", multiply_file, "--device", "native").err
    assert "there is no such file" in assay("run", tmp_path / "none.torq").err
    done = assay("run", multiply_file, "--torq-hw", "16:1:coral_v1:nss_v1", "--input", "136xi8=0")
    assert done.code == 1
    assert "LRAM" in done.err


def test_a_run_leaves_a_timeline(
    assay: Assay, multiply_file: Path, operands: Path, tmp_path: Path
) -> None:
    page = tmp_path / "run.html"
    done = assay("run", multiply_file, "--input", f"136xi8=@{operands}", "--trace", page)
    assert done.code == 0
    text = page.read_text()
    assert "SLC0" in text or len(text) > 10_000


@pytest.mark.parametrize("command", ["run", "time"])
def test_a_run_that_faults_leaves_the_timeline_up_to_there(
    assay: Assay, multiply_file: Path, tmp_path: Path, command: str
) -> None:
    whole, part = tmp_path / "whole.pftrace", tmp_path / "part.pftrace"
    inputs = ("--input", "136xi8=1")
    assert assay(command, multiply_file, *inputs, "--trace", whole).code == 0
    executable = multiply()
    first = next(each for each in executable.actions if isinstance(each, HostCopy))
    moved = replace(first, constant_index=0)  # by a constant that nobody gives
    broken = replace(executable, actions=(*executable.actions, moved))
    path = tmp_path / "broken.torq"
    path.write_bytes(write_executable(broken))
    done = assay(command, path, *inputs, "--trace", part)
    assert done.code == 1 and f"{part} shows the run up to its end" in done.err.replace("\n", " ")
    assert len(read_trace(part).slices) >= len(read_trace(whole).slices) - 1


def test_a_timeline_that_cannot_be_written_does_not_hide_the_fault(
    assay: Assay, multiply_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("assay.traces.files.write_trace", full)
    monkeypatch.setattr(LoadedExecutable, "_perform", lambda *_: 1 / 0)
    done = assay("run", multiply_file, "--input", "136xi8=1", "--trace", tmp_path / "run.html")
    assert "No space left on device" in done.err and "ZeroDivisionError" in done.err


def test_host_code_is_refused_or_left_out_on_request(assay: Assay, tmp_path: Path) -> None:
    call = StartHost(function="softmax", arguments=(0x101000,), sizes=(4,))
    executable = replace(multiply(), actions=(*multiply().actions, call), host_code=b"ELF")
    path = tmp_path / "host.torq"
    path.write_bytes(write_executable(executable))
    done = assay("run", path, "--input", "136xi8=1")
    assert done.code == 1
    assert "host code: it is no ELF file" in done.err
    assert assay("run", path, "--input", "136xi8=1", "--skip-host-code").code == 0


def test_results_have_the_type_that_the_executable_states(
    assay: Assay, operands: Path, tmp_path: Path
) -> None:
    info = BufferInfo(
        number=1,
        allocated=-1,
        deallocated=-1,
        last_use=-1,
        buffer_type=BufferType.XRAM,
        address=OUTPUT,
        size=64,
        shape=(2, 4, 4),
        element_type=ElementType.I16,
        strides=(),
    )
    path = tmp_path / "typed.torq"
    path.write_bytes(write_executable(replace(multiply(), buffers=(info,))))
    out = assay("run", path, "--input", f"136xi8=@{operands}").out
    assert "2x4x4xi16=" in out


def test_a_result_that_is_stored_too_early_is_found(
    assay: Assay, multiply_file: Path, tmp_path: Path
) -> None:
    done = assay("check", multiply_file)
    assert (done.code, done.out.startswith("1 executable, no findings")) == (0, True)
    program = NssProgram(
        tasks=(
            load(CODE, 0x5A00, 0x200),
            load(INPUTS, 0x1000, 136),
            NssTask(slc_start=(True, False), slc_cfg_addr=(0x5A00, 0)),
            store(0x10C0, OUTPUT, 64),
            NssTask(slc_wait=(True, False)),
        )
    )
    data = image(program, 0, 640)
    block = Segment(address=BLOCK, size=640, data=data)
    path = tmp_path / "early.torq"
    path.write_bytes(
        write_executable(replace(multiply(), segments=(multiply().segments[0], block)))
    )
    done = assay("check", path)
    assert done.code == 1
    assert "early.torq: task 2 SLC0 DEQW at" in done.out
    assert "SLC0 writes what XW reads (DOLR of task 3)" in done.out
    assert "XRAM 0x102000-0x102040" in done.out
    found = json.loads(assay("check", path, "--json").out)["findings"]
    assert {finding["memory"] for finding in found} >= {"XRAM"}
    written = tmp_path / "findings.xml"
    done = assay("check", path, "--format", "junit", "--output", written)
    assert "finding" in done.out
    assert 'failures="1"' in written.read_text()


def test_time_says_what_the_units_did(assay: Assay, multiply_file: Path, tmp_path: Path) -> None:
    out = assay("time", multiply_file).out
    assert "multiply: " in out
    assert "DMA and compute at once" in out
    found = json.loads(assay("time", multiply_file, "--json", "--trace", tmp_path / "x.html").out)
    assert sum(found["overlap"].values()) == found["cycles"]
    assert all(sum(causes.values()) == found["cycles"] for causes in found["units"].values())
    assert (tmp_path / "x.html").stat().st_size > 10_000
    assert "--grid is not for the NPU" in assay("time", multiply_file, "--grid", "1").err


def test_buffers_that_do_not_fit_into_lram_at_once_are_found(assay: Assay, tmp_path: Path) -> None:
    allocs = tuple(
        Alloc(number=number, address=0, size=0x50000, buffer_type=BufferType.LRAM)
        for number in (7, 8)
    )
    path = tmp_path / "full.torq"
    executable = multiply()
    path.write_bytes(write_executable(replace(executable, actions=(*allocs, *executable.actions))))
    done = assay("check", path)
    assert done.code == 1
    assert "HOST: error: from action 2 on, buffers 7, 8, 0 need 655616 bytes" in done.out
    assert "[npu-lram-budget]" in done.out


def test_what_skipped_host_code_would_have_written_counts_as_written(
    assay: Assay, tmp_path: Path
) -> None:
    path = tmp_path / "calls.torq"
    fill = StartHost(function="fill", arguments=(OUTPUT,), sizes=(64,))
    executable = replace(multiply(), actions=(fill,), host_code=b"ELF")
    path.write_bytes(write_executable(executable))
    done = assay("check", path, "--skip-host-code")
    assert (done.code, done.out.startswith("1 executable, no findings")) == (0, True)
    nowhere = replace(fill, sizes=(8,))
    path.write_bytes(write_executable(replace(executable, actions=(nowhere,))))
    done = assay("check", path, "--skip-host-code")
    assert (done.code, "XRAM 0x102008-0x102040" in done.out) == (1, True)

"""Executables of the NPU from Python: loaded, run, checked and timed like other programs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.checks import CheckInputError, report_json, report_junit, report_sarif
from assay.hal.status import StatusError
from assay.hal.torq.archive import Container, write_container
from assay.hal.torq.format import Executable, Segment
from assay.hal.torq.write import write_executable
from assay.hw.torq.words.commands import NssProgram, NssTask
from tests.support.torq_executables import BLOCK, CODE, INPUTS, OUTPUT, image, load, multiply, store

OPERANDS = np.frombuffer(
    np.arange(64, dtype=np.int8).tobytes()
    + np.full(64, 2, np.int8).tobytes()
    + np.array([10, 1 << 16], np.int32).tobytes(),
    np.int8,
)
PRODUCTS = np.clip(2 * np.arange(64) + 7, -128, 127)


def early() -> Executable:
    """Its result is stored before the slice is done."""
    program = NssProgram(
        tasks=(
            load(CODE, 0x5A00, 0x200),
            load(INPUTS, 0x1000, 136),
            NssTask(slc_start=(True, False), slc_cfg_addr=(0x5A00, 0)),
            store(0x10C0, OUTPUT, 64),
            NssTask(slc_wait=(True, False)),
        )
    )
    block = Segment(address=BLOCK, size=640, data=image(program, 0, 640))
    return replace(multiply(), name="early", segments=(multiply().segments[0], block))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "early.torq"
    made.write_bytes(write_executable(early()))
    return made


def test_an_executable_is_loaded_and_called_with_arrays(tmp_path: Path) -> None:
    made = tmp_path / "multiply.torq"
    made.write_bytes(write_executable(multiply()))
    for source in (made, str(made), made.read_bytes()):
        module = assay.load(source)
        assert isinstance(module, assay.NpuModule)
        assert list(module) == ["multiply"]
        assert np.array_equal(module.multiply(OPERANDS), PRODUCTS)
    assert str(module["multiply"].signature) == (
        "multiply(input0: tensor<136xi8>) -> (tensor<64xi8>)"
    )
    with pytest.raises(ValueError, match="0 inputs for 1 buffers that are read"):
        module.multiply()


def test_the_executables_of_a_file_share_one_npu_but_no_xram() -> None:
    members = (("a", multiply()), ("b", early()))
    module = assay.load(write_container(Container(executables=members)))
    assert module["a"].loaded.device is module["b"].loaded.device is module.device.npu
    first = module["a"](OPERANDS)
    module["b"](np.zeros(136, np.int8))
    assert np.array_equal(module["a"](OPERANDS), first)


def test_an_npu_that_faulted_runs_the_next_program() -> None:
    waiting = NssProgram(tasks=(NssTask(slc_wait=(True, False)),))
    block = Segment(address=BLOCK, size=640, data=image(waiting, 0, 640))
    stuck = replace(multiply(), segments=(multiply().segments[0], block))
    members = (("bad", stuck), ("ok", multiply()))
    module = assay.load(write_container(Container(executables=members)))
    with pytest.raises(StatusError, match="which is not running: it was never started"):
        module["bad"](OPERANDS)
    assert np.array_equal(module["ok"](OPERANDS), PRODUCTS)


def test_check_gives_the_same_report_for_both_machines(path: Path) -> None:
    npu = assay.check(path)
    gpu = assay.check(
        "kernel void f(device float *x, uint i [[thread_position_in_grid]]) { x[0] = i; }"
    )
    assert type(npu) is type(gpu) and npu and gpu
    one, other = report_json(npu), report_json(gpu)
    assert one.keys() == other.keys()
    assert set(other["findings"][0]) <= set(one["findings"][0])
    assert one["findings"][0]["parties"][0]["unit"]["unit"] == "SLC0"
    assert json.dumps(one) and "early" in report_junit(npu)


def test_a_finding_of_the_npu_names_both_units_and_the_bytes(path: Path) -> None:
    race = next(f for f in assay.check(path).findings if f.kind == "npu-race")
    assert (race.check, race.kernel, race.memory) == ("race", "early", "LRAM")
    assert (race.at.unit, race.at.agent, race.at.task) == ("SLC0", "DEQW", 2)
    other = race.parties[1].unit
    assert other is not None and (other.unit, other.agent, other.task) == ("XW", "DOLR", 3)
    assert race.hint.startswith("let the command stream wait")


def test_sarif_has_logical_places_and_fingerprints_that_last(path: Path) -> None:
    report = assay.check(path)
    (run,) = report_sarif(report)["runs"]
    result = next(r for r in run["results"] if r["ruleId"] == "npu-race")
    (place,) = result["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"].endswith("early.torq")
    (logical,) = place["logicalLocations"]
    assert logical["fullyQualifiedName"] == "early.task[2].SLC0.DEQW"
    (related,) = result["relatedLocations"]
    assert related["logicalLocations"][0]["fullyQualifiedName"] == "early.task[3].XW.DOLR"
    (again,) = report_sarif(assay.check(path))["runs"]
    prints = [[r["partialFingerprints"] for r in each["results"]] for each in (run, again)]
    assert prints[0] == prints[1] and len({str(p) for p in prints[0]}) == len(prints[0])
    assert all(rule["help"]["text"] for rule in run["tool"]["driver"]["rules"])


@pytest.mark.parametrize(
    "accepted", ["npu-race", "race", "npu-race:early", "npu-*:early:SLC0", "race:early:XW.DOLR:3"]
)
def test_findings_are_suppressed_by_kind_program_unit_and_task(path: Path, accepted: str) -> None:
    report = assay.check(path, suppress=[accepted])
    assert "npu-race" in {f.kind for f in report.all_findings}
    assert "npu-race" not in {f.kind for f in report.findings}


@pytest.mark.parametrize("other", ["npu-race:late", "npu-race:early:CDMA", "race:early:SLC0:1"])
def test_a_suppression_of_another_place_suppresses_nothing(path: Path, other: str) -> None:
    assert "npu-race" in {f.kind for f in assay.check(path, suppress=[other]).findings}


def test_checks_are_chosen_by_name(path: Path) -> None:
    assert {f.check for f in assay.check(path, checks="init").findings} <= {"init"}
    with pytest.raises(ValueError, match="'lanes' is no check; there are race, init"):
        assay.check(path, checks="lanes")
    with pytest.raises(CheckInputError, match="seeds are for GPUs"):
        assay.check(path, seeds=[1])


def test_a_checked_block_sees_what_runs_on_an_npu(path: Path) -> None:
    module = assay.load(path)
    with assay.checking() as report:
        module.early(OPERANDS)
        module.early(OPERANDS)
    assert {f.kind for f in report.findings} >= {"npu-race"}
    assert [(k.name, k.noun) for k in report.kernels] == [("early", "executable")]
    assert "1 executable," in str(report)
    module.early(OPERANDS)  # nobody observes any more
    before = len(report.all_findings)
    with assay.checking("budget") as other:
        module.early(OPERANDS)
    assert not other.findings and len(report.all_findings) == before


def test_what_an_earlier_run_wrote_counts_as_written() -> None:
    module = assay.load(write_executable(multiply()))
    module.multiply(OPERANDS)
    with assay.checking() as report:
        module.multiply(OPERANDS)
        module.multiply(OPERANDS)
    assert not report.findings


def test_time_gives_a_result_with_what_all_results_have(path: Path) -> None:
    result = assay.time(path)
    assert isinstance(result, assay.NpuTimeResult) and isinstance(result, assay.ProgramTime)
    assert (result.program, result.machine) == ("early", "SL2610")
    assert sum(result.causes.values()) == result.cycles > 0
    assert {part.name for part in result.parts} == {"NSS", "XR", "XW", "SLC0"}
    assert all(sum(part.causes.values()) == part.cycles for part in result.parts)
    assert result.to_json()["cycles"] == result.cycles
    assert len(result.trace().slices) > 0 and "early: " in str(result)
    assert assay.time(assay.load(path)).cycles == assay.time(assay.load(path).early).cycles
    with pytest.raises(assay.TimeInputError, match="an input of 3 bytes"):
        assay.time(path, None, np.zeros(3, np.int8))


def test_a_timed_block_sees_what_runs_on_an_npu(path: Path) -> None:
    module = assay.load(path)
    with assay.timing() as timing:
        module.early(OPERANDS)
        module.early(OPERANDS)
    assert [each.program for each in timing.npu] == ["early", "early"]
    assert timing.npu[0].cycles == timing.npu[1].cycles == assay.time(path).cycles
    assert timing.result().dispatches == ()

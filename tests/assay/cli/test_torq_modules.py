"""A `.vmfb` with a host program on the NPU is run, checked, timed and shown like a `.torq`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay as package
from assay.hal.torq.archive import Container, write_container
from assay.hal.torq.write import write_executable
from assay.hal.vm.build.torq import torq_module
from tests.compiler.graph import models
from tests.support.torq_executables import multiply

Assay = Callable[..., Any]
PRODUCTS = np.clip(2 * np.arange(64) + 7, -128, 127).astype(np.int8)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The same program with and without a host program around it."""
    module, plain = tmp_path / "multiply.vmfb", tmp_path / "multiply.torq"
    module.write_bytes(torq_module(multiply()))
    plain.write_bytes(write_executable(multiply()))
    return module, plain


@pytest.fixture
def operands(tmp_path: Path) -> str:
    path = tmp_path / "operands.bin"
    numbers = np.array([10, 1 << 16], np.int32).tobytes()
    path.write_bytes(bytes(range(64)) + bytes([2] * 64) + numbers)
    return f"136xi8=@{path}"


def test_both_forms_give_the_same_results_times_and_findings(
    assay: Assay, files: tuple[Path, Path], operands: str, tmp_path: Path
) -> None:
    given = ("--input", operands)
    runs = [json.loads(assay("run", path, *given, "--json").out) for path in files]
    assert [run.pop("function") for run in runs] == ["main", "multiply"]
    assert runs[0] == runs[1]
    assert runs[0]["results"][0]["values"] == PRODUCTS.tolist()
    times = [json.loads(assay("time", path, "--json").out) for path in files]
    assert times[0] == times[1] and times[0]["executable"] == "multiply"
    checks = [assay("check", path, *given) for path in files]
    assert checks[0].code == checks[1].code == 0
    assert checks[0].out == checks[1].out
    np.save(tmp_path / "products.npy", PRODUCTS)
    reference = ("--reference", f"@{tmp_path / 'products.npy'}")
    assert [assay("diff", path, *given, *reference).code for path in files] == [0, 0]


def test_inspecting_a_module_shows_its_functions_and_its_executable(
    assay: Assay, files: tuple[Path, Path]
) -> None:
    module, plain = files
    declared = "sync func @main(%input0: tensor<136xi8>) -> (%output0: tensor<64xi8>)"
    shown = assay("inspect", module).out
    assert shown.startswith(f"host program: {declared}\nmultiply_torq_fb.fb: executable multiply")
    assert shown.split("\n", 2)[2] == assay("inspect", plain).out.split("\n", 1)[1]
    assert json.loads(assay("inspect", module, "--json").out)["functions"] == [declared]


def test_inputs_are_checked_before_anything_is_loaded(
    assay: Assay, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.hal.torq.driver import TorqDevice

    def loaded(*_: object) -> None:
        raise AssertionError("it was loaded")

    monkeypatch.setattr(TorqDevice, "load_executable", loaded)
    module, plain = files
    done = assay("run", module, "--input", "16xi8=0")
    assert done.code == 2
    assert "an input of 16 bytes for argument 0, which is a tensor<136xi8> of 136" in done.err
    missing = assay("run", module).err
    assert "main takes 1 input, none given" in missing
    assert "tensor<136xi8>           such as --input 136xi8=0" in missing
    assert "an input of 16 bytes for buffer 0" in assay("run", plain, "--input", "16xi8=0").err


def test_the_executable_of_a_module_can_be_run_without_its_host_program(
    assay: Assay, files: tuple[Path, Path], operands: str
) -> None:
    module, _ = files
    done = assay("run", module, "--function", "torq_fb", "--input", operands)
    assert done.code == 0 and "EXEC @multiply_torq_fb.fb" in done.out
    loaded = package.load(module)
    assert list(loaded) == ["multiply_torq_fb.fb", "main"]
    assert np.array_equal(loaded.main(np.fromfile(operands.split("@")[1], np.int8)), PRODUCTS)
    done = assay("run", module, "--function", "none")
    assert done.code == 2 and "none of the functions matches" in done.err


def test_a_host_program_of_another_release_leaves_its_executables_to_be_run(
    assay: Assay, tmp_path: Path, operands: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "older.vmfb"
    monkeypatch.setattr("assay.hal.vm.build.module.BYTECODE_MAJOR", 15)
    path.write_bytes(torq_module(multiply()))
    done = assay("run", path, "--input", operands)
    assert done.code == 0 and "EXEC @multiply_torq_fb.fb" in done.out
    assert "cannot be run here" in assay("inspect", path).out


@pytest.mark.parametrize("part", [0.15, 0.7, 0.999])
def test_a_module_that_is_cut_short_is_recognised_as_such(
    assay: Assay, files: tuple[Path, Path], tmp_path: Path, part: float
) -> None:
    whole = files[0].read_bytes()
    path = tmp_path / "cut.vmfb"
    path.write_bytes(whole[: int(len(whole) * part)])
    for command in ("run", "inspect", "check", "time"):
        done = assay(command, path, *(("--device", "torq") if command == "run" else ()))
        assert done.code in (1, 2)
        assert "cut short" in done.err or "truncated module" in done.err, (command, done.err)
    if part > 0.5:
        assert "multiply_torq_fb.fb" in done.err


def test_an_archive_whose_host_program_is_none_is_refused(assay: Assay, tmp_path: Path) -> None:
    path = tmp_path / "junk.vmfb"
    members = (("a_torq_fb.fb", multiply()),)
    path.write_bytes(write_container(Container(executables=members, module=b"host" * 20)))
    done = assay("run", path)
    assert done.code == 1 and "not an IREE module" in done.err


@pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
def test_a_model_becomes_a_module_with_its_types(assay: Assay, tmp_path: Path) -> None:
    model = models.tflite_file("small", tmp_path)
    (x,), (expected,) = models.reference("small", tmp_path)
    module = tmp_path / "small.vmfb"
    assert assay("compile", model, "--device", "torq", "-o", module).code == 0
    loaded = package.load(module)
    assert "sync func @main(" in loaded.main.declaration
    assert np.array_equal(loaded.main(x), expected)
    found = json.loads(assay("time", module, "--json").out)
    plain = tmp_path / "small.torq"
    assay("compile", model, "--device", "torq", "-o", plain)
    assert json.loads(assay("time", plain, "--json").out) == found

"""`--torq-hw`: models are compiled for some NPU, and run on no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.hal.torq.read import read_executable
from assay.hal.torq.write import write_executable
from assay.hw.torq.facts.hardware import hardware
from tests.compiler.graph import models
from tests.support.torq_executables import multiply

Assay = Callable[..., Any]
_NPU = ("--device", "torq")
ONE_SLICE, LARGER = "64:1:coral_v1:nss_v1", "7:1024:2:coral_v2:nss_v1:16:0.8"
importable = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@importable
@pytest.mark.parametrize("npu", [ONE_SLICE, LARGER])
def test_a_model_is_compiled_for_the_npu_that_is_named(
    assay: Assay, folder: Path, tmp_path: Path, npu: str
) -> None:
    model = models.tflite_file("small", folder)
    (x,), (expected,) = models.reference("small", folder)
    np.save(tmp_path / "x.npy", x)
    made = tmp_path / "small.torq"
    done = json.loads(assay("compile", model, *_NPU, "--torq-hw", npu, "-o", made, "--json").out)
    wanted = hardware(npu)
    assert done["schedule"]["lram_peak"] <= wanted.lram
    executable = read_executable(made.read_bytes())
    assert (executable.hw_id, executable.notes.hardware) == (wanted.hw_id, wanted.sizes)
    units = {run.unit for run in executable.notes.slice_runs}
    assert units <= {"SLC0", "SLC1"} and len(units) <= wanted.slices
    given = ("--input", f"@{tmp_path / 'x.npy'}", "--output", f"@{tmp_path / 'y.npy'}")
    assert assay("run", made, "--torq-hw", npu, *given).code == 0
    assert np.array_equal(np.load(tmp_path / "y.npy"), expected)
    refused = assay("run", made, *given)
    assert refused.code == 1
    assert f"compiled for hardware {wanted.sizes}" in refused.err
    assert "and SL2610 is 0:512:2:coral_v1:nss_v1" in refused.err
    assert f"made for {wanted.sizes}" in assay("inspect", made).out
    # The same in one step.
    assert assay("run", model, *_NPU, "--torq-hw", npu, *given).code == 0
    assert assay("diff", model, *_NPU, "--torq-hw", npu, "--against", "tosa").code == 0


def test_what_says_for_which_npu_it_is_made_survives_its_file_form(
    assay: Assay, tmp_path: Path
) -> None:
    sizes = hardware("512:2:coral_v2:nss_v1").sizes
    made = replace(multiply(), notes=replace(multiply().notes, hardware=sizes))
    assert read_executable(write_executable(made)) == made
    path = tmp_path / "made.torq"
    path.write_bytes(write_executable(made))
    assert f"compiled for hardware {sizes}" in assay("run", path, "--input", "136xi8=1").err
    # Rates of DMA change times, not results.
    faster = ("--torq-hw", "512:2:coral_v2:nss_v1:16")
    assert assay("run", path, *faster, "--input", "136xi8=1").code == 0


def test_hardware_that_is_none_is_refused_before_compiling(assay: Assay, tmp_path: Path) -> None:
    model = tmp_path / "none.tflite"
    for npu, message in (("SL9999", "is not known"), ("512:3:coral_v1:nss_v1", "slice count")):
        done = assay("compile", model, *_NPU, "--torq-hw", npu)
        assert done.code == 2 and "--torq-hw" in done.err and message in done.err
    done = assay("compile", model, "--torq-hw", "SL2610")
    assert done.code == 2 and "for --device torq" in done.err

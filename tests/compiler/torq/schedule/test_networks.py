"""Networks compiled for the NPU and run on it give what TOSA gives, free of hazards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.compiler.torq.blocks import Program
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.compiler.torq.schedule.compile import program_for, scheduled
from assay.compiler.torq.schedule.options import USUAL, VENDOR, Options
from assay.hal.observe import checking
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.pack import pack
from assay.hw.torq.check.kinds import NPU_CHECKS
from assay.hw.torq.timing.unit_time import npu_time
from assay.sim.check import Checker
from tests.compiler.graph import models
from tests.compiler.torq.machine import Array

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")


def _program(name: str, folder: Path, options: Options = USUAL) -> Program:
    module = models.imported(name, folder)
    run_passes(module, usual_passes())
    return program_for(module, options)


def _results(program: Program, inputs: list[Array], expected: list[Array]) -> list[Array]:
    """The results of a program, with the types and shapes of those that are expected."""
    loaded = LoadedExecutable(pack(program, "network"))
    buffers = [np.zeros(size, np.uint8) for size in loaded.buffer_sizes().values()]
    for number, value in zip(loaded.inputs(), inputs, strict=True):
        buffers[number][:] = np.ascontiguousarray(value).view(np.uint8).reshape(-1)
    loaded.dispatch(buffers)
    made = [buffers[number] for number in loaded.outputs()]
    return [
        data.view(value.dtype).reshape(value.shape)
        for data, value in zip(made, expected, strict=True)
    ]


@pytest.mark.parametrize(
    "options",
    [USUAL, Options(keep=False), Options(double_buffer=False), VENDOR],
    ids=["usual", "nothing kept", "in turn", "vendor"],
)
@pytest.mark.parametrize("name", ["small", "int16_cnn", "ds_cnn"])
def test_a_network_is_exact_and_clean(name: str, options: Options, folder: Path) -> None:
    inputs, expected = models.reference(name, folder)
    program = _program(name, folder, options)
    with checking(Checker(NPU_CHECKS)) as checker:
        found = _results(program, inputs, expected)
    assert checker.findings == ()
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_operators_that_are_done_together_are_exact_and_clean(folder: Path) -> None:
    inputs, expected = models.reference("wide_cnn", folder)
    program = _program("wide_cnn", folder)
    stored = [note for note in program.notes.transfers if note.operation.startswith("store")]
    assert len(stored) < 5, "tensors larger than LRAM go through XRAM"
    with checking(Checker(NPU_CHECKS)) as checker:
        found = _results(program, inputs, expected)
    assert checker.findings == ()
    np.testing.assert_array_equal(expected[0], found[0])


@pytest.mark.parametrize("options", [USUAL, VENDOR], ids=["usual", "vendor"])
def test_a_schedule_takes_about_as_long_as_expected(options: Options, folder: Path) -> None:
    module = models.imported("wide_cnn", folder)
    run_passes(module, usual_passes())
    made = scheduled(module, options)
    loaded = LoadedExecutable(pack(made.program, "network"))
    loaded.dispatch([np.zeros(size, np.uint8) for size in loaded.buffer_sizes().values()])
    time = npu_time(loaded.device.events)
    assert abs(made.summary.cycles - time.cycles) < 0.04 * time.cycles
    moved = sum(work.size for work in loaded.device.events if work.unit in ("XR", "XW"))
    assert abs(made.summary.loaded + made.summary.stored - moved) < 0.1 * moved
    assert abs(made.summary.both - time.both) < 0.1 * time.cycles
    assert made.summary.roofline < time.cycles


def test_the_usual_schedule_is_faster_than_the_vendors(folder: Path) -> None:
    module = models.imported("wide_cnn", folder)
    run_passes(module, usual_passes())
    usual, vendor = (scheduled(module, options).summary for options in (USUAL, VENDOR))
    assert 1.6 * usual.cycles < vendor.cycles
    assert usual.loaded + usual.stored < vendor.loaded + vendor.stored
    assert usual.overlap > 0.5 > vendor.overlap


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mobilenet_v2", "resnet18"])
def test_a_network_that_is_larger_than_the_npus_memory_is_exact(name: str, folder: Path) -> None:
    inputs, expected = models.reference(name, folder)
    for one, other in zip(
        expected, _results(_program(name, folder), inputs, expected), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_a_network_is_compiled_the_same_each_time(folder: Path) -> None:
    one, other = (_program("small", folder) for _ in range(2))
    assert one == other

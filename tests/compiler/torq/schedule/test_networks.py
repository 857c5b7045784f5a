"""Networks compiled for the NPU and run on it give what TOSA gives, free of hazards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.compiler.torq.schedule.compile import Compiled, scheduled
from assay.compiler.torq.schedule.options import USUAL, VENDOR, Options
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.pack import pack
from assay.hw.torq.timing.unit_time import npu_time
from tests.compiler.graph import models

from .running import assert_exact_and_clean, lowered

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")

LARGE = [pytest.param(name, marks=pytest.mark.slow) for name in models.LARGE]
"""Larger than the NPU's memory."""


def _scheduled(name: str, folder: Path, options: Options) -> Compiled:
    module = models.imported(name, folder)
    run_passes(module, usual_passes())
    return scheduled(module, options)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "options",
    [USUAL, Options(keep=False), Options(double_buffer=False), VENDOR],
    ids=["usual", "nothing kept", "in turn", "vendor"],
)
@pytest.mark.parametrize("name", [*models.SMALL, *LARGE])
def test_a_network_is_exact_and_clean(name: str, options: Options, folder: Path) -> None:
    inputs, expected = models.reference(name, folder)
    program = lowered(models.imported(name, folder), options)
    assert_exact_and_clean(program, inputs, expected)


@pytest.mark.slow
@pytest.mark.parametrize("options", [USUAL, VENDOR], ids=["usual", "vendor"])
@pytest.mark.parametrize("name", models.LARGEST)
def test_a_network_of_large_images_is_exact_and_clean(
    name: str, options: Options, folder: Path
) -> None:
    inputs, expected = models.reference(name, folder)
    assert_exact_and_clean(lowered(models.imported(name, folder), options), inputs, expected)


@pytest.mark.slow
def test_operators_that_are_done_together_are_exact_and_clean(folder: Path) -> None:
    inputs, expected = models.reference("wide_cnn", folder)
    program = lowered(models.imported("wide_cnn", folder))
    stored = [note for note in program.notes.transfers if note.operation.startswith("store")]
    assert len(stored) < 5, "tensors larger than LRAM go through XRAM"
    assert_exact_and_clean(program, inputs, expected)


@pytest.mark.parametrize("options", [USUAL, VENDOR], ids=["usual", "vendor"])
def test_a_schedule_takes_about_as_long_as_expected(options: Options, folder: Path) -> None:
    made = _scheduled("wide_cnn", folder, options)
    loaded = LoadedExecutable(pack(made.program, "network"))
    loaded.dispatch([np.zeros(size, np.uint8) for size in loaded.buffer_sizes().values()])
    time = npu_time(loaded.device.events)
    assert abs(made.summary.cycles - time.cycles) < 0.04 * time.cycles
    moved = sum(work.size for work in loaded.device.events if work.unit in ("XR", "XW"))
    assert abs(made.summary.loaded + made.summary.stored - moved) < 0.1 * moved
    assert abs(made.summary.both - time.both) < 0.1 * time.cycles
    assert made.summary.roofline < time.cycles


def test_the_usual_schedule_is_faster_than_the_vendors(folder: Path) -> None:
    usual, vendor = (_scheduled("wide_cnn", folder, each).summary for each in (USUAL, VENDOR))
    assert 1.6 * usual.cycles < vendor.cycles
    assert usual.loaded + usual.stored < vendor.loaded + vendor.stored
    assert usual.overlap > 0.5 > vendor.overlap


def test_a_network_is_compiled_the_same_each_time(folder: Path) -> None:
    one, other = (lowered(models.imported("small", folder)) for _ in range(2))
    assert one == other

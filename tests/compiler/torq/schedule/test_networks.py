"""Networks compiled for the NPU and run on it give what TOSA gives, free of hazards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.compiler.torq.blocks import Program
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.compiler.torq.schedule.compile import program_for
from assay.compiler.torq.schedule.options import USUAL, VENDOR, Options
from assay.hal.observe import checking
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.pack import pack
from assay.hw.torq.check.kinds import NPU_CHECKS
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

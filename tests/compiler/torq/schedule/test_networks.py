"""Networks compiled for the NPU and run on it give what TOSA gives, free of hazards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.compiler.torq.blocks import Program
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.compiler.torq.schedule.compile import compiled, program_for
from assay.hal.observe import checking
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.pack import pack
from assay.hw.torq.check.kinds import NPU_CHECKS
from assay.sim.check import Checker
from tests.compiler.graph import models
from tests.compiler.torq.machine import Array
from tests.models.tflite.network import Network

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")

LARGE = [pytest.param(name, marks=pytest.mark.slow) for name in models.LARGE]
"""Larger than the NPU's memory."""


def _program(name: str, folder: Path, *, keep: bool = True) -> Program:
    module = models.imported(name, folder)
    run_passes(module, usual_passes())
    return program_for(module, keep=keep)


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


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("name", [*models.SMALL, *LARGE])
def test_a_network_is_exact_and_clean(name: str, keep: bool, folder: Path) -> None:
    inputs, expected = models.reference(name, folder)
    program = _program(name, folder, keep=keep)
    with checking(Checker(NPU_CHECKS)) as checker:
        found = _results(program, inputs, expected)
    assert checker.findings == ()
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_network_is_compiled_the_same_each_time(folder: Path) -> None:
    one, other = (_program("small", folder) for _ in range(2))
    assert one == other


def _wide(net: Network) -> bytes:
    x = net.convolution(net.input((1, 8, 224, 4)), 4, 1)
    return net.finish(net.convolution(x, 4, 5))


def test_rows_below_the_last_plane_of_lram_are_fetched_from_lram(folder: Path) -> None:
    path = folder / "wide.tflite"
    path.write_bytes(_wide(Network(3)))
    with checking(Checker(NPU_CHECKS)) as checker:
        LoadedExecutable(pack(compiled(path), "wide")).dispatch(
            [np.zeros(8 * 224 * 4, np.uint8) for _ in range(2)]
        )
    assert checker.findings == ()

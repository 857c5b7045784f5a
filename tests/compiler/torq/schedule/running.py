"""Networks compiled for the NPU, run on it under all checks, and compared with TOSA's reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from assay.compiler.graph.importer import import_model
from assay.compiler.graph.tosa.evaluate import evaluated
from assay.compiler.torq.blocks import Program
from assay.compiler.torq.hl.dialect import hl_context
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.compiler.torq.schedule.compile import program_for
from assay.compiler.torq.schedule.options import USUAL, Options
from assay.hal.observe import checking
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.pack import pack
from assay.hw.torq.check.kinds import NPU_CHECKS
from assay.hw.torq.facts.hardware import DEFAULT, hardware
from assay.sim.check import Checker
from tests.compiler.graph import models
from tests.compiler.torq.machine import Array


def lowered(module: ModuleOp, options: Options = USUAL) -> Program:
    """The program of a module in TOSA."""
    run_passes(module, usual_passes())
    return program_for(module, options)


def assert_file_is_exact_and_clean(
    path: Path, options: Options = USUAL, *, seed: int = 0
) -> Program:
    """Imports a file, then as below, with random inputs; gives the program."""
    module = import_model(path, hl_context())
    inputs = models.random_inputs(models.main(module), seed)
    expected = evaluated(models.main(module), inputs)
    program = lowered(module, options)
    assert_exact_and_clean(program, inputs, expected)
    return program


def assert_exact_and_clean(program: Program, inputs: list[Array], expected: list[Array]) -> None:
    """A program gives what is expected, to the bit, without findings and within LRAM."""
    with checking(Checker(NPU_CHECKS)) as checker:
        found = results(program, inputs, expected)
    assert checker.findings == ()
    size = hardware(program.notes.hardware or DEFAULT).lram
    assert all(s.stop <= size for s in program.notes.symbols if s.memory == "LRAM")
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


def results(program: Program, inputs: list[Array], expected: list[Array]) -> list[Array]:
    """The results of a program, with the types and shapes of those that are expected."""
    npu = hardware(program.notes.hardware or DEFAULT)
    loaded = LoadedExecutable(pack(program, "network"), npu=npu)
    buffers = [np.zeros(size, np.uint8) for size in loaded.buffer_sizes().values()]
    for number, value in zip(loaded.inputs(), inputs, strict=True):
        buffers[number][:] = np.ascontiguousarray(value).view(np.uint8).reshape(-1)
    loaded.dispatch(buffers)
    made = [buffers[number] for number in loaded.outputs()]
    return [
        data.view(value.dtype).reshape(value.shape)
        for data, value in zip(made, expected, strict=True)
    ]

"""From a module to a program for the NPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from assay.hw.torq.facts.hardware import hardware

from ...graph.errors import Problem, naming
from ...graph.linalg.undefined import undefined_starts
from ...graph.tosa import ops
from ..blocks import Program, Unpacked, assembled
from ..passes.load import load
from ..passes.pipeline import run_passes, usual_passes
from ..target import targeting
from .materialise import unpacked_program
from .network import network_of
from .options import USUAL, Options
from .plan import planned
from .summary import Summary, summary_of

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Materialised:
    """A schedule as tasks that are not in blocks yet, what it is expected to do, and the name of
    the model's function."""

    unpacked: Unpacked
    summary: Summary
    function: str


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A program, what its schedule is expected to do, and the name of the model's function.

    Attributes:
        doubts: what the model leaves undefined.
    """

    program: Program
    summary: Summary
    function: str
    doubts: tuple[Problem, ...] = ()


def compiled(path: Path, say: Say | None = None, options: Options = USUAL) -> Compiled:
    """The program of a model in a file. Raises ModelError."""
    module = load(path, say)
    doubts = tuple(undefined_starts(module))
    if say is not None:
        say(f"lowering {path.name}")
    run_passes(module, usual_passes(without=options.left_out), source=str(path))
    if say is not None:
        say(f"scheduling {path.name}")
    with naming(str(path)):
        return replace(scheduled(module, options), doubts=doubts)


def materialised(module: ModuleOp, options: Options = USUAL) -> Materialised:
    """The tasks of a module in TorqHL that has one function. Raises ModelError."""
    function = ops.only_function(module)
    npu = hardware(options.hardware)
    options = options.of(npu)
    network = network_of(function)
    with targeting(npu):
        plan = planned(network, options)
        tasks = unpacked_program(plan, network)
        summary = summary_of(network, plan, tasks.notes.operators)
    return Materialised(
        unpacked=replace(
            tasks,
            block_tasks=options.block_tasks,
            program_blocks=options.program_blocks,
            notes=replace(
                tasks.notes,
                hardware=npu.sizes,
                cycles=summary.cycles,
                lram_peak=summary.lram_peak,
            ),
        ),
        summary=summary,
        function=function.sym_name.data,
    )


def scheduled(module: ModuleOp, options: Options = USUAL) -> Compiled:
    """The program of a module in TorqHL that has one function. Raises ModelError."""
    made = materialised(module, options)
    program = assembled(made.unpacked)
    return Compiled(program=program, summary=made.summary, function=made.function)


def program_for(module: ModuleOp, options: Options = USUAL) -> Program:
    """The program of a module in TorqHL that has one function. Raises ModelError."""
    return scheduled(module, options).program

"""From a module to a program for the NPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from assay.hw.torq.facts.hardware import hardware

from ...graph.errors import Problem, naming
from ...graph.linalg.undefined import undefined_starts
from ...graph.tosa import ops
from ..blocks import Program, Unpacked, assembled
from ..passes.load import load
from ..passes.pipeline import run_passes, usual_passes
from ..plan.operations import ScheduleOp, schedule_of
from ..target import targeting
from .commands import Commands
from .ir.check import check_apart, check_lram, check_xram
from .ir.flow import check_flow
from .ir.passes import lacking
from .ir.read import read_schedule
from .kept_code import with_code_kept
from .materialise import unpacked_program
from .network import Network, network_of
from .options import USUAL, Options
from .outside import Outside, laid_out
from .plan import planned
from .steps import Plan
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
    left = lacking(module)
    usual = usual_passes(without=options.left_out)
    passes = usual if left is None else [kind(options=options) for kind in left]
    run_passes(module, passes, source=str(path))
    if say is not None:
        say(f"scheduling {path.name}")
    with naming(str(path)):
        return replace(scheduled(module, options), doubts=doubts)


def materialised(module: ModuleOp, options: Options = USUAL) -> Materialised:
    """The tasks of a module in TorqHL that has one function, by its schedule if it has one.

    Raises ModelError.
    """
    function = ops.only_function(module)
    npu = hardware(options.hardware)
    network = network_of(function)
    schedule = schedule_of(function)
    with targeting(npu):
        if schedule is None:
            placed = _placed(network, options.of(npu))
        else:
            placed = _as_written(schedule, network)
        return _as_tasks(function, network, placed, options)


def _placed(network: Network, options: Options) -> Placed:
    """The plan that is chosen for a network."""
    plan = planned(network, options)
    if options.reuse:
        plan = with_code_kept(plan)
    commands = Commands(plan.addresses)
    outside = laid_out(network.callers, plan.steps, commands)
    return Placed(plan=plan, outside=outside, commands=commands)


def _as_written(schedule: ScheduleOp, network: Network) -> Placed:
    """The plan that a function has, if it can be done."""
    read = read_schedule(schedule, network)
    check_lram(read.plan, network)
    check_xram(read.plan, network, read.outside)
    commands = Commands(read.plan.addresses)
    check_apart(read.outside, commands)
    check_flow(read.plan, network, commands)
    return Placed(plan=read.plan, outside=read.outside, commands=commands)


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A plan whose buffers, memory and commands have addresses."""

    plan: Plan
    outside: Outside
    commands: Commands


def _as_tasks(function: FuncOp, network: Network, placed: Placed, options: Options) -> Materialised:
    plan, npu = placed.plan, hardware(options.hardware)
    tasks = unpacked_program(plan, network, placed.outside, placed.commands)
    summary = summary_of(network, plan, tasks.notes.operators)
    notes = replace(
        tasks.notes, hardware=npu.sizes, cycles=summary.cycles, lram_peak=summary.lram_peak
    )
    return Materialised(
        unpacked=replace(
            tasks,
            block_tasks=options.block_tasks,
            program_blocks=options.program_blocks,
            notes=notes,
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

"""From a module to a program for the NPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ...graph.tosa import ops
from ...models.errors import ModelError
from ..blocks import Program
from ..passes.load import load
from ..passes.pipeline import run_passes, usual_passes
from .materialise import program_of
from .network import network_of
from .options import USUAL, Options
from .plan import planned
from .summary import Summary, summary_of

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A program, and what its schedule is expected to do."""

    program: Program
    summary: Summary


def compiled(path: Path, say: Say | None = None, options: Options = USUAL) -> Compiled:
    """The program of a model in a file. Raises ModelError."""
    module = load(path, say)
    if say is not None:
        say(f"lowering {path.name}")
    run_passes(module, usual_passes())
    if say is not None:
        say(f"scheduling {path.name}")
    return scheduled(module, options)


def scheduled(module: ModuleOp, options: Options = USUAL) -> Compiled:
    """The program of a module in TorqHL that has one function. Raises ModelError."""
    functions = ops.functions(module)
    if len(functions) != 1:
        raise ModelError(f"the model has {len(functions)} functions; one is possible")
    network = network_of(functions[0])
    plan = planned(network, options)
    program = program_of(plan, network.callers, block_tasks=options.block_tasks)
    return Compiled(program=program, summary=summary_of(network, plan))


def program_for(module: ModuleOp, options: Options = USUAL) -> Program:
    """The program of a module in TorqHL that has one function. Raises ModelError."""
    return scheduled(module, options).program

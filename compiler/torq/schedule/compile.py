"""From a module to a program for the NPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ...graph.tosa import ops
from ...models.errors import ModelError
from ..blocks import Program
from ..passes.load import load
from ..passes.pipeline import run_passes, usual_passes
from .materialise import program_of
from .network import network_of
from .plan import planned

Say = Callable[[str], None]


def compiled(path: Path, say: Say | None = None) -> Program:
    """The program of a model in a file. Raises ModelError."""
    module = load(path, say)
    if say is not None:
        say(f"lowering {path.name}")
    run_passes(module, usual_passes())
    if say is not None:
        say(f"scheduling {path.name}")
    return program_for(module)


def program_for(module: ModuleOp, *, keep: bool = True, double_buffer: bool = True) -> Program:
    """The program of a module in TorqHL that has one function. Raises ModelError.

    Without `keep`, every tensor between operators goes through XRAM; without `double_buffer`,
    transfers and slices work in turn.
    """
    functions = ops.functions(module)
    if len(functions) != 1:
        raise ModelError(f"the model has {len(functions)} functions; one is possible")
    network = network_of(functions[0])
    return program_of(planned(network, keep=keep, double_buffer=double_buffer), network.callers)

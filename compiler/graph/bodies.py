"""Functions that are graphs: operators one after the other, and results at the end."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp

from .errors import GraphRefused, Problem
from .tosa import ops


def check_bodies(module: ModuleOp, source: str) -> None:
    """Raises GraphRefused for functions that branch, or that give nothing."""
    problems = [problem for function in ops.functions(module) for problem in _problems(function)]
    if problems:
        raise GraphRefused(source, problems)


def _problems(function: FuncOp) -> Iterator[Problem]:
    where = f"function {function.sym_name.data}"
    blocks = function.body.blocks
    if len(blocks) > 1:
        reason = f"it branches between {len(blocks)} blocks; a model for the NPU has one"
        yield Problem(where=where, reason=reason)
    elif not isinstance(last := blocks[0].last_op, ReturnOp):
        ends = "nothing" if last is None else ops.name_of(last)
        yield Problem(where=where, reason=f"it ends in {ends} instead of func.return")
    elif not last.operands:
        yield Problem(where=where, reason="it returns nothing, so there is nothing to compute")

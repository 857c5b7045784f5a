"""Programs that give what every operator makes beside their results, to be compared one by one."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ..graph.tosa import ops
from .hl.moves import Const, Transpose, View
from .hl.operation import HlOp
from .hl.operator_of import type_of
from .operators.tensors import TensorType
from .plan.operations import schedule_of


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A tensor that an operator makes.

    Attributes:
        operator: its name in TorqHL.
        source: the names that the model gives it; empty if it gives none.
        kind: the type, which says how its bytes lie.
    """

    operator: str
    source: str
    kind: TensorType


def expose(module: ModuleOp) -> list[Layer]:
    """Make every operator's tensor a result of a module's function, behind those it has. What it
    has of a schedule goes.

    Constants, views and transposes that DMA does make no tensors of their own. Raises ModelError.
    """
    function = ops.only_function(module)
    schedule = schedule_of(function)
    if schedule is not None:  # It stores less.
        ops.body(function).erase_op(schedule)
    last = ops.returned(function)
    made = [op for op in ops.body(function).ops if isinstance(op, HlOp) and _is_layer(op)]
    last.operands = [*last.operands, *(op.value for op in made)]
    ops.retype(function)
    module.verify()
    return [
        Layer(
            operator=op.name.removeprefix("torq_hl."),
            source=ops.location(op),
            kind=type_of(op.type),
        )
        for op in made
    ]


def _is_layer(op: HlOp) -> bool:
    """Whether an operation makes a tensor of its own."""
    by_dma = isinstance(op, Transpose) and op.field("by") == "dma"
    return not isinstance(op, Const | View) and not by_dma

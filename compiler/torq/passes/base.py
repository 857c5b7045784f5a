"""What passes are, and what they share: looking at uses, replacing operations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...graph.tosa import ops
from ..hl.elementwise import Scale
from ..hl.moves import Const
from ..hl.operation import HlOp
from ..hl.types import Tensor
from ..operators.quantisation import Rescale


@dataclass(frozen=True)
class HlPass(ModulePass):
    """A pass over every function; its docstring has an example, before and after."""

    name: ClassVar[str]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Changes the module in place."""
        for function in ops.functions(op):
            self.run(ops.body(function))
            sweep(ops.body(function))
            ops.retype(function)  # a result may have become an argument, which is in XRAM

    @abstractmethod
    def run(self, block: Block) -> None:
        """Changes the body of a function in place."""


def insert(
    before: Operation,
    what: type[HlOp],
    operands: Sequence[SSAValue],
    y: Tensor,
    /,
    *,
    location: LocationAttr | None = None,
    way: str | None = None,
    **fields: Any,
) -> SSAValue:
    """The result of a new operation in front of another, whose place and way it takes over."""
    if way is None:
        way = before.way if isinstance(before, HlOp) else ""
    made = what.make(list(operands), y, location=location or before.location, way=way, **fields)
    block = before.parent
    assert block is not None
    block.insert_op_before(made, before)
    return made.value


def sweep(block: Block) -> None:
    """Takes away what nobody reads."""
    for op in list(reversed(list(block.ops))):
        if isinstance(op, HlOp) and not op.value.uses.get_length():
            block.erase_op(op)


def replace(op: Operation, value: SSAValue) -> None:
    """Lets a value stand for an operation's result, and takes the operation away."""
    op.results[0].replace_all_uses_with(value)
    erase(op)


def erase(op: Operation) -> None:
    """Takes an operation away that nobody uses."""
    block = op.parent
    assert block is not None
    block.erase_op(op)


def producer(value: SSAValue) -> Operation | None:
    """The operation that makes a value; None of an argument."""
    return value.owner if isinstance(value.owner, Operation) else None


def users(value: SSAValue) -> list[Operation]:
    """Who reads a value, each as often as it does."""
    return [use.operation for use in value.uses]


def used_once(value: SSAValue) -> bool:
    """Whether there is one reader."""
    return value.uses.get_length() == 1


def is_constant(value: SSAValue) -> bool:
    """Whether a value is a constant."""
    return isinstance(value.owner, Const)


def is_identity(op: Operation | None) -> bool:
    """Whether a scaling only takes a zero point away, and nothing is lost in its type."""
    if not isinstance(op, Scale):
        return False
    scaling: Rescale = op.field("rescale")
    if len(scaling.multipliers) != 1 or scaling.zero_point:
        return False
    return scaling.multipliers[0] == 1 << scaling.shifts[0]

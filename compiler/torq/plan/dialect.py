"""The dialect: all of TorqPlan's operations, types and attributes, and contexts that know them."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect
from xdsl.parser import Parser

from ...graph.quotes import check_quotes
from ..hl.dialect import hl_context, verified
from ..hw.dialect import TORQ_HW
from .attributes import (
    BufferType,
    CommandsType,
    KernelAttr,
    LyingAttr,
    MemoryType,
    MoveAttr,
    RegionAttr,
)
from .operations import OPERATIONS

TORQ_PLAN = Dialect(
    "torq_plan",
    OPERATIONS,
    [MemoryType, BufferType, CommandsType, MoveAttr, RegionAttr, KernelAttr, LyingAttr],
)


def plan_context() -> Context:
    """A context that knows TorqPlan besides TorqHL, whose functions are scheduled."""
    context = hl_context()
    context.load_dialect(TORQ_HW)
    context.load_dialect(TORQ_PLAN)
    return context


def plan_parsed(text: str, name: str = "module") -> ModuleOp:
    """A module in xDSL's text, verified. Raises ParseError and VerifyException."""
    check_quotes(text, name)
    return verified(Parser(plan_context(), text, name).parse_module())

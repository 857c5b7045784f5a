"""The dialect: all of TorqHL's operations, types and attributes, and contexts that know them."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from ...graph.mlir import new_context
from ...graph.quotes import check_quotes
from ...graph.tosa import ops
from . import elementwise, moves, products, reductions
from .attributes import FloatRangeAttr, RescaleAttr
from .tiles import TilesAttr
from .types import TensorAttr

OPERATIONS: list[type[Operation]] = [
    products.Convolution,
    products.DepthwiseConvolution,
    products.FullyConnected,
    products.MatMul,
    elementwise.Add,
    elementwise.Mul,
    elementwise.Elementwise,
    elementwise.Unary,
    elementwise.Scale,
    elementwise.Clamp,
    elementwise.Table,
    elementwise.Select,
    reductions.Pool,
    reductions.Mean,
    reductions.Reduce,
    moves.Const,
    moves.View,
    moves.Copy,
    moves.Transpose,
    moves.Segment,
    moves.Pad,
    moves.Concat,
    moves.Slice,
    moves.Broadcast,
    moves.Repeat,
    moves.Gather,
    moves.Host,
]
TORQ_HL = Dialect("torq_hl", OPERATIONS, [TensorAttr, RescaleAttr, FloatRangeAttr, TilesAttr])


def hl_context() -> Context:
    """A context that knows TorqHL besides what every context knows."""
    context = new_context()
    context.load_dialect(TORQ_HL)
    return context


def parsed(text: str, name: str = "module") -> ModuleOp:
    """A module in xDSL's text. Raises ParseError and VerifyException."""
    check_quotes(text, name)
    return verified(Parser(hl_context(), text, name).parse_module())


def verified(module: ModuleOp) -> ModuleOp:
    """The module, whose values are all made before they are read. Raises VerifyException."""
    module.verify()
    for function in ops.functions(module):
        known: set[SSAValue] = set(ops.body(function).args)
        for op in ops.body(function).ops:
            if not known.issuperset(op.operands):
                raise VerifyException(f"{op.name} reads what is only made behind it")
            known.update(op.results)
    return module

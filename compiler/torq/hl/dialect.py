"""The dialect: all of TorqHL's operations, types and attributes, and contexts that know them."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect, Operation
from xdsl.parser import Parser

from ...graph.mlir import new_context
from . import elementwise, moves, products, reductions
from .attributes import FloatRangeAttr, RescaleAttr
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
TORQ_HL = Dialect("torq_hl", OPERATIONS, [TensorAttr, RescaleAttr, FloatRangeAttr])


def hl_context() -> Context:
    """A context that knows TorqHL besides what every context knows."""
    context = new_context()
    context.load_dialect(TORQ_HL)
    return context


def parsed(text: str, name: str = "module") -> ModuleOp:
    """A module in xDSL's text. Raises ParseError and VerifyException."""
    module = Parser(hl_context(), text, name).parse_module()
    module.verify()
    return module

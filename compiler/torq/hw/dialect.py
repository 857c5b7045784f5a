"""The dialect: all of TorqHW's operations, types and attributes, and how modules become text."""

from __future__ import annotations

from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.ir import Dialect, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer

from ...graph.quotes import check_quotes
from . import executable, nss, nss_program, slices, symbols
from .attributes import AddressAttr, ContentAttr, FieldsAttr, LoopsAttr, TokenType

OPERATIONS: list[type[Operation]] = [
    executable.ExecutableOp,
    symbols.SymbolOp,
    executable.SegmentOp,
    executable.ArgumentOp,
    executable.BindingOp,
    executable.BufferOp,
    executable.ActionOp,
    executable.HostCodeOp,
    executable.NotesOp,
    slices.SliceProgramOp,
    slices.SliceTaskOp,
    nss_program.NssProgramOp,
    nss.BlockOp,
    nss.DmaInOp,
    nss.DmaOutOp,
    nss.SliceStartOp,
    nss.CssStartOp,
    nss.CdmaStartOp,
    nss.WaitOp,
    nss.NextOp,
]
TORQ_HW = Dialect(
    "torq_hw", OPERATIONS, [AddressAttr, LoopsAttr, FieldsAttr, ContentAttr, TokenType]
)


def hw_context() -> Context:
    """A context that knows TorqHW."""
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(TORQ_HW)
    return context


class _Printer(Printer):
    """Leaves bytes of memory out where there are more than `most_bytes`."""

    def __init__(self, most_bytes: int | None, stream: StringIO) -> None:
        super().__init__(stream=stream)
        self.most_bytes = most_bytes


def hw_text(module: Operation, *, most: int | None = None) -> str:
    """A module's text; memory of more than `most` bytes is left out, if it is given."""
    stream = StringIO()
    _Printer(most, stream).print_op(module)
    return stream.getvalue()


def hw_parsed(text: str, name: str = "module") -> ModuleOp:
    """A module in TorqHW's text, verified. Raises ParseError and VerifyException."""
    check_quotes(text, name)
    module = Parser(hw_context(), text, name).parse_module()
    module.verify()
    return module

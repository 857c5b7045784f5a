"""MLIR text and bytecode to xDSL modules, by way of IREE's bindings.

Operations are taken over one by one; what constants hold is taken as bytes. Types and attributes
are printed by the bindings and read by xDSL, each text once: parsing the whole module as text took
ten times as long.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
    UnregisteredOp,
)
from xdsl.dialects.func import Func
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from ..models import diagnostics
from ..models.errors import MissingTool, ModelError
from .elements import NUMPY, dtype_of
from .linalg.prepare import generalise

_WIDE = re.compile(r'dense<"0x([0-9A-F]+)"> : tensor<([0-9x]+)xi48>')
_NAMED = re.compile(r'loc\("([^"\\]*)"(?:\("[^"\\]*":0:0\))?\)')


def new_context() -> Context:
    """A context that reads what any dialect has in generic form."""
    context = Context(allow_unregistered=True)
    context.load_dialect(Builtin)
    context.load_dialect(Func)
    return context


def read_module(data: bytes, name: str, context: Context | None = None) -> ModuleOp:
    """The module in MLIR text or bytecode. Raises ModelError."""
    ir = _bindings()
    with ir.Context() as bindings, ir.Location.unknown():
        bindings.allow_unregistered_dialects = True
        try:
            module = ir.Module.parse(data)
            generalise(module, data)
        except ir.MLIRError as error:
            log = str(error)
            raise ModelError(
                f"{name}: this is not a module that MLIR can read:\n{_errors(log, name)}", log=log
            ) from None
        try:
            taken = _Reader(context or new_context(), ir).operation(module.operation)
        except (ParseError, VerifyException, ValueError, NotImplementedError) as error:
            last = str(error).strip().splitlines()[-1]
            raise ModelError(f"{name}: the imported module cannot be read: {last}") from None
    assert isinstance(taken, ModuleOp)
    return taken


def _bindings() -> Any:
    try:
        import iree.compiler.ir as ir
    except ModuleNotFoundError:
        raise MissingTool("IREE's compiler", "iree") from None
    return ir


def _errors(log: str, name: str) -> str:
    """The lines of an MLIRError that say what is wrong, and where in the file."""
    text = log.replace('"-":', f"{name}:")  # what the bindings call text that they are given
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "\n".join(f"  {line}" for line in lines[1:4]) or diagnostics.summary(log)


class _Reader:
    """Takes operations over from the bindings."""

    def __init__(self, context: Context, ir: Any) -> None:
        self._context = context
        self._ir = ir
        self._values: dict[Any, SSAValue] = {}
        self._blocks: dict[Any, Block] = {}
        self._types: dict[str, Attribute] = {}
        self._attributes: dict[str, Attribute] = {}
        self._locations: dict[str, LocationAttr] = {}

    def operation(self, op: Any) -> Operation:
        """An operation with all that is in it."""
        regions = [self._region(region) for region in op.regions]
        kind = self._context.get_op(op.name)
        given = {name: self._attribute(op.attributes[name]) for name in self._names(op)}
        names = set(given) if issubclass(kind, UnregisteredOp) else _properties(kind)
        made = kind.create(
            operands=[self._values[operand] for operand in op.operands],
            result_types=[self._type(result.type) for result in op.results],
            properties={key: value for key, value in given.items() if key in names},
            attributes={key: value for key, value in given.items() if key not in names},
            successors=[self._blocks[block] for block in op.successors],
            regions=regions,
            location=self._location(op.location),
        )
        for result, taken in zip(op.results, made.results, strict=True):
            self._values[result] = taken
        return made

    def _names(self, op: Any) -> list[str]:
        return [_name(entry) for entry in op.attributes]

    def _region(self, region: Any) -> Region:
        blocks = []
        for block in region.blocks:
            made = Block(arg_types=[self._type(argument.type) for argument in block.arguments])
            self._blocks[block] = made
            for argument, taken in zip(block.arguments, made.args, strict=True):
                self._values[argument] = taken
            blocks.append((block, made))
        for block, made in blocks:
            made.add_ops([self.operation(op.operation) for op in block.operations])
        return Region([made for _, made in blocks])

    def _type(self, kind: Any) -> Attribute:
        text = str(kind)
        if text not in self._types:
            self._types[text] = self._parser(text).parse_type()
        return self._types[text]

    def _attribute(self, attribute: Any) -> Attribute:
        if isinstance(attribute, self._ir.DenseElementsAttr):
            return self._dense(attribute)
        text = str(attribute)
        if text not in self._attributes:
            self._attributes[text] = self._parser(text).parse_attribute()
        return self._attributes[text]

    def _dense(self, attribute: Any) -> Attribute:
        kind = self._type(attribute.type)
        element = dtype_of(getattr(kind, "element_type", kind))
        try:
            array = np.array(attribute)
        except (TypeError, ValueError):  # elements that NumPy has no type for
            array = np.empty(0)
        if element is None or array.size == 0 or array.dtype != NUMPY[element]:
            return self._parser(_WIDE.sub(_widened, str(attribute))).parse_attribute()
        splat = attribute.is_splat and array.size > 1
        data = (array.reshape(-1)[:1] if splat else np.ascontiguousarray(array)).tobytes()
        return DenseIntOrFPElementsAttr(kind, BytesAttr(data))  # type: ignore[arg-type]

    def _location(self, location: Any) -> LocationAttr:
        text = str(location)
        if text not in self._locations:
            named = _NAMED.fullmatch(text)
            if text == "loc(unknown)":
                made: LocationAttr = UnknownLoc()
            elif named is not None:
                made = NameLoc(StringAttr(named[1]), NoneAttr())
            else:
                found = self._parser(text).parse_optional_location()
                made = UnknownLoc() if found is None else found
            self._locations[text] = made
        return self._locations[text]

    def _parser(self, text: str) -> Parser:
        return Parser(self._context, text)


def _name(entry: Any) -> str:
    """The key of an entry of an operation's attributes, which older bindings give as a pair."""
    return str(entry) if isinstance(entry, str) else str(entry.name)


def _properties(kind: type[Operation]) -> set[str]:
    definition = getattr(kind, "get_irdl_definition", None)
    return set(definition().properties) if definition is not None else set()


def _widened(match: re.Match[str]) -> str:
    """Elements of 48 bits take 6 bytes in MLIR and 8 in xDSL."""
    raw = np.frombuffer(bytes.fromhex(match[1]), np.uint8).reshape(-1, 6)
    wide = np.zeros((len(raw), 8), np.uint8)
    wide[:, :6] = raw
    wide[:, 6:] = np.where(raw[:, 5:] > 127, 255, 0)
    return f'dense<"0x{wide.tobytes().hex().upper()}"> : tensor<{match[2]}xi48>'

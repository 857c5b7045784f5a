"""Parts of a function of MLIR as functions of their own."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .dims import Dim, Dims, Element
from .mlir_operations import SIZES, outer_values
from .mlir_sizes import sizes_of

_PLACE: Final = "iree.abi.output"
"""What IREE calls an argument that is the place of a result, with the result's number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Border:
    """Between which values a part lies.

    Attributes:
        takes: its arguments.
        gives: its results.
        reads: values whose elements it is told as integers, by the names of the tensors.
        dims: the shapes of tensors, whose sizes it is told; None if it has to find them itself.
        in_place: whether it writes its results into further arguments.
    """

    takes: Sequence[Any]
    gives: Sequence[Any]
    reads: Mapping[Any, str]
    dims: Mapping[Any, Dims] | None
    in_place: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A module with one function.

    Attributes:
        text: the module.
        numbers: the integers that it takes behind the tensors.
        positions: where its operations stand in the function, those it does not take as integers.
    """

    text: str
    numbers: tuple[Dim, ...]
    positions: tuple[int, ...]


def part_of(positions: Mapping[Any, int], border: Border, name: str) -> Part:
    """The part of a function, whose values' operations stand at `positions`.

    Within the context of the function.
    """
    return _Part(positions, border).made(name)


def needed(
    positions: Mapping[Any, int], values: Sequence[Any], stops: Container[Any], *, told: bool = True
) -> dict[int, Any]:
    """The operations that make values, by position, back to those in `stops`.

    What gives sizes of a tensor does not need the tensor if sizes are `told`.
    """
    found: dict[int, Any] = {}
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if value in stops or value not in positions or positions[value] in found:
            continue
        operation = value.owner.operation
        found[positions[value]] = operation
        if told and operation.name in SIZES:
            waiting.extend(list(operation.operands)[1:])
        else:
            waiting.extend(outer_values(operation))
    return found


class _Part:
    def __init__(self, positions: Mapping[Any, int], border: Border) -> None:
        from iree.compiler import ir

        self._ir: Any = ir
        self._border = border
        stops = {*border.takes, *border.reads}
        found = needed(positions, border.gives, stops, told=border.dims is not None)
        self._positions = tuple(sorted(found))
        self._operations = [found[position] for position in self._positions]
        self._there = {*border.takes, *(r for each in self._operations for r in each.results)}
        self._values: dict[Any, Any] = {}
        self._numbers: dict[Dim, Any] = {}
        """Integers by what they are, in the order in which they are taken."""

    def made(self, name: str) -> Part:
        """The text of it."""
        ir, border = self._ir, self._border
        with ir.Location.unknown():
            module = ir.Module.create()
            self._dims = self._wanted()
            kinds = [value.type for value in border.takes]
            kinds += [ir.IntegerType.get_signless(64)] * len(self._dims)
            results = [value.type for value in border.gives]
            places = results if border.in_place else []
            function = self._function(module, name, [*kinds, *places], results)
            block = function.regions[0].blocks.append(*kinds, *places)
            arguments = list(block.arguments)
            self._values.update(zip(border.takes, arguments, strict=False))
            integers = arguments[len(border.takes) : len(kinds)]
            self._numbers = dict(zip(self._dims, integers, strict=True))
            with ir.InsertionPoint(block):
                self._body()
        module.operation.verify()
        return Part(text=str(module), numbers=tuple(self._dims), positions=self._positions)

    def _function(self, module: Any, name: str, kinds: list[Any], results: list[Any]) -> Any:
        ir = self._ir
        attributes = {
            "sym_name": ir.StringAttr.get(name),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(kinds, results)),
        }
        if self._border.in_place:
            index = ir.IndexType.get()
            first = len(kinds) - len(results)
            said = [
                {_PLACE: ir.IntegerAttr.get(index, number - first)} if number >= first else {}
                for number in range(len(kinds))
            ]
            attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in said])
        return ir.Operation.create(
            "func.func", regions=1, attributes=attributes, ip=ir.InsertionPoint(module.body)
        )

    # What it is told as integers.

    def _wanted(self) -> list[Dim]:
        """Each once: sizes of tensors that are not here, and elements that were read."""
        found: dict[Dim, None] = {}
        for operation in self._operations:
            if self._is_told(operation):
                found.update(dict.fromkeys(self._told(operation)))
        for value in self._read_here():
            found.update(dict.fromkeys(self._elements(value)))
        return list(found)

    def _is_told(self, operation: Any) -> bool:
        """Whether it gives sizes of a tensor that need not be here for it."""
        if self._border.dims is None or operation.name not in SIZES:
            return False
        return operation.operands[0] not in self._there

    def _told(self, operation: Any) -> Dims:
        assert self._border.dims is not None
        dims = self._border.dims[operation.operands[0]]
        if operation.name == "shape.shape_of":
            return dims
        if operation.name == "tensor.dim":
            index = operation.operands[1].owner.operation
            return (dims[int(index.attributes["value"].value)],)
        return (dims[int(operation.attributes["dimension"].value)],)

    def _read_here(self) -> list[Any]:
        used = [value for each in self._operations for value in outer_values(each)]
        used += self._border.gives
        return [value for value in dict.fromkeys(used) if value in self._border.reads]

    def _elements(self, value: Any) -> Dims:
        count = 1
        for size in sizes_of(value.type):
            count *= size
        return tuple(Element(self._border.reads[value], index) for index in range(count))

    # Operations.

    def _body(self) -> None:
        for value in self._read_here():
            kind = value.type
            elements = [self._integer(each, kind.element_type) for each in self._elements(value)]
            self._values[value] = self._tensor(elements, kind)
        for operation in self._operations:
            if self._is_told(operation):
                self._values[operation.results[0]] = self._sizes(operation)
                continue
            made = operation.clone()
            self._rewire(made.operation)
            self._values.update(zip(operation.results, made.operation.results, strict=True))
        given = [self._values[value] for value in self._border.gives]
        self._ir.Operation.create("func.return", operands=given)

    def _rewire(self, operation: Any) -> None:
        for number, operand in enumerate(operation.operands):
            if operand in self._values:
                operation.operands[number] = self._values[operand]
        for region in operation.regions:
            for block in region.blocks:
                for each in block.operations:
                    self._rewire(each.operation)

    def _sizes(self, operation: Any) -> Any:
        """What stands for sizes of a tensor: integers that are told."""
        kind = operation.results[0].type
        if operation.name == "tensor.dim":
            return self._integer(self._told(operation)[0], kind)
        elements = [self._integer(each, kind.element_type) for each in self._told(operation)]
        return self._tensor(elements, kind)

    def _integer(self, dim: Dim, kind: Any) -> Any:
        """An argument as another type."""
        ir, value = self._ir, self._numbers[dim]
        text = str(kind)
        if text == "index":
            return ir.Operation.create("arith.index_cast", [kind], [value]).results[0]
        if text == "i64":
            return value
        return ir.Operation.create("arith.trunci", [kind], [value]).results[0]

    def _tensor(self, elements: list[Any], kind: Any) -> Any:
        return self._ir.Operation.create("tensor.from_elements", [kind], elements).results[0]

"""What a module of AIR says about its entry points: `!air.kernel` and the nodes that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from assay.sim.simt.read.llvm_tokens import unescaped

from ..msl.arguments import StructField
from .container import AirFormatError

_NAMED = re.compile(r"^!(?P<name>air\.[\w.]+) = !\{(?P<nodes>.*)\}$", re.MULTILINE)
_NODE = re.compile(r"^!(?P<number>\d+) = (?:distinct )?!\{(?P<items>.*)\}$", re.MULTILINE)
_ITEM = re.compile(
    r'\s*(?:!"(?P<text>(?:[^"\\]|\\[0-9A-Fa-f]{2})*)"|!(?P<node>\d+)'
    r"|i\d+ (?P<number>-?\d+|true|false)"
    r"|ptr(?: addrspace\(\d+\))? (?P<symbol>@[\w.$]+|@\"[^\"]*\")|(?P<other>[^,]+))\s*(?:,|$)"
)
# What members of argument buffers are for the host, where it has another word.
_MEMBERS = {
    "indirect_buffer": "buffer",
    "indirect_constant": "constant",
    "visible_function_table": "function_table",
}
_MOST_ELEMENTS = 1 << 16  # of an array in an argument buffer
_MOST_STRUCTS = 1 << 8  # in an argument buffer
_MOST_FIELDS = 1 << 12  # of an argument's struct
_DEEPEST = 64  # structs in structs


@dataclass(frozen=True, slots=True)
class Node:
    """The number of a metadata node."""

    number: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function or variable that metadata names, with its `@`."""

    name: str


# A string, an integer, a node, or the name of a function or variable.
Item = str | int | Node | Symbol


@dataclass(frozen=True, slots=True, kw_only=True)
class AirMember:
    """A member of an argument buffer's struct that is a resource: its id and place in bytes."""

    name: str
    id: int
    offset: int
    kind: str
    space: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AirArgument:
    """One parameter of an entry point.

    Attributes:
        kind: without the `air.` in front: `buffer`, `thread_position_in_grid`, ...
        index: its place in the table of its kind; the first, if it has several.
        count: how many places it has.
        size: bytes of what it points to; 0 if that is not said.
        alignment: of what it points to.
        is_fixed: whether it points to one thing of known size, as a reference does.
        condition: the variable that must not be 0 if the argument is there; empty if it always is.
        members: the resources in its struct, if it is an argument buffer.
        fields: the members of its struct, if all are numbers or structs of them.
    """

    parameter: int
    kind: str
    index: int = 0
    count: int = 1
    access: str = ""
    space: int = 0
    size: int = 0
    alignment: int = 1
    is_fixed: bool = False
    is_unused: bool = False
    type_name: str = ""
    name: str = ""
    condition: str = ""
    members: tuple[AirMember, ...] = ()
    fields: tuple[StructField, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint:
    """A kernel: its symbol, its parameters in order, and the most threads of a threadgroup."""

    symbol: str
    arguments: tuple[AirArgument, ...]
    max_threads: int | None


class _TooManyFields(Exception):
    """A struct has so many members, or structs in structs, that nobody can name them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declared:
    """A member of a struct, of `count` elements of `size` bytes if it is an array.

    `held` describes a struct that it is, `indirect` what it is for the host or its id.
    """

    name: str
    type_name: str
    offset: int
    size: int
    count: int
    held: Node | None
    indirect: Item | None

    def field(self) -> StructField:
        """It as numbers."""
        return StructField(
            name=self.name,
            type_name=self.type_name,
            count=max(self.count, 1),
            offset=self.offset,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantVariable:
    """The variable that holds a function constant's value, which may have to be given."""

    symbol: str
    name: str
    index: int
    type_name: str
    required: bool


class Metadata:
    """The metadata of a module's text."""

    def __init__(self, text: str) -> None:
        self._nodes = {int(found["number"]): found["items"] for found in _NODE.finditer(text)}
        self._named: dict[str, str] = {
            found["name"]: found["nodes"] for found in _NAMED.finditer(text)
        }

    def named(self, name: str) -> Iterator[list[Item]]:
        """The items of each node that a named one lists."""
        for item in _items(self._named.get(name, "")):
            if isinstance(item, Node):
                yield self.node(item)

    def node(self, node: Node) -> list[Item]:
        """The items of a node. Raises AirFormatError if there is none of that number."""
        if node.number not in self._nodes:
            raise AirFormatError(f"its metadata names !{node.number}, which is not there")
        return list(_items(self._nodes[node.number]))

    def kernels(self) -> list[EntryPoint]:
        """The entry points for compute. Raises AirFormatError."""
        return [self._kernel(items) for items in self.named("air.kernel")]

    def visible(self) -> str:
        """The symbol of the module's visible function. Raises AirFormatError if there is none."""
        for items in self.named("air.visible"):
            if items and isinstance(items[0], Symbol):
                return items[0].name
        raise AirFormatError("its module has no visible function")

    def version(self, name: str) -> tuple[int, int]:
        """The first two numbers of `air.version` or `air.language_version`; 0 if they are not."""
        for items in self.named(name):
            numbers = [item for item in items if isinstance(item, int)]
            return (*numbers, 0, 0)[0], (*numbers, 0, 0)[1]
        return 0, 0

    def samplers(self) -> list[str]:
        """The variables of samplers that the module says itself."""
        found = [items[1] for items in self.named("air.sampler_states") if len(items) > 1]
        return [each.name for each in found if isinstance(each, Symbol)]

    def constants(self) -> list[ConstantVariable]:
        """The variables of function constants. Raises AirFormatError."""
        found = []
        for items in self.named("air.function_constants"):
            match items[:4]:
                case [Symbol(symbol), str(kind), str(name), int(index)]:
                    found.append(
                        ConstantVariable(
                            symbol=symbol,
                            name=name,
                            index=index,
                            type_name=kind,
                            required=items[4:5] == [1],
                        )
                    )
                case _:
                    raise AirFormatError("a function constant's metadata is not understood")
        return found

    def _kernel(self, items: list[Item]) -> EntryPoint:
        match items[:3]:
            case [Symbol(symbol), Node(), Node() as listed]:
                pass
            case _:
                raise AirFormatError("a kernel's metadata does not name its function and arguments")
        nodes = [item for item in self.node(listed) if isinstance(item, Node)]
        limits = [
            attribute[1]
            for item in items[3:]
            if isinstance(item, Node)
            and (attribute := self.node(item))[:1] == ["air.max_work_group_size"]
        ]
        return EntryPoint(
            symbol=symbol,
            arguments=tuple(self._argument(self.node(node)) for node in nodes),
            max_threads=limits[0] if limits and isinstance(limits[0], int) else None,
        )

    def _argument(self, items: list[Item]) -> AirArgument:
        if not items or not isinstance(items[0], int):
            raise AirFormatError("an argument's metadata does not begin with its number")
        facts: dict[str, object] = {}
        rest = iter(items[1:])
        for item in rest:
            facts.update(self._fact(str(item), rest))
        if "kind" not in facts:
            raise AirFormatError(f"argument {items[0]} is of no kind")
        return AirArgument(parameter=items[0], **facts)  # type: ignore[arg-type]

    def _members(
        self, node: Node, structs: Iterator[int], first: int = 0, begin: int = 0
    ) -> Iterator[AirMember]:
        """The resources in a struct: each member is offset, size, count, type and name.

        Members that are structs have the number of what describes them in front.

        Args:
            structs: one for each struct that may still be read: they may hold each other.
            first: the id of the struct, from which those in it count.
            begin: where it lies.
        """
        if next(structs, None) is None:
            raise AirFormatError(f"an argument buffer has more than {_MOST_STRUCTS} structs")
        for each in self._declared(node):
            place, inner = begin + each.offset, each.indirect
            if isinstance(inner, Node):
                yield from self._resource(inner, each.name, first, place, each.size, each.count)
            elif isinstance(inner, int) and each.held is not None:
                for member in self._members(each.held, structs, first + inner, place):
                    yield replace(member, name=f"{each.name}.{member.name}")

    def _fields(self, node: Node) -> tuple[StructField, ...]:
        """The members of a struct without resources; none if they are too many to be told."""
        try:
            return tuple(self._flat(node, [_MOST_FIELDS], _DEEPEST))
        except _TooManyFields:
            return ()

    def _flat(self, node: Node, room: list[int], deeper: int) -> Iterator[StructField]:
        """The members of a struct, those of structs in it among them.

        Args:
            room: how many there may still be.
            deeper: how many structs there may be in each other.
        """
        for each in self._declared(node):
            for number in range(max(each.count, 1) if each.held is not None else 1):
                room[0] -= 1
                if room[0] < 0 or deeper == 0:
                    raise _TooManyFields
                if each.held is None:
                    yield each.field()
                    continue
                begin = each.offset + number * each.size
                name = f"{each.name}.{number}" if each.count else each.name
                for inner in self._flat(each.held, room, deeper - 1):
                    own = f"{name}.{inner.name}"
                    yield replace(inner, name=own, offset=begin + inner.offset)

    def _declared(self, node: Node) -> Iterator[_Declared]:
        """The members of a struct, one after the other."""
        items = self.node(node)
        at, held = 0, None
        while at < len(items):
            if items[at] == "air.struct_type_info":
                held = items[at + 1] if at + 1 < len(items) else None
                at += 2
                continue
            match items[at : at + 5]:
                case [int(offset), int(size), int(count), str(kind), str(name)]:
                    at += 5
                case _:
                    raise AirFormatError("the members of an argument buffer are not understood")
            inner = None
            if items[at : at + 1] == ["air.indirect_argument"]:
                inner = items[at + 1] if at + 1 < len(items) else None
                at += 2
            yield _Declared(
                name=name,
                type_name=kind,
                offset=offset,
                size=size,
                count=count,
                held=held if isinstance(held, Node) else None,
                indirect=inner,
            )
            held = None

    def _resource(
        self, node: Node, name: str, first: int, offset: int, size: int, count: int
    ) -> Iterator[AirMember]:
        """A member, or each element of one that is an array; `size` is that of an element."""
        argument = self._argument(self.node(node))
        if not 0 <= count <= _MOST_ELEMENTS:
            raise AirFormatError(f"'{name}' of an argument buffer has {count} elements")
        for number in range(max(count, 1)):
            yield AirMember(
                name=f"{name}[{number}]" if count else name,
                id=first + argument.index + number,
                offset=offset + number * size,
                kind=_MEMBERS.get(argument.kind, argument.kind),
                space=argument.space,
            )

    def _fact(self, key: str, rest: Iterator[Item]) -> Mapping[str, object]:
        """What a key says; what belongs to it is taken from `rest`."""

        def then() -> Item:
            return next(rest, "")

        def number() -> int:
            found = then()
            if not isinstance(found, int) or found < 0:
                raise AirFormatError(f"an argument's {key} is no number")
            return found

        match key:
            case "air.function_constant":
                node = then()
                items = self.node(node) if isinstance(node, Node) else []
                first = items[0] if items else None
                return {"condition": first.name} if isinstance(first, Symbol) else {}
            case "air.buffer_size":
                then()
                return {"is_fixed": True}
            case "air.location_index":
                return {"index": number(), "count": number()}
            case "air.address_space":
                return {"space": number()}
            case "air.arg_type_size":
                return {"size": number()}
            case "air.arg_type_align_size":
                return {"alignment": number()}
            case "air.arg_type_name":
                return {"type_name": str(then())}
            case "air.arg_name":
                return {"name": str(then())}
            case "air.struct_type_info":
                node = then()
                if not isinstance(node, Node):
                    return {"members": ()}
                members = tuple(self._members(node, iter(range(_MOST_STRUCTS))))
                fields = () if members else self._fields(node)
                return {"members": members, "fields": fields}
            case "air.arg_unused":
                return {"is_unused": True}
            case "air.read" | "air.write" | "air.read_write" | "air.sample":
                return {"access": key.removeprefix("air.")}
            case _:
                return {"kind": key.removeprefix("air.")} if key.startswith("air.") else {}


def _items(text: str) -> Iterator[Item]:
    for found in _ITEM.finditer(text):
        if found["text"] is not None:
            yield unescaped(found["text"]).decode("utf-8", "replace")
        elif found["node"] is not None:
            yield Node(int(found["node"]))
        elif found["number"] is not None:
            known = {"true": 1, "false": 0}
            yield known[found["number"]] if found["number"] in known else int(found["number"])
        elif found["symbol"] is not None:
            yield Symbol(found["symbol"])
        elif found["other"].strip():
            yield found["other"].strip()

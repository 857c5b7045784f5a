"""Reads what the wrapper's marker function tells, out of the strings of a bitcode file."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from assay.hw.apple.facts.limits import limits

from .arguments import Access, AddressSpace, Argument, ArgumentBufferMember, ArgumentKind
from .entry import NO_INDEX
from .errors import CompileError
from .layouts import Layouts
from .rewrite.kernels import EntryPoint
from .rewrite.members import Member

_MARKER = re.compile(rb"_Z15__assay_reflectI[A-Za-z_]*?J((?:Lm\d+E)+)EEvv")
_SPACES: dict[int, AddressSpace] = {1: "device", 3: "threadgroup", 6: "constant"}
# Fields of what `__assay_details` in entry.h gives.
_RESOURCES: dict[int, ArgumentKind] = {
    1: "texture",
    2: "sampler",
    3: "function_table",
    4: "tensor",
}
_TEXTURE_ACCESSES: tuple[Access, ...] = ("read", "read", "write", "read_write")
# As `__assay_scalar` in entry.h numbers them.
_SCALARS: tuple[str, ...] = (
    "",
    "float",
    "half",
    "bfloat",
    "int",
    "uint",
    "short",
    "ushort",
    "char",
    "uchar",
    "long",
    "ulong",
    "bool",
)
_PLAIN_TYPE = re.compile(
    r"(?:metal\s*::\s*)?(?:packed_)?(?:float|half|bfloat|u?int|u?short|u?char|u?long|bool)[234]?"
    r"|u?int(?:8|16|32|64)_t|size_t|bfloat16_t|unsigned(?:\s+(?:int|short|char|long))?"
)


def read_marker(bitcode: bytes) -> list[int]:
    """The numbers in the mangled name of the marker function."""
    found = _MARKER.search(bitcode)
    if found is None:
        raise CompileError("the compiler's output lacks the kernel's description")
    return [int(number) for number in re.findall(rb"Lm(\d+)E", found[1])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflected:
    """What the compiler says of a kernel.

    `omitted` names the arguments that a function constant switches off; `arrays` says how many
    buffers those arguments are that are arrays of them: `arguments` has each buffer.
    """

    limit: int | None
    arguments: tuple[Argument, ...]
    omitted: frozenset[str]
    arrays: Mapping[str, int]


def reflect(entry: EntryPoint, numbers: list[int], layouts: Layouts) -> Reflected:
    """Read the marker's numbers, in the order in which `entry.wrapper` gave them, and layouts."""
    values = iter(numbers)
    limit = next(values) or None
    found: list[Argument] = []
    inactive: set[str] = set()
    arrays: dict[str, int] = {}
    for number, parameter in enumerate(entry.parameters):
        if parameter.position:
            continue
        index, size, alignment, space, const, details, holds, active = (
            next(values) for _ in range(8)
        )
        argument = Argument(
            name=parameter.name,
            kind="threadgroup" if space == 3 else "buffer",
            index=index,
            address_space=_SPACES[space],
            type_name=_type_name(parameter.type_name, holds),
            size=size,
            alignment=alignment,
            access="read" if const else "read_write",
            members=tuple(_members(parameter.members, values)),
            is_reference=parameter.is_reference,
            fields=layouts.fields(entry.name, number),
        )
        if not active:
            inactive.add(argument.name)
        if _is_array(details):
            arrays[argument.name] = details >> 32
            argument = replace(argument, count=details >> 32)
        found.append(_resource(argument, details))
    kept = [argument for argument in _numbered(found) if argument.name not in inactive]
    _check_places(entry, kept)
    return Reflected(
        limit=limit,
        arguments=tuple(one for argument in kept for one in _each(argument, arrays)),
        omitted=frozenset(inactive),
        arrays={name: count for name, count in arrays.items() if name not in inactive},
    )


def _type_name(declared: str, holds: int) -> str:
    """The declared name, or what it stands for, if it is an alias or a template's parameter."""
    scalar = _SCALARS[holds & 0xFF]
    if not scalar or _PLAIN_TYPE.fullmatch(declared):
        return declared
    count = holds >> 8
    return f"{scalar}{count}" if count else scalar


def _check_places(entry: EntryPoint, arguments: list[Argument]) -> None:
    """CompileError if two arguments share a place, or one lies beyond its table's end."""
    known = limits()
    ends = {
        "buffer": known.buffers_per_stage,
        "texture": known.textures_per_stage,
        "sampler": known.samplers_per_stage,
        "threadgroup": known.threadgroup_memory_arguments,
    }
    taken: dict[tuple[str, int], str] = {}
    for argument in arguments:
        for table, index in sorted(_places(argument, argument.index)):
            other = taken.setdefault((table, index), argument.name)
            problem = ""
            if other != argument.name:
                problem = f"[[{table}({index})]] is given to both '{other}' and '{argument.name}'"
            elif index >= ends[table]:
                problem = (
                    f"'{argument.name}': [[{table}({index})]] is out of bounds, the last is "
                    f"{ends[table] - 1}"
                )
            if problem:
                raise CompileError.at(
                    entry.file, entry.line, 1, f"kernel '{entry.name}': {problem}"
                )


def _is_array(details: int) -> bool:
    """Whether an argument is an array of buffers: a count, and no resource of another kind."""
    return bool(details >> 32) and not details >> 24 & 0xFF


def _each(argument: Argument, arrays: Mapping[str, int]) -> Iterator[Argument]:
    """The argument, or each buffer of an array of them."""
    if argument.name not in arrays:
        yield argument
        return
    for place in range(argument.count):
        name, index = f"{argument.name}[{place}]", argument.index + place
        yield replace(argument, name=name, index=index, count=1)


def _resource(argument: Argument, details: int) -> Argument:
    """The argument as a texture, sampler, function table or tensor, if `details` says so."""
    kind = _RESOURCES.get(details >> 24 & 0xFF)
    if kind is None:
        return argument
    argument = replace(argument, kind=kind, count=details >> 32)
    if kind == "tensor":
        return replace(
            argument,
            address_space="device",
            rank=details & 0xFF,
            access="read" if details >> 8 & 1 else "read_write",
            data_type=details >> 16 & 0xFF,
        )
    if kind != "texture":
        return argument
    return replace(
        argument,
        texture_type=details & 0xFF,
        access=_TEXTURE_ACCESSES[details >> 8 & 0xF],
        is_depth=bool(details >> 12 & 1),
        data_type=details >> 16 & 0xFF,
    )


def _numbered(arguments: list[Argument]) -> list[Argument]:
    """The arguments, those without an index given the lowest free one of their table in order."""
    used = {place for a in arguments if a.index != NO_INDEX for place in _places(a, a.index)}
    numbered: list[Argument] = []
    for argument in arguments:
        if argument.index == NO_INDEX:
            index = next(i for i in itertools.count() if not used & _places(argument, i))
            used |= _places(argument, index)
            argument = replace(argument, index=index)
        numbered.append(argument)
    return numbered


def _places(argument: Argument, index: int) -> set[tuple[str, int]]:
    """Where in the tables an argument lies; function tables and tensors lie among the buffers."""
    table = "buffer" if argument.kind in ("function_table", "tensor") else argument.kind
    return {(table, index + place) for place in range(argument.count)}


def _members(members: tuple[Member, ...], values: Iterator[int]) -> Iterator[ArgumentBufferMember]:
    for member in members:
        yield ArgumentBufferMember(
            name=member.name,
            id=next(values),
            offset=next(values),
            kind=member.kind,
            address_space=member.space,
        )

"""Reads what the wrapper's marker function tells, out of the strings of a bitcode file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .arguments import AddressSpace, Argument, ArgumentBufferMember
from .entry import assign_indices
from .errors import CompileError
from .kernels import EntryPoint, Member

_MARKER = re.compile(rb"_Z15__assay_reflectI[A-Za-z_]*?J((?:Lm\d+E)+)EEvv")
_SPACES: dict[int, AddressSpace] = {1: "device", 3: "threadgroup", 6: "constant"}


def read_marker(bitcode: bytes) -> list[int]:
    """The numbers in the mangled name of the marker function."""
    found = _MARKER.search(bitcode)
    if found is None:
        raise CompileError("the compiler's output lacks the kernel's description")
    return [int(number) for number in re.findall(rb"Lm(\d+)E", found[1])]


def reflect(
    entry: EntryPoint, numbers: list[int]
) -> tuple[int | None, tuple[Argument, ...], frozenset[str]]:
    """The thread limit, the arguments, and the names of those that a constant switches off."""
    values = iter(numbers)
    limit = next(values) or None
    arguments: list[Argument] = []
    omitted: set[str] = set()
    for index, parameter in assign_indices(entry):
        size, alignment, space, const, active = (next(values) for _ in range(5))
        members = tuple(_members(parameter.members, values))
        if not active:
            omitted.add(parameter.name)
            continue
        arguments.append(
            Argument(
                name=parameter.name,
                kind="threadgroup" if space == 3 else "buffer",
                index=index,
                address_space=_SPACES[space],
                type_name=parameter.type_name,
                size=size,
                alignment=alignment,
                access="read" if const else "read_write",
                members=members,
            )
        )
    return limit, tuple(arguments), frozenset(omitted)


def _members(members: tuple[Member, ...], values: Iterator[int]) -> Iterator[ArgumentBufferMember]:
    for member in members:
        yield ArgumentBufferMember(
            name=member.name,
            id=member.id,
            offset=next(values),
            kind=member.kind,
            address_space=member.space,
        )

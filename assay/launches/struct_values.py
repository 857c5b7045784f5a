"""Bytes of structs: members that somebody gave by name, and assumed values for the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assay.sim.names import choices

from .contents import Bytes, numbers
from .errors import LaunchInputError
from .inputs import Fields, Number
from .scalars import dtype_named
from .structs import Member

if TYPE_CHECKING:
    from assay.compiler.msl import Argument


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StructValue:
    """A struct's bytes; `assumed` has the members that nobody gave, with their values."""

    data: Bytes
    assumed: Mapping[str, Number]

    def __str__(self) -> str:
        return f"{{ {', '.join(f'{name} = {value}' for name, value in self.assumed.items())} }}"


def struct_value(
    argument: Argument,
    members: Sequence[Member],
    given: Mapping[str, tuple[Number, ...]],
    assume: Callable[[str, str], Number],
    what: str,
) -> StructValue:
    """The bytes of a struct.

    Args:
        argument: of that type.
        members: where they lie.
        given: values by name.
        assume: a value for a name and the kind of its elements, as NumPy calls it.
        what: of whom messages tell.

    Raises:
        LaunchInputError: for a name that is no member, or a value that does not fit its type.
    """
    for name in given:
        if name not in {member.name for member in members}:
            known = choices(name, (member.name for member in members))
            raise LaunchInputError(f"{what}: {argument.type_name} has no member '{name}'; {known}")
    raw = np.zeros(argument.size, np.uint8)
    assumed: dict[str, Number] = {}
    for member in members:
        values = given.get(member.name)
        if values is None:
            last = member.name.rpartition(".")[2]
            assumed[member.name] = assume(last, member.element.kind)
            values = (assumed[member.name],)
        data = _elements(member, values, f"{what}: member '{member.name}'").view(np.uint8)
        raw[member.offset : member.offset + data.size] = data
    return StructValue(data=raw, assumed=assumed)


def check_fields(argument: Argument, members: Sequence[Member], given: Fields, what: str) -> None:
    """LaunchInputError if types that were given in order are not those of the members."""
    types = [(member.name, member.element) for member in members for _ in range(member.count)]
    if len(types) != len(given.members):
        raise LaunchInputError(
            f"{what}: {argument.type_name} has {len(types)} members, {len(given.members)} fields "
            f"are given; give them by name: {{ {types[0][0]} = 1, ... }}"
        )
    for (name, element), (named, _) in zip(types, given.members, strict=True):
        if dtype_named(named) != element:
            raise LaunchInputError(
                f"{what}: member '{name}' of {argument.type_name} is {element}, the field given "
                f"for it {named}"
            )


def _elements(member: Member, values: tuple[Number, ...], what: str) -> Bytes:
    if member.element.kind == "b" and any(value not in (0, 1) for value in values):
        raise LaunchInputError(f"{what} is a bool; {values[0]!r} is given")
    made = numbers(values, member.element, f"{what}")
    if len(values) == 1:
        return np.full(member.count, made[0], member.element)
    if len(values) != member.length:
        count = f"{member.length} values" if member.length > 1 else "one value"
        raise LaunchInputError(f"{what} takes {count}; {len(values)} are given")
    padding = np.zeros(member.count - len(values), member.element)
    return np.concatenate([made, padding])

"""Members of the structs of arguments, as the compiler lays them out, by name and type."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .scalars import axes_of, element_of, lanes_of

if TYPE_CHECKING:
    from assay.compiler.msl import Argument, StructField

_MOST_ELEMENTS = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Scalars of one type at byte `offset` of a struct: `count` of them.

    `length` is how many of them have a meaning: one less in a vector of three. Members of a struct
    in it are called `inner.n`, those of one of several structs `many.0.n`.
    """

    name: str
    element: np.dtype[Any]
    count: int
    offset: int
    length: int

    @property
    def end(self) -> int:
        """The byte behind it."""
        return self.offset + self.count * self.element.itemsize


def members_of(argument: Argument) -> tuple[Member, ...]:
    """The members of an argument's struct in the order of their places.

    Empty if the compiler does not describe them all, or any has a type that is not known, if two
    share bytes as in unions, or if they are very many.
    """
    members = []
    for field in argument.fields:
        member = _member(field)
        if member is None:
            return ()
        members.append(member)
    members.sort(key=lambda member: member.offset)
    overlap = any(later.offset < one.end for one, later in pairwise(members))
    if not members or overlap or members[-1].end > argument.size:
        return ()
    return tuple(members) if sum(each.count for each in members) <= _MOST_ELEMENTS else ()


def _member(field: StructField) -> Member | None:
    """A field as scalars; None if its type is not known."""
    element = element_of(field.type_name)
    if element is None or field.count < 1:
        return None
    lanes, _ = lanes_of(field.type_name, element.itemsize)
    count = lanes * field.count
    has_padding = field.count == 1 and lanes == 4 and axes_of(field.type_name) == 3
    return Member(
        name=field.name,
        element=element,
        count=count,
        offset=field.offset,
        length=3 if has_padding else count,
    )

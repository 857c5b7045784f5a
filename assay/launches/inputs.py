"""What a kernel may be given: a grid, contents of arguments, values of function constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

Size = tuple[int, int, int]
Number = bool | int | float
ConstantValue = Number | tuple[Number, ...]

MOST_BYTES = 1 << 32
"""Bytes of the largest argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """An array: element type (None: the argument's own), shape, and what is in it.

    `fill` is one of the words of the schema, a number for all elements, a list of all values, or
    the path of a `.npy` file.
    """

    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    fill: str | Number | Path | tuple[Number, ...] = "random"


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """So many bytes: of threadgroup memory, or of a zeroed buffer."""

    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """A struct as (type, value) of its members, each aligned to its own size."""

    members: tuple[tuple[str, Number], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """Members of a struct by name: a number, or a list for an array or a vector."""

    values: Mapping[str, tuple[Number, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """One value, or the components of a vector, in the argument's own type."""

    values: tuple[Number, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exact:
    """An array as a program has it; its bytes are taken whatever the argument's type."""

    array: NDArray[Any]
    is_initialised: bool = True


Given = Filled | Raw | Fields | Members | Literal | Exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What one run of a kernel is given; what is missing is assumed.

    `where` names the place for messages; `problem` says what is wrong with what was written, so
    that nothing runs by it.
    """

    where: str = ""
    problem: str = ""
    threads: Size | None = None
    threadgroups: Size | None = None
    threadgroup: Size | None = None
    arguments: Mapping[str, Given] = field(default_factory=dict)
    constants: Mapping[int | str, ConstantValue] = field(default_factory=dict)

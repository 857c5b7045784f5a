"""What a program's own values mean for a kernel: sizes of grids, arguments one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import LaunchInputError
from .inputs import Exact, Given, Literal, Members, Raw, Size
from .members import MemberError, members_given

if TYPE_CHECKING:
    from assay.compiler.msl import Argument, KernelFunction


def size_of(what: str, value: int | Sequence[int] | None) -> Size | None:
    """A size in x, y, z from what a caller gave for `what`. Raises LaunchInputError."""
    if value is None:
        return None
    sizes = list(value) if isinstance(value, Sequence | np.ndarray) else [value]
    whole = (isinstance(size, int | np.integer) and not isinstance(size, bool) for size in sizes)
    if not 1 <= len(sizes) <= 3 or not all(whole) or min(sizes) < 1:
        raise LaunchInputError(f"{what} is {value!r}; expected 1 to 3 positive integers")
    x, y, z = (*(int(size) for size in sizes), 1, 1)[:3]
    return x, y, z


def given_of(
    kernel: KernelFunction, values: Sequence[Any], uninitialised: frozenset[str]
) -> dict[str, Given]:
    """What each argument was given, by its name."""
    names = [argument.name for argument in kernel.arguments]
    if len(values) != len(names):
        raise LaunchInputError(
            f"kernel '{kernel.name}' takes {len(names)} arguments ({', '.join(names)}), "
            f"{len(values)} given"
        )
    unknown = sorted(uninitialised - set(names))
    if unknown:
        raise LaunchInputError(
            f"uninitialised: kernel '{kernel.name}' has no argument {unknown[0]}"
        )
    given = {}
    for argument, value in zip(kernel.arguments, values, strict=True):
        if value is not None:
            given[argument.name] = _one(argument, value, argument.name not in uninitialised)
    return given


def _one(argument: Argument, value: Any, is_initialised: bool) -> Given:
    if argument.kind == "threadgroup":
        if isinstance(value, int | np.integer) and value >= 0:
            return Raw(bytes=int(value))
        raise LaunchInputError(
            f"argument '{argument.name}' is threadgroup memory: give its bytes, not {value!r}"
        )
    if isinstance(value, Mapping) and value:
        try:
            return Members(values=members_given(value))
        except MemberError as error:
            name = ".".join((argument.name, *error.path))
            raise LaunchInputError(f"argument '{name}': {error}") from None
    if isinstance(value, np.ndarray) and value.ndim:
        if not value.size or value.dtype.hasobject:
            raise LaunchInputError(f"argument '{argument.name}': the array holds no numbers")
        return Exact(array=value, is_initialised=is_initialised)
    if isinstance(value, bytes | bytearray | memoryview) and len(value):
        return Exact(array=np.frombuffer(value, np.uint8))
    numbers = value if isinstance(value, list | tuple) else [value]
    plain = [each.item() if isinstance(each, np.generic | np.ndarray) else each for each in numbers]
    if plain and all(isinstance(each, bool | int | float) for each in plain):
        return Literal(values=tuple(plain))
    raise LaunchInputError(
        f"argument '{argument.name}': expected an array, a number, a list of numbers, bytes or a "
        f"struct's members by name, not {type(value).__name__}"
    )

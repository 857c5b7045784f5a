"""Calls of kernels that are noted instead of made, with arrays of which only shapes are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.compiler.foundry.kernels import (
    Declared,
    Grid,
    GridOf,
    Output,
    Params,
    Tensor,
    Updated,
)
from assay.compiler.foundry.structs import Struct, layout_of
from assay.compiler.foundry.structs.dynamic import resolve
from assay.compiler.foundry.structs.types import Array as ArrayType
from assay.compiler.foundry.structs.types import MslType, Scalar, Vector

from .given import call_error, following, refuse_unknown
from .sizes import Conditions, Size

Dtype = np.dtype[Any]


class Traced:
    """An array that a kernel will read or has written, known by its shape and type."""

    def __init__(self, trace: Trace, name: str, shape: tuple[Any, ...], dtype: Dtype) -> None:
        self.trace, self.name, self.shape, self.dtype = trace, name, shape, dtype

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def size(self) -> Any:
        """How many elements it has."""
        return prod(self.shape)

    def __repr__(self) -> str:
        return f"<{self.name}: {'x'.join(map(str, self.shape))} {self.dtype}>"


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a stage's parameters: its bits, or a size, of `scalar`'s bytes at `offset`."""

    offset: int
    scalar: Scalar
    value: int | Size


@dataclass(frozen=True, slots=True)
class TracedCall:
    """A call: tensors and numbers by the index of the buffer."""

    declared: Declared
    grid: Grid
    tensors: Mapping[int, Traced]
    numbers: Mapping[int, tuple[Number, ...]]


@dataclass
class Trace:
    """Calls in their order. Arrays that are given as they are become constants."""

    conditions: Conditions
    calls: list[TracedCall] = field(default_factory=list)
    constants: dict[int, tuple[Traced, NDArray[Any]]] = field(default_factory=dict)
    """By the array's identity, with the array that has it."""

    def call(self, declared: Declared, grid_of: GridOf, given: Mapping[str, Any]) -> Any:
        """Notes a call; what the kernel makes. Raises FoundryError as a call would."""
        refuse_unknown(declared, given)
        values = dict(given)
        for name, argument in declared.arguments.items():
            if isinstance(argument, Updated):
                raise call_error(
                    declared, f"it changes {name}; kernels of modules only write what is new"
                )
            if isinstance(argument, Output):
                values[name] = None
            elif isinstance(argument, Tensor):
                values[name] = self._tensor(declared, name, argument, given[name])
        for name, argument in declared.arguments.items():
            if isinstance(argument, Output):
                values[name] = self._made(declared, name, argument, values)
        for name, argument in declared.arguments.items():
            if isinstance(argument, Params) and argument.make is not None:
                values[name] = following(declared, argument.make, values)
        grid = following(declared, grid_of, values)
        self.calls.append(self._noted(declared, grid, values))
        made = [values[n] for n, each in declared.arguments.items() if isinstance(each, Output)]
        return made[0] if len(made) == 1 else tuple(made)

    def _noted(self, declared: Declared, grid: Grid, values: Mapping[str, Any]) -> TracedCall:
        tensors: dict[int, Traced] = {}
        numbers: dict[int, tuple[Number, ...]] = {}
        for name, argument in declared.arguments.items():
            index, value = declared.indices[name], values[name]
            if isinstance(argument, Params):
                where = f"{declared.function}: {name}"
                numbers[index] = tuple(_numbers(argument.layout, value, 0, where, values))
            else:
                tensors[index] = value
        return TracedCall(declared, grid, tensors, numbers)

    def _tensor(self, declared: Declared, name: str, argument: Tensor, value: Any) -> Traced:
        found = value if isinstance(value, Traced) else self._constant(name, value)
        if found is None or found.dtype != argument.dtype:
            kind = type(value).__name__ if found is None else found.dtype.name
            raise call_error(
                declared, f"{name} is {kind}; it takes arrays of {argument.dtype.name}"
            )
        if found.trace is not self:
            raise call_error(declared, f"{name} belongs to a module that is built elsewhere")
        return found

    def _constant(self, name: str, value: Any) -> Traced | None:
        if not isinstance(value, np.ndarray):
            return None
        if id(value) not in self.constants:
            self.constants[id(value)] = Traced(self, name, value.shape, value.dtype), value
        return self.constants[id(value)][0]

    def _made(
        self, declared: Declared, name: str, argument: Output, values: Mapping[str, Any]
    ) -> Traced:
        shape = argument.shape
        if isinstance(shape, str):
            sizes = values[shape].shape
        else:
            sizes = tuple(following(declared, shape, values) if callable(shape) else shape)
        return Traced(self, name, sizes, argument.dtype)


def trace_of(given: Mapping[str, Any]) -> Trace | None:
    """What notes a call with these values; None if they are values to be computed with."""
    return next((each.trace for each in given.values() if isinstance(each, Traced)), None)


def _numbers(
    kind: MslType, value: Any, offset: int, where: str, values: Mapping[str, Any]
) -> Iterator[Number]:
    """The numbers that a value of a type consists of. Raises FoundryError."""
    if isinstance(kind, Struct):
        if layout_of(type(value)) is not kind:
            kind.pack(value, where, values)  # says what is wrong
        for member in kind.members:
            place = f"{where}.{member.field}"
            found = resolve(getattr(value, member.field), values, place)
            yield from _numbers(member.type, found, offset + member.offset, place, values)
    elif isinstance(kind, Scalar):
        if isinstance(value, Size):
            yield Number(offset, kind, value)
        else:
            bits = int.from_bytes(kind.pack(value, where, values), "little")
            yield Number(offset, kind, bits)
    else:
        assert isinstance(kind, Vector | ArrayType)
        if not hasattr(value, "__len__") or len(value) != kind.count:
            kind.pack(value, where, values)  # says what is wrong
        for at, each in enumerate(value):
            begin = offset + at * kind.element.size
            yield from _numbers(kind.element, each, begin, f"{where}[{at}]", values)
    yield from _end(kind, offset)


def _end(kind: MslType, offset: int) -> Iterator[Number]:
    """A zero at a struct's or vector's last byte, if that is padding."""
    if isinstance(kind, Struct):
        last = kind.members[-1]
        if last.offset + last.type.size < kind.size:
            yield Number(offset + kind.size - 1, _BYTE, 0)
    elif isinstance(kind, Vector) and kind.count * kind.element.size < kind.size:
        yield Number(offset + kind.size - 1, _BYTE, 0)


_BYTE = Scalar("uchar", "<u1")

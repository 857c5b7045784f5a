"""Arguments of a kernel, as they are declared in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import ml_dtypes
import numpy as np

from ..errors import FoundryError
from ..structs import Struct, layout_of
from ..structs.names import PLAIN
from ..structs.types import MslType, Scalar, Vector

ShapeOf = str | Sequence[int] | Callable[[Mapping[str, Any]], Sequence[int]]
"""Of an output: another argument's name, sizes, or a function of all values that a call gives."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A buffer that the kernel reads."""

    element: Scalar | Vector

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of the numbers in it."""
        return dtype_of(self.element)


@dataclass(frozen=True, slots=True)
class Output(Tensor):
    """A buffer that a call makes, and returns filled."""

    shape: ShapeOf


@dataclass(frozen=True, slots=True)
class Updated(Tensor):
    """A buffer that the kernel reads and changes, such as a cache."""


@dataclass(frozen=True, slots=True)
class Params:
    """A parameter struct, or a number: `constant P* p`, or `constant uint& n`."""

    layout: Struct | Scalar | Vector
    make: Callable[[Mapping[str, Any]], Any] | None = None
    """Makes the value of the others; None for one that the call gives."""


Argument = Tensor | Output | Updated | Params


def tensor(element: Any) -> Tensor:
    """A buffer of numbers that the kernel reads: `tensor(half)`. Raises FoundryError."""
    return Tensor(_element(element))


def output(element: Any, shape: ShapeOf) -> Output:
    """A buffer that the kernel fills.

    Its shape is that of another argument (`output(half, "x")`), given by sizes, or a function of
    the values of the call by name. Raises FoundryError.
    """
    return Output(_element(element), shape)


def updated(element: Any) -> Updated:
    """A buffer that a call gives and the kernel changes: `updated(half)`. Raises FoundryError."""
    return Updated(_element(element))


def derived(declared: Any, make: Callable[[Mapping[str, Any]], Any]) -> Params:
    """A struct or number that follows from the other values of a call, such as their shapes.

    Raises FoundryError for anything else.
    """
    found = argument_of(declared, "a derived argument")
    if not isinstance(found, Params):
        raise FoundryError("kernel-argument", "only structs and numbers can be derived")
    return Params(found.layout, make)


def argument_of(declared: Any, where: str) -> Argument:
    """What a declaration stands for: a tensor, an output, a parameter struct, a type of numbers.

    Raises FoundryError for anything else.
    """
    if isinstance(declared, Tensor | Params):
        return declared
    layout = layout_of(declared)
    if layout is not None:
        return Params(layout)
    kind = _msl_type(declared)
    if isinstance(kind, Scalar | Vector):
        return Params(kind)
    raise FoundryError(
        "kernel-argument",
        f"{where}: {declared!r} is no argument; give tensor(...), output(...), a struct or a type "
        "such as uint",
    )


def dtype_of(element: Scalar | Vector) -> np.dtype[Any]:
    """NumPy's type of the numbers that an element consists of."""
    scalar = element.element if isinstance(element, Vector) else element
    return np.dtype(ml_dtypes.bfloat16) if scalar.name == "bfloat" else np.dtype(scalar.dtype)


def spelled(name: str, argument: Argument) -> str:
    """A parameter of a function in MSL."""
    if isinstance(argument, Params):
        is_number = isinstance(argument.layout, Scalar)
        return f"constant {argument.layout.name}{'&' if is_number else '*'} {name}"
    const = "" if isinstance(argument, Output | Updated) else "const "
    return f"{const}device {argument.element.name}* {name}"


def member(name: str, argument: Argument) -> str:
    """The same in a struct, or for a function of ours: numbers by value, else by address."""
    if isinstance(argument, Params) and isinstance(argument.layout, Scalar):
        return f"{argument.layout.name} {name}"
    return spelled(name, argument)


def _element(declared: Any) -> Scalar | Vector:
    found = _msl_type(declared)
    if not isinstance(found, Scalar | Vector):
        raise FoundryError("kernel-argument", f"a tensor has numbers or vectors, not {declared!r}")
    return found


def _msl_type(declared: Any) -> MslType | None:
    if isinstance(declared, Scalar | Vector):
        return declared
    marks = [mark for mark in get_args(declared)[1:] if isinstance(mark, Scalar | Vector)]
    if marks:
        return marks[0]
    return PLAIN.get(declared) if isinstance(declared, type) else None

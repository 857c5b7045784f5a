"""What a call of a kernel gives: which names it may have, and what follows from its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.kernels import Declared, Output, Params
from assay.compiler.foundry.structs import waits_for

_T = TypeVar("_T")


def outputs_of(declared: Declared) -> list[str]:
    """Arguments that a call makes."""
    return [name for name, each in declared.arguments.items() if isinstance(each, Output)]


def is_derived(declared: Declared, name: str) -> bool:
    """Whether an argument follows from the others."""
    argument = declared.arguments[name]
    return isinstance(argument, Params) and argument.make is not None


def refuse_unknown(declared: Declared, given: Mapping[str, Any]) -> None:
    """Raises FoundryError for a name that is not asked for, or a value that is missing."""
    takes = [
        name
        for name in declared.arguments
        if name not in outputs_of(declared) and not is_derived(declared, name)
    ]
    waited = {each for value in given.values() for each in waits_for(value)}
    for name in given:
        if name not in takes and name not in waited:
            raise call_error(declared, f"{name} is not asked for; it takes {', '.join(takes)}")
    for name in takes:
        if name not in given:
            raise call_error(declared, f"there is no value for {name}")


def following(
    declared: Declared, function: Callable[[Mapping[str, Any]], _T], values: Mapping[str, Any]
) -> _T:
    """What follows from the shapes of arrays. Raises FoundryError for others than it takes."""
    try:
        return function(values)
    except FoundryError:
        raise
    except (ValueError, IndexError, ZeroDivisionError) as error:
        arrays = {name: each.shape for name, each in values.items() if hasattr(each, "shape")}
        shapes = ", ".join(f"{name} {shape}" for name, shape in arrays.items())
        raise call_error(
            declared, f"it does not take arrays of these shapes, {shapes}: {error}"
        ) from None


def call_error(declared: Declared, message: str) -> FoundryError:
    """An error of a call."""
    return FoundryError("kernel-call", f"{declared.function}: {message}")

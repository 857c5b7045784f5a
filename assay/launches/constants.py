"""Compiles a kernel with its function constants, assumed where nobody gave them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .inputs import ConstantValue
from .scalars import axes_of, element_of

if TYPE_CHECKING:
    from assay.compiler.msl import FunctionConstant, KernelFunction, Library


def compiled_kernel(
    library: Library, name: str, constants: Mapping[int | str, ConstantValue]
) -> tuple[KernelFunction, tuple[str, ...]]:
    """The kernel, and what was assumed for function constants that it needs.

    Raises:
        CompileError: if it does not compile with them either.
    """
    from assay.compiler.msl import CompileError, MissingConstants

    try:
        return library.function(name, constants), ()
    except MissingConstants as error:
        read = frozenset(error.names)
    except CompileError:
        # One without a value may stand where the compiler needs one.
        read = frozenset(constant.name for constant in library.constants)
        if not _missing(library, constants):
            raise
    missing = _missing(library, constants)
    # All get values, so that the kernels of a library share one text.
    values: dict[int | str, ConstantValue] = {
        constant.index: _assumed_constant(constant.type_name) for constant in missing
    }
    kernel = library.function(name, {**constants, **values})
    said = (
        f"{each.name} = {_spelled(values[each.index])}" for each in missing if each.name in read
    )
    return kernel, tuple(said)


def _missing(
    library: Library, constants: Mapping[int | str, ConstantValue]
) -> list[FunctionConstant]:
    """The constants of a library that have no value yet."""
    return [
        constant
        for constant in library.constants
        if constant.index not in constants and constant.name not in constants
    ]


def _assumed_constant(type_name: str) -> ConstantValue:
    element = element_of(type_name)
    kind = element.kind if element is not None else "i"
    value = False if kind == "b" else 1 if kind in "iu" else 1.0
    axes = axes_of(type_name)
    return value if axes == 1 else (value,) * axes


def _spelled(value: ConstantValue) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_spelled, value))})"
    return str(value).lower() if isinstance(value, bool) else str(value)

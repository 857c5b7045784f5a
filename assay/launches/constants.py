"""Compiles a kernel with its function constants, assumed where nobody gave them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .inputs import ConstantValue
from .scalars import axes_of, element_of

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction, Library


def compiled_kernel(
    library: Library, name: str, constants: Mapping[int | str, ConstantValue]
) -> tuple[KernelFunction, tuple[str, ...]]:
    """The kernel, and what was assumed for function constants that it needs.

    Raises:
        CompileError: if it does not compile with them either.
    """
    from assay.compiler.msl import CompileError

    try:
        return library.function(name, constants), ()
    except CompileError:
        missing = [
            constant
            for constant in library.constants
            if constant.index not in constants and constant.name not in constants
        ]
        if not missing:
            raise
    values: dict[int | str, ConstantValue] = {
        constant.index: _assumed_constant(constant.type_name) for constant in missing
    }
    kernel = library.function(name, {**constants, **values})
    said = tuple(f"{each.name} = {_spelled(values[each.index])}" for each in missing)
    return kernel, said


def _assumed_constant(type_name: str) -> ConstantValue:
    element = element_of(type_name)
    kind = element.kind if element is not None else "i"
    value = False if kind == "b" else 1 if kind in "iu" else 1.0
    axes = axes_of(type_name)
    return value if axes == 1 else (value,) * axes


def _spelled(value: ConstantValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

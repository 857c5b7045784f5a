"""Compiles a kernel with its function constants, assumed where nobody gave them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from assay.sim.lanes import LANES

from .grid import ASSUMED_THREADS
from .inputs import ConstantValue, Size
from .scalars import axes_of, element_of

if TYPE_CHECKING:
    from assay.compiler.msl import FunctionConstant, KernelFunction, KernelLibrary

_CONDITIONS = ("true", "false")
# Names of constants that say how many simdgroups a threadgroup has.
_SIMDGROUPS = re.compile(
    r"(\w*_)?(nsg|(n|num|number_of)?_?simd_?groups(_per_(thread)?group)?)", re.IGNORECASE
)


def compiled_kernel(
    library: KernelLibrary,
    name: str,
    constants: Mapping[int | str, ConstantValue],
    threadgroup: Size | None = None,
) -> tuple[KernelFunction, tuple[str, ...]]:
    """The kernel, and what was assumed for function constants that it needs: `name = value`.

    Those that count simdgroups by their names are as many as the threadgroup has: the size that is
    given, or the usual one.

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
        known = library.constants_of(name)
        read = frozenset(constant.name for constant in known)
        if not _missing(known, constants):
            raise
    missing = _missing(library.constants_of(name), constants)
    # All get values, so that the kernels of a library share one text.
    values: dict[int | str, ConstantValue] = {
        constant.index: _assumed_constant(constant, threadgroup) for constant in missing
    }
    kernel = library.function(name, {**constants, **values})
    said = (
        f"{each.name} = {_spelled(values[each.index])}" for each in missing if each.name in read
    )
    return kernel, tuple(said)


def numbers_among(assumed: Iterable[str]) -> tuple[str, ...]:
    """Names of the assumed constants that are numbers: any other could be given as well.

    Of conditions each value is one that some host gives, and simdgroups are as many as there are.
    """
    parts = (each.partition(" = ") for each in assumed)
    return tuple(
        name
        for name, _, value in parts
        if value not in _CONDITIONS and not _SIMDGROUPS.fullmatch(name)
    )


def _missing(
    known: Iterable[FunctionConstant], constants: Mapping[int | str, ConstantValue]
) -> list[FunctionConstant]:
    """The constants that have no value yet."""
    return [
        constant
        for constant in known
        if constant.index not in constants and constant.name not in constants
    ]


def _assumed_constant(constant: FunctionConstant, threadgroup: Size | None) -> ConstantValue:
    element = element_of(constant.type_name)
    kind = element.kind if element is not None else "i"
    value = False if kind == "b" else 1 if kind in "iu" else 1.0
    axes = axes_of(constant.type_name)
    if kind in "iu" and axes == 1 and _SIMDGROUPS.fullmatch(constant.name):
        threads = math.prod(threadgroup) if threadgroup is not None else ASSUMED_THREADS
        return -(-threads // LANES)
    return value if axes == 1 else (value,) * axes


def _spelled(value: ConstantValue) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_spelled, value))})"
    return str(value).lower() if isinstance(value, bool) else str(value)

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
    kernel, values, read = _compiled(library, name, constants, threadgroup)
    said = (_said(each, values[each]) for each in values if each in read)
    return kernel, tuple(said)


def kernel_and_constants(
    library: KernelLibrary,
    name: str,
    constants: Mapping[int | str, ConstantValue],
    threadgroup: Size | None = None,
) -> tuple[KernelFunction, tuple[str, ...]]:
    """The same kernel, and sentences about all function constants that it may depend on.

    They tell those that were given and assumed, and which have no value: kernels can ask for that.
    """
    kernel, values, read = _compiled(library, name, constants, threadgroup)
    known = library.constants_of(name)
    names: dict[int | str, str] = {each.index: each.name for each in known}
    names |= {each.name: each.name for each in known}
    open = [each.name for each in _missing(known, constants) if each.name not in values]
    assumed = [_said(each, values[each]) for each in values if each in read]
    others = [_said(each, values[each]) for each in values if each not in read]
    given = [_said(names[key], value) for key, value in constants.items() if key in names]
    said = [*given, *assumed]
    if others:
        said.append(", ".join(others))
    if open:
        said.append(f"{', '.join(open)} {'is' if len(open) == 1 else 'are'} not given")
    return kernel, tuple(said)


def _compiled(
    library: KernelLibrary,
    name: str,
    constants: Mapping[int | str, ConstantValue],
    threadgroup: Size | None,
) -> tuple[KernelFunction, dict[str, ConstantValue], frozenset[str]]:
    """The kernel, what was assumed for function constants by name, and which of these it needs."""
    from assay.compiler.msl import CompileError, MissingConstants

    try:
        return library.function(name, constants), {}, frozenset()
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
    assumed = [_assumed_constant(constant, threadgroup) for constant in missing]
    values: dict[int | str, ConstantValue] = {
        each.index: value for each, value in zip(missing, assumed, strict=True)
    }
    kernel = library.function(name, {**constants, **values})
    by_name = {each.name: value for each, value in zip(missing, assumed, strict=True)}
    return kernel, by_name, read


def _said(name: str, value: ConstantValue) -> str:
    return f"{name} = {_spelled(value)}"


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

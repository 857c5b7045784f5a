"""Which of a kernel's arguments assumptions may name: integers that it refers to."""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..launches.scalars import axes_of, element_of
from ..launches.structs import members_of

if TYPE_CHECKING:
    from assay.compiler.msl import Argument, KernelFunction
    from assay.compiler.verify import Names, Scalar


def names_of(kernel: KernelFunction) -> Names:
    """The integer arguments of a kernel, integer members of its structs, arrays of integers.

    Args:
        kernel: the kernel, which knows how its structs are laid out.
    """
    from assay.compiler.verify import Names

    scalars: dict[str, Scalar] = {}
    arrays: dict[str, Scalar] = {}
    buffers: dict[str, Scalar] = {}
    for number, argument in enumerate(kernel.arguments):
        element = element_of(argument.type_name)
        is_integer = element is not None and element.kind in "iu"
        if is_integer and axes_of(argument.type_name) == 1:
            assert element is not None
            first = _scalar(argument.name, argument, number, element)
            if argument.is_reference:
                scalars[argument.name] = first
            elif argument.kind == "buffer" and argument.address_space in ("constant", "device"):
                buffers[argument.name] = first
            if not argument.is_reference and argument.address_space == "constant":
                arrays[argument.name] = first
        elif argument.kind == "buffer" and argument.address_space == "constant":
            scalars.update((each.name, each) for each in _members(argument, number))
    return Names(scalars, arrays, buffers)


def referred_lengths(kernel: KernelFunction) -> dict[str, str]:
    """Bytes of what references are to, by argument: `constant T& x` is one T."""
    known = (each for each in kernel.arguments if each.is_reference and each.size)
    return {each.name: str(each.size) for each in known}


def _members(argument: Argument, number: int) -> Iterator[Scalar]:
    """The integers in a struct."""
    for member in members_of(argument):
        parts = member.name.split(".")
        if member.element.kind not in "iu" or not all(map(_is_name, parts)):
            continue
        for at in range(member.count):
            index = f"[{at}]" if member.count > 1 else ""
            name = f"{argument.name}.{member.name}{index}"
            offset = member.offset + at * member.element.itemsize
            yield _scalar(name, argument, number, member.element, offset)


def _is_name(part: str) -> bool:
    """Whether expressions, which are Python's, can have it as a name."""
    return part.isidentifier() and not keyword.iskeyword(part)


def _scalar(
    name: str, argument: Argument, number: int, element: np.dtype[np.generic], offset: int = 0
) -> Scalar:
    from assay.compiler.verify import Scalar

    return Scalar(
        name=name,
        argument=argument.name,
        parameter=number,
        width=8 * element.itemsize,
        is_signed=element.kind == "i",
        offset=offset,
    )

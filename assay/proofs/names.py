"""Which of a kernel's arguments assumptions may name: integers that it refers to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..launches.scalars import axes_of, element_of

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction
    from assay.compiler.verify import Names


def names_of(kernel: KernelFunction) -> Names:
    """The integer arguments of a kernel, each one number."""
    from assay.compiler.verify import Names, Scalar

    found = {}
    for number, argument in enumerate(kernel.arguments):
        element = element_of(argument.type_name)
        if not argument.is_reference or element is None or axes_of(argument.type_name) != 1:
            continue
        if element.kind in "iu":
            width = 8 * element.itemsize
            scalar = Scalar(
                name=argument.name, parameter=number, width=width, is_signed=element.kind == "i"
            )
            found[argument.name] = scalar
    return Names(found)

"""How many elements the arrays have that a kernel is given: a grid that is assumed fits them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .inputs import Exact, Filled, Given, Raw, Setup
from .scalars import dtype_named

if TYPE_CHECKING:
    from assay.compiler.msl import Argument, KernelFunction

Shape = tuple[int, ...]


def largest_array(kernel: KernelFunction, setup: Setup) -> Shape | None:
    """The shape of the largest array, its innermost axis first; None unless all are stated.

    It counts elements of the argument's own type, along one axis where those are not the array's.
    Of arrays of one element, which all threads share, none is the largest.
    """
    found: list[Shape] = []
    for argument in kernel.arguments:
        if argument.kind != "buffer" or argument.is_reference:
            continue
        given = setup.arguments.get(argument.name)
        shape = None if given is None else _shape(given, argument)
        if shape is None:
            return None
        found.append(shape)
    largest = max(found, key=math.prod, default=())
    return largest if math.prod(largest) > 1 else None


def _shape(given: Given, argument: Argument) -> Shape | None:
    """The elements of one array; None if they are not known before it is read."""
    size = argument.size or 1
    match given:
        case Exact(array=array):
            if array.itemsize == size:
                return tuple(reversed(array.shape))
            return (array.nbytes // size,)
        case Filled(shape=shape, dtype=name) if shape is not None:
            dtype = dtype_named(name) if name else None
            if dtype is None or dtype.itemsize == size:
                return tuple(reversed(shape))
            return (math.prod(shape) * dtype.itemsize // size,)
        case Raw(bytes=count):
            return (count // size,)
    return None

"""Tensors that a kernel takes of its host: packed arrays, the innermost dimension last."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.hal.metal import emulated as metal
from assay.hal.metal.emulated import MTLBuffer, MTLTensor, MTLTensorDescriptor, MTLTensorExtents
from assay.hal.metal.emulated.tensors.descriptor import ELEMENTS

from .contents import Bytes, contents
from .errors import LaunchInputError
from .inputs import Exact, Filled, Given

if TYPE_CHECKING:
    from assay.compiler.msl import Argument

# Elements in each dimension of a tensor that nobody gave, by how many there are.
_ASSUMED = {0: 1, 1: 4096, 2: 64, 3: 64, 4: 16}
_ASSUMED_OF_MORE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a tensor holds, and its shape, the innermost dimension last."""

    data: Bytes
    shape: tuple[int, ...]


def tensor_contents(argument: Argument, given: Given | None, seed: int, where: str) -> Contents:
    """The elements of a tensor. Raises LaunchInputError if they do not fit the kernel."""
    element = ELEMENTS.get(argument.data_type)
    what = f"{where}: argument '{argument.name}' is a tensor of {argument.rank} dimensions"
    if element is None:
        raise LaunchInputError(f"{what} of {argument.type_name}, whose elements are not emulated")
    if given is None:
        side = _ASSUMED.get(argument.rank, _ASSUMED_OF_MORE)
        given = Filled(shape=(side,) * argument.rank)
    shape = given.shape if isinstance(given, Filled) else None
    if isinstance(given, Exact):
        shape = given.array.shape
    if shape is None or len(shape) != argument.rank:
        raise LaunchInputError(
            f"{what}: give an array of as many, the innermost last, as "
            '{ shape = [4, 6], fill = "random" }'
        )
    if isinstance(given, Filled) and given.dtype is None:
        given = replace(given, dtype=element.name)
    plain = replace(argument, type_name=element.name, size=element.itemsize)
    data = contents(given, plain, seed, where)
    size = element.itemsize * math.prod(shape)
    if data.nbytes != size:
        raise LaunchInputError(f"{what}: {shape} elements take {size} bytes, not {data.nbytes}")
    return Contents(data=data, shape=shape)


def tensor_of(buffer: MTLBuffer, argument: Argument, shape: tuple[int, ...]) -> MTLTensor:
    """A tensor in a buffer that holds it packed."""
    sizes = shape[::-1]
    strides, step = [], 1
    for size in sizes:
        strides.append(step)
        step *= size
    descriptor = MTLTensorDescriptor.new()
    descriptor.setDimensions_(MTLTensorExtents(sizes))
    descriptor.setStrides_(MTLTensorExtents(strides))
    descriptor.setDataType_(argument.data_type)
    descriptor.setStorageMode_(buffer.storageMode())
    tensor, error = buffer.newTensorWithDescriptor_offset_error_(descriptor, 0, None)
    if tensor is None:
        assert error is not None
        raise metal.MetalError(error.localizedDescription())
    return tensor

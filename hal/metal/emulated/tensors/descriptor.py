"""MTLTensorDescriptor: how a tensor is to be."""

import math
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from ..constants import (
    MTLTensorDataTypeBFloat16,
    MTLTensorDataTypeFloat16,
    MTLTensorDataTypeFloat32,
    MTLTensorDataTypeInt8,
    MTLTensorDataTypeInt16,
    MTLTensorDataTypeInt32,
    MTLTensorDataTypeUInt8,
    MTLTensorDataTypeUInt16,
    MTLTensorDataTypeUInt32,
    MTLTensorUsageCompute,
    MTLTensorUsageMachineLearning,
    MTLTensorUsageRender,
)
from ..objects import call_of, expect
from ..resources.resource import OptionsDescriptor
from ..structs import as_integer
from .extents import MTLTensorExtents

ELEMENTS: dict[int, np.dtype[Any]] = {
    MTLTensorDataTypeFloat32: np.dtype(np.float32),
    MTLTensorDataTypeFloat16: np.dtype(np.float16),
    MTLTensorDataTypeBFloat16: np.dtype(ml_dtypes.bfloat16),
    MTLTensorDataTypeInt8: np.dtype(np.int8),
    MTLTensorDataTypeUInt8: np.dtype(np.uint8),
    MTLTensorDataTypeInt16: np.dtype(np.int16),
    MTLTensorDataTypeUInt16: np.dtype(np.uint16),
    MTLTensorDataTypeInt32: np.dtype(np.int32),
    MTLTensorDataTypeUInt32: np.dtype(np.uint32),
}
"""NumPy's types of elements by MTLTensorDataType."""
_USAGES = MTLTensorUsageCompute | MTLTensorUsageRender | MTLTensorUsageMachineLearning
_ROW_ALIGNMENT = 64  # bytes between rows of tensors for machine learning


class InvalidTensor(Exception):
    """What no tensor can be; `str()` says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A tensor's sizes and strides, in elements, and the type of these."""

    data_type: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def element(self) -> "np.dtype[Any]":
        """NumPy's type of an element."""
        return ELEMENTS[self.data_type]

    @property
    def nbytes(self) -> int:
        """From the first element's first byte to the last one's last."""
        last = sum((n - 1) * step for n, step in zip(self.sizes, self.strides, strict=True))
        return (last + 1) * self.element.itemsize


class MTLTensorDescriptor(OptionsDescriptor):
    """How a tensor is to be. The storage mode of a tensor in a buffer is the buffer's."""

    _strides: MTLTensorExtents | None = None
    _data_type = MTLTensorDataTypeFloat32
    _usage = MTLTensorUsageCompute | MTLTensorUsageRender

    def __init__(self) -> None:
        self._dimensions = MTLTensorExtents()

    def dimensions(self) -> MTLTensorExtents:
        """Elements in each dimension, the innermost first."""
        return self._dimensions

    def setDimensions_(self, dimensions: MTLTensorExtents) -> None:
        """Set how many elements there are in each dimension."""
        self._dimensions = expect(call_of(self), "the value", dimensions, MTLTensorExtents)

    def strides(self) -> MTLTensorExtents | None:
        """Elements from one to the next in each dimension, for tensors that lie in buffers."""
        return self._strides

    def setStrides_(self, strides: MTLTensorExtents | None) -> None:
        """Set the strides; the first is 1, and none is less than what the one before takes."""
        if strides is not None:
            expect(call_of(self), "the value", strides, MTLTensorExtents)
        self._strides = strides

    def dataType(self) -> int:
        """The MTLTensorDataType."""
        return self._data_type

    def setDataType_(self, kind: int) -> None:
        """Set the MTLTensorDataType."""
        self._data_type = as_integer(call_of(self), "the value", kind)

    def usage(self) -> int:
        """The MTLTensorUsage."""
        return self._usage

    def setUsage_(self, usage: int) -> None:
        """Set the MTLTensorUsage."""
        self._usage = as_integer(call_of(self), "the value", usage)

    def shape(self, *, in_buffer: bool) -> Shape:
        """The sizes and strides of a tensor by itself, or in a buffer. Raises InvalidTensor."""
        sizes = self._dimensions.values
        if min(sizes, default=1) < 1:
            raise InvalidTensor(f"dimensions are {sizes}; each must be at least 1")
        if self._data_type not in ELEMENTS:
            raise InvalidTensor(
                f"data type {self._data_type} is none of {sorted(ELEMENTS)}; elements of less than "
                "a byte and of other planes are not emulated"
            )
        if not self._usage or self._usage & ~_USAGES:
            raise InvalidTensor(f"usage {self._usage} is no MTLTensorUsage")
        packed = tuple(math.prod(sizes[:at]) for at in range(len(sizes)))
        if not in_buffer:
            if self._strides is not None:
                raise InvalidTensor("strides are for tensors that lie in buffers; leave them out")
            return Shape(data_type=self._data_type, sizes=sizes, strides=packed)
        if self._strides is None:
            raise InvalidTensor("a tensor in a buffer needs strides; call setStrides_")
        made = Shape(data_type=self._data_type, sizes=sizes, strides=self._strides.values)
        self._check_strides(made)
        return made

    def _check_strides(self, shape: Shape) -> None:
        sizes, strides = shape.sizes, shape.strides
        if len(strides) != len(sizes):
            raise InvalidTensor(f"{len(strides)} strides for {len(sizes)} dimensions")
        if strides and strides[0] != 1:
            raise InvalidTensor(f"strides are {strides}; the first must be 1")
        for at in range(1, len(strides)):
            least = strides[at - 1] * sizes[at - 1]
            if strides[at] < least:
                raise InvalidTensor(
                    f"strides are {strides} for dimensions {sizes}; stride {at} must be at least "
                    f"{least}, which is what the dimension before takes"
                )
        if self._usage & MTLTensorUsageMachineLearning and len(strides) > 1:
            row = strides[1] * shape.element.itemsize
            if row % _ROW_ALIGNMENT:
                raise InvalidTensor(
                    f"stride 1 is {row} bytes; for machine learning it must be a multiple of "
                    f"{_ROW_ALIGNMENT}"
                )

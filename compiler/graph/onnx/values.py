"""What tensors of an ONNX graph are on the way to TOSA: integers, and real numbers that they stand
for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue

from ..elements import Array

Scale = NDArray[np.float64]
WITHOUT_LIMITS = (-math.inf, math.inf)


class NotForNpu(Exception):
    """A node that cannot be written as TOSA of integers, with the reason."""


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """Integers of the program.

    `shape` is in ONNX's order, (n, c, ...); with `last`, channels are the last dimension of the
    value itself.
    """

    value: SSAValue
    dtype: str
    shape: tuple[int, ...]
    last: bool = False

    @property
    def stored(self) -> tuple[int, ...]:
        """The shape of the value itself."""
        return _last(self.shape) if self.last else self.shape

    def axis(self, axis: int) -> int:
        """The dimension of the value that is one of ONNX's."""
        axis %= max(len(self.shape), 1)
        if not self.last or axis == 0:
            return axis
        return len(self.shape) - 1 if axis == 1 else axis - 1


def _last(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[0], *shape[2:], shape[1])


@dataclass(frozen=True, kw_only=True)
class Integers:
    """A tensor of integers: those of type `dtype` are the program's, plus `offset`."""

    tensor: Tensor
    dtype: str

    @property
    def offset(self) -> int:
        """What the program's integers lack: it has signed ones only."""
        return OFFSETS.get(self.dtype, 0)


OFFSETS = {"uint8": 128, "uint16": 32768}
SIGNED = {"int8": "int8", "uint8": "int8", "int16": "int16", "uint16": "int16", "int32": "int32"}
"""The program's type for each of ONNX's."""


@dataclass(frozen=True, kw_only=True)
class Real:
    """Real numbers: (integer - zero_point) * scale, within limits that are still to be applied.

    `scale` is one number, or one for each step along `axis`.
    """

    tensor: Tensor
    scale: Scale
    axis: int = 1
    zero_point: int = 0
    limits: tuple[float, float] = WITHOUT_LIMITS

    @property
    def is_even(self) -> bool:
        """Whether all channels have the same scale."""
        return self.scale.size == 1

    @property
    def step(self) -> float:
        """The one scale. Raises NotForNpu."""
        if not self.is_even:
            raise NotForNpu("its channels have different scales here: quantise the tensor before")
        return float(self.scale.reshape(-1)[0])

    def of(self, tensor: Tensor) -> Real:
        """Other numbers that are meant the same way."""
        return replace(self, tensor=tensor)


@dataclass(frozen=True, kw_only=True)
class Mapped:
    """A function of real numbers: `values` for each integer that `x` can have.

    Of int8 all 256; of int16 those at every 128th integer from -32768 to 32768.
    """

    x: Real
    values: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Constant:
    """Elements that are known. Those that are dequantised keep the integers they come from."""

    array: Array
    integers: Array | None = None
    scale: Scale | None = None
    zero_point: int = 0
    axis: int = 0


@dataclass(frozen=True, kw_only=True)
class FloatInput:
    """An input of floats, to be quantised by the caller."""

    name: str


Value = Integers | Real | Mapped | Constant | FloatInput


def sampled(x: Real) -> NDArray[np.float64]:
    """The real numbers that a function of `x` has to be known at."""
    if x.tensor.dtype == "int8":
        integers = np.arange(-128, 128)
    elif x.tensor.dtype == "int16":
        integers = np.arange(-32768, 32769, 128)
    else:
        raise NotForNpu("there is no scale: quantise the tensor that it reads")
    # As ONNX dequantises: steps of a function lie where float32 has them.
    numbers = (integers - x.zero_point).astype(np.float32) * np.float32(x.step)
    return np.clip(numbers.astype(np.float64), *x.limits)

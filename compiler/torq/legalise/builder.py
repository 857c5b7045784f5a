"""What legalising an operator needs: values of its operands, constants, where to put the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from ...graph.elements import LIMITS, NUMPY, Array, dense_of
from ...graph.tosa import ops
from ..hl.moves import Const, View
from ..hl.operation import HlOp
from ..hl.types import Tensor, tensor_of
from ..operators.quantisation import Rescale

DIRECT, GENERAL, HOST = "direct", "general", "host"
"""Ways of an operator to the NPU: a kernel of its own, a composition of others, or not at all."""


class NotForNpu(Exception):
    """An operator that the NPU does not do, with the reason."""


class Builder:
    """Appends TorqHL operations to a block; values of the model become values of TorqHL."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._values: dict[SSAValue, SSAValue] = {}
        self._constants: dict[SSAValue, Array] = {}
        self._op: Operation | None = None
        self._way = ""

    def begin(self, op: Operation, way: str) -> None:
        """What follows stands for this operator of the model."""
        self._op = op
        self._way = way

    def bind(self, old: SSAValue, new: SSAValue) -> None:
        """The value that stands for one of the model's."""
        self._values[old] = new

    def hold(self, old: SSAValue, array: Array) -> None:
        """A constant of the model; it becomes one of TorqHL where it is used as a tensor."""
        self._constants[old] = array

    def is_known(self, old: SSAValue) -> bool:
        """Whether there is something that stands for one of the model's values."""
        return old in self._values or old in self._constants

    def constant(self, old: SSAValue) -> Array | None:
        """The elements of one of the model's values, if it is a constant."""
        return self._constants.get(old)

    def known(self, old: SSAValue, what: str) -> Array:
        """The elements of a value that must be a constant. Raises NotForNpu."""
        found = self._constants.get(old)
        if found is None:
            raise NotForNpu(f"{what} must be a constant, and is computed")
        return found

    def point(self, op: Operation, index: int) -> int:
        """A zero point, which is 0 if there is no such operand, or of floats."""
        if index >= len(op.operands):
            return 0
        found = self.known(op.operands[index], "a zero point")
        return int(found.reshape(-1)[0])

    def value(self, old: SSAValue) -> SSAValue:
        """The value that stands for one of the model's.

        Raises NotForNpu for what an operator makes that is refused itself.
        """
        if old not in self._values and old not in self._constants:
            raise NotForNpu("an operand comes from an operator that is refused")
        if old not in self._values:
            is_tensor = isinstance(old.type, TensorType)
            dtype = ops.dtype(old) if is_tensor else "index"  # a shape
            self._values[old] = self.const(self._constants[old], dtype)
        return self._values[old]

    def const(self, array: Array, dtype: str) -> SSAValue:
        """A constant."""
        return self.emit(
            Const, [], Tensor(dtype=dtype, shape=array.shape), values=dense_of(array, dtype)
        )

    def emit(
        self, what: type[HlOp], operands: Sequence[SSAValue], y: Tensor, /, **fields: Any
    ) -> SSAValue:
        """The result of a new operation."""
        place = None if self._op is None else self._op.location
        way = "" if what in (Const, View) else self._way
        made = what.make(list(operands), y, location=place, way=way, **fields)
        self._block.add_op(made)
        return made.value

    def view(self, x: SSAValue, shape: Sequence[int], dtype: str | None = None) -> SSAValue:
        """The same bytes as another shape; x itself if it has that already."""
        kind = tensor_of(x)
        wanted = kind.like(shape=tuple(shape), dtype=dtype)
        same = (kind.shape, kind.dtype) == (wanted.shape, wanted.dtype)
        return x if same else self.emit(View, [x], wanted)


Legaliser = Callable[[Operation, Builder], SSAValue]
"""Emits what stands for an operator, and gives its result. Raises NotForNpu."""


def result(op: Operation, zero_point: int | None = None) -> Tensor:
    """The type of an operator's result, in rows."""
    value = op.results[0]
    return Tensor(dtype=ops.dtype(value), shape=ops.shape(value), zero_point=zero_point)


def identity(dtype: str) -> Rescale:
    """The scaling that leaves numbers as they are, within the type."""
    low, high = LIMITS[dtype]
    return Rescale(low=low, high=high)


def single(value: int, rank: int, dtype: str) -> Array:
    """One number as a tensor of so many dimensions."""
    return np.full((1,) * rank, value, NUMPY[dtype])

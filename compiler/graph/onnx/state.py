"""What converting a node needs: the values before it, the writer, and what comes behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..elements import LIMITS, Array
from .model import Model, Node
from .values import (
    OFFSETS,
    SIGNED,
    Constant,
    FloatInput,
    Integers,
    Mapped,
    NotForNpu,
    Real,
    Tensor,
    Value,
)
from .writer import Writer

_PASSED = frozenset(
    [
        "Relu",
        "Clip",
        "Identity",
        "Dropout",
        "Reshape",
        "Flatten",
        "Squeeze",
        "Unsqueeze",
        "Transpose",
        "Add",
        "Sub",
        "Slice",
        "Split",
        "Concat",
        "Pad",
        "MaxPool",
        "ReduceMax",
        "Expand",
        "Gather",
        "DepthToSpace",
        "SpaceToDepth",
    ]
)
"""Operators behind which a scale is looked for: they keep numbers in about their range."""
_SPARE_BITS = 8
"""Bits by which sums that wait for their scale are finer than it."""


class Refused(Exception):
    """A value that a node that was refused should have made."""


@dataclass(kw_only=True)
class State:
    """A conversion in progress."""

    model: Model
    writer: Writer
    values: dict[str, Value] = field(default_factory=dict)

    def value(self, name: str) -> Value:
        """A value that is there. Raises Refused."""
        if name not in self.values:
            raise Refused(name)
        return self.values[name]

    def given(self, node: Node, index: int) -> bool:
        """Whether a node has an operand."""
        return index < len(node.inputs) and bool(node.inputs[index])

    def operand(self, node: Node, index: int) -> Value:
        """An operand. Raises NotForNpu, and Refused."""
        if not self.given(node, index):
            raise NotForNpu(f"operand {index} is missing")
        return self.value(node.inputs[index])

    def known(self, node: Node, index: int, what: str) -> Array:
        """The elements of an operand that must be a constant. Raises NotForNpu."""
        found = self.operand(node, index)
        if not isinstance(found, Constant):
            raise NotForNpu(f"{what} must be a constant, and is computed")
        return found.array

    def real(self, node: Node, index: int) -> Real:
        """An operand that stands for real numbers, its limits applied. Raises NotForNpu."""
        return self.as_real(self.operand(node, index))

    def quantised(self, node: Node, index: int) -> Real:
        """Real numbers with one scale, in 8 or 16 bits. Raises NotForNpu."""
        found = self.real(node, index)
        if found.tensor.dtype not in ("int8", "int16"):
            raise NotForNpu(f"{node.inputs[index]} has no scale: quantise it")
        return found

    def as_real(self, value: Value) -> Real:
        """A value as real numbers, its limits applied. Raises NotForNpu."""
        if isinstance(value, Real):
            return self.settled(value)
        if isinstance(value, Constant):
            return self.constant(value)
        raise NotForNpu(reason_of(value))

    def constant(self, value: Constant) -> Real:
        """A constant as real numbers: of the integers that it comes from, else of 16 bits."""
        integers, scale, zero_point = value.integers, value.scale, value.zero_point
        if integers is None or scale is None or scale.size > 1:
            if value.array.dtype.kind != "f":
                raise NotForNpu("integers where real numbers are expected")
            most = float(np.abs(value.array).max(initial=0)) or 1.0
            scale, zero_point = np.asarray(most / 32767), 0
            integers = np.rint(value.array / scale).astype(np.int16)
        dtype = integers.dtype.name
        made = self.writer.const(integers, dtype)
        tensor = Tensor(value=made, dtype=dtype, shape=integers.shape)
        return Real(tensor=tensor, scale=np.asarray(scale, np.float64), zero_point=zero_point)

    def settled(self, x: Real) -> Real:
        """The same numbers with their limits applied."""
        low, high = x.limits
        if (low, high) == (-np.inf, np.inf):
            return x
        if x.tensor.dtype == "int48" or (not x.is_even and (low, high) != (0.0, np.inf)):
            raise NotForNpu("limits of sums that have no scale: quantise the tensor before")
        least, most = LIMITS[x.tensor.dtype]
        scale = float(x.scale.reshape(-1)[0])
        bounds = [
            int(np.clip(np.rint(bound / scale) + x.zero_point, least, most))
            if np.isfinite(bound)
            else edge
            for bound, edge in ((low, least), (high, most))
        ]
        tensor = self.writer.clamp(x.tensor, *bounds)
        return Real(tensor=tensor, scale=x.scale, axis=x.axis, zero_point=x.zero_point)

    def even(self, node: Node, value: Value) -> Value:
        """The value with one scale for all, of at most 32 bits: what is behind says which."""
        if not isinstance(value, Real) or (value.is_even and value.tensor.dtype != "int48"):
            return value
        target = self.scale_behind(node)
        if target is None:
            raise NotForNpu("no scale before it and none behind: quantise the tensor")
        step = target[0] / (1 << _SPARE_BITS)
        tensor = self.writer.rescale(value.tensor, value.scale / step, "int32", axis=value.axis)
        return Real(tensor=tensor, scale=np.asarray(step), limits=value.limits)

    def scale_behind(self, node: Node) -> tuple[float, int, str] | None:
        """(scale, zero point of the program's integers, ONNX's type) of the next quantiser."""
        waiting, seen = [node], {id(node)}
        while waiting:
            for name in waiting.pop(0).outputs:
                for reader in self.model.readers.get(name, ()):
                    if reader.op == "QuantizeLinear":
                        return self._quantiser(reader)
                    if reader.op in _PASSED and id(reader) not in seen:
                        seen.add(id(reader))
                        waiting.append(reader)
        return None

    def _quantiser(self, node: Node) -> tuple[float, int, str] | None:
        try:
            scale = self.known(node, 1, "a scale")
        except (NotForNpu, Refused):
            return None
        point, dtype = zero_point_of(self, node, 2)
        return (float(scale.reshape(-1)[0]), point, dtype) if scale.size == 1 else None


def reason_of(value: Value) -> str:
    """Why a value stands for no real numbers that can be computed with."""
    if isinstance(value, FloatInput):
        return f"input {value.name} is float and not quantised before it"
    if isinstance(value, Mapped):
        return "a function's result has no scale before it: quantise the tensor"
    return "integers where real numbers are expected: dequantise the tensor"


def zero_point_of(state: State, node: Node, index: int) -> tuple[int, str]:
    """(zero point of the program's integers, ONNX's type), uint8 if there is none."""
    if not state.given(node, index):
        return -OFFSETS["uint8"], "uint8"
    points = state.known(node, index, "a zero point")
    dtype = points.dtype.name
    if dtype not in SIGNED:
        raise NotForNpu(f"the NPU does not compute with {dtype}")
    if not points.size:
        raise NotForNpu("its zero point has no elements")
    if np.any(points != points.flat[0]):
        raise NotForNpu("its channels have different zero points")
    return int(points.flat[0]) - OFFSETS.get(dtype, 0), dtype


def moved(value: Value, move: Callable[[Tensor], Tensor]) -> Value:
    """A value whose integers are put elsewhere. Raises NotForNpu."""
    if isinstance(value, Real):
        if value.scale.size > 1:
            raise NotForNpu("its channels have different scales here: quantise the tensor before")
        return value.of(move(value.tensor))
    if isinstance(value, Integers):
        return Integers(tensor=move(value.tensor), dtype=value.dtype)
    if isinstance(value, Mapped):
        return Mapped(x=value.x.of(move(value.x.tensor)), values=value.values)
    raise NotForNpu(reason_of(value))


def tensor_of(value: Value) -> Tensor:
    """The integers of a value. Raises NotForNpu."""
    if isinstance(value, Real | Integers):
        return value.tensor
    if isinstance(value, Mapped):
        return value.x.tensor
    raise NotForNpu(reason_of(value))


def shape_of(value: Value) -> tuple[int, ...]:
    """The shape of a value. Raises NotForNpu."""
    return value.array.shape if isinstance(value, Constant) else tensor_of(value).shape


def attribute(node: Node, name: str, default: Any) -> Any:
    """An attribute of a node."""
    found = node.attributes.get(name)
    return default if found is None else found


Converted = Value | Sequence[Value]
Convert = Callable[[State, Node], Converted]
"""What a node makes. Raises NotForNpu, and Refused."""

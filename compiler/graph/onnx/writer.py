"""Writes TOSA operators on integers into a function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    TensorType,
    UnknownLoc,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.parser import Parser

from ..elements import NUMPY, Array, array_of, dense_of, element_type
from .values import NotForNpu, Tensor

Point = int
_LEAST_SHIFT, _MOST_SHIFT = 2, 62
_WITH_BIAS = ("tosa.conv2d", "tosa.depthwise_conv2d", "tosa.transpose_conv2d")
_ACCUMULATORS = {"int8": "i32", "int16": "i48"}


class Writer:
    """Appends operators to a block; all carry the name that was set last."""

    def __init__(self, context: Context, block: Block) -> None:
        self._context, self._block = context, block
        self._parsed: dict[str, Attribute] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], SSAValue] = {}
        self._turned: dict[tuple[SSAValue, bool], Tensor] = {}
        self.location: LocationAttr = UnknownLoc()

    def name(self, name: str) -> None:
        """What follows makes the tensor of this name."""
        self.location = NameLoc(StringAttr(name), NoneAttr())

    def emit(
        self,
        name: str,
        operands: Sequence[SSAValue],
        dtype: str,
        shape: Sequence[int],
        **properties: str,
    ) -> SSAValue:
        """The result of an operator; properties are in MLIR's text."""
        kind = TensorType(element_type(dtype), list(shape))
        return self._emit(f"tosa.{name}", operands, kind, self._all(properties))

    def _all(self, properties: dict[str, str]) -> dict[str, Attribute]:
        return {key: self._attribute(text) for key, text in properties.items()}

    def _emit(
        self,
        name: str,
        operands: Sequence[SSAValue],
        kind: Attribute,
        properties: dict[str, Attribute],
    ) -> SSAValue:
        made = self._context.get_op(name).create(
            operands=list(operands),
            result_types=[kind],
            properties=properties,
            location=self.location,
        )
        self._block.add_op(made)
        return made.results[0]

    def _attribute(self, text: str) -> Attribute:
        if text not in self._parsed:
            self._parsed[text] = Parser(self._context, text).parse_attribute()
        return self._parsed[text]

    def const(self, array: Array, dtype: str) -> SSAValue:
        """A constant."""
        kept = np.ascontiguousarray(array, NUMPY[dtype])
        key = dtype, kept.shape, kept.tobytes() if kept.size <= 64 else b""
        if kept.size <= 64 and key in self._constants:
            return self._constants[key]
        kind = TensorType(element_type(dtype), kept.shape)
        made = self._emit("tosa.const", [], kind, {"values": dense_of(kept, dtype)})
        if kept.size <= 64:
            self._constants[key] = made
        return made

    def sizes(self, sizes: Sequence[int]) -> SSAValue:
        """A shape, or whatever else is written as one."""
        kind = Parser(self._context, f"!tosa.shape<{len(sizes)}>").parse_type()
        values = dense_of(np.array(sizes, np.int64), "index")
        return self._emit("tosa.const_shape", [], kind, {"values": values})

    def one(self, value: int, dtype: str) -> SSAValue:
        """One number."""
        return self.const(np.array([value]), dtype)

    # Layouts.

    def channels_last(self, x: Tensor) -> Tensor:
        """The same tensor with its channels last."""
        return x if x.last or len(x.shape) < 3 else self._turn(x, last=True)

    def in_order(self, x: Tensor) -> Tensor:
        """The same tensor in ONNX's own order."""
        return self._turn(x, last=False) if x.last else x

    def _turn(self, x: Tensor, *, last: bool) -> Tensor:
        key = x.value, last
        if key not in self._turned:
            rank = len(x.shape)
            order = (0, *range(2, rank), 1) if last else (0, rank - 1, *range(1, rank - 1))
            made = self.transpose(x, order)
            turned = Tensor(value=made, dtype=x.dtype, shape=x.shape, last=last)
            self._turned[key] = turned
            self._turned[turned.value, not last] = x
        return self._turned[key]

    def transpose(self, x: Tensor, order: Sequence[int]) -> SSAValue:
        """The value's own dimensions in another order."""
        perms = f"array<i32: {', '.join(map(str, order))}>"
        shape = [x.stored[axis] for axis in order]
        return self.emit("transpose", [x.value], x.dtype, shape, perms=perms)

    def reshape(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """The elements, in ONNX's order, as another shape."""
        x = self.in_order(x)
        if tuple(shape) == x.shape:
            return x
        made = self.emit("reshape", [x.value, self.sizes(shape)], x.dtype, shape)
        return Tensor(value=made, dtype=x.dtype, shape=tuple(shape))

    def like(
        self, x: Tensor, name: str, others: Sequence[SSAValue] = (), **properties: str
    ) -> Tensor:
        """An operator whose result has the type and shape of its first operand."""
        made = self.emit(name, [x.value, *others], x.dtype, x.stored, **properties)
        return Tensor(value=made, dtype=x.dtype, shape=x.shape, last=x.last)

    # Numbers.

    def rescale(
        self,
        x: Tensor,
        factors: Array | float,
        dtype: str,
        *,
        axis: int = 1,
        input_zp: int = 0,
        output_zp: int = 0,
        from_unsigned: bool = False,
        to_unsigned: bool = False,
    ) -> Tensor:
        """(x - input_zp) times the factor, plus output_zp; several factors lie along `axis`."""
        several = np.asarray(factors, np.float64).reshape(-1)
        channels = several.size > 1
        if channels and x.axis(axis) != len(x.shape) - 1:
            x = self.channels_last(x) if axis == 1 else self.in_order(x)
            if x.axis(axis) != len(x.shape) - 1:
                raise NotForNpu("its scales lie along another axis than channels or columns")
        wide = x.dtype != "int48"
        scales = [fixed(float(factor), 31 if wide else 15) for factor in several]
        multipliers = self.const(np.array([m for m, _ in scales]), "int32" if wide else "int16")
        shifts = self.const(np.array([s for _, s in scales]), "int8")
        made = self.emit(
            "rescale",
            [x.value, multipliers, shifts, self.one(input_zp, x.dtype), self.one(output_zp, dtype)],
            dtype,
            x.stored,
            scale32=_truth(wide),
            rounding_mode="#tosa.rounding_mode<SINGLE_ROUND>",
            per_channel=_truth(channels),
            input_unsigned=_truth(from_unsigned),
            output_unsigned=_truth(to_unsigned),
        )
        return Tensor(value=made, dtype=dtype, shape=x.shape, last=x.last)

    def clamp(self, x: Tensor, low: int, high: int) -> Tensor:
        """Within limits."""
        kind = x.dtype.replace("int", "i")
        return self.like(
            x,
            "clamp",
            min_val=f"{low} : {kind}",
            max_val=f"{high} : {kind}",
            nan_mode="#tosa.nan_mode<PROPAGATE>",
        )

    def binary(
        self,
        name: str,
        a: Tensor,
        b: Tensor,
        others: Sequence[SSAValue] = (),
        **properties: str,
    ) -> Tensor:
        """Two tensors of one type, broadcast as ONNX does."""
        a, b = self.aligned(a, b)
        shape = broadcast(a.shape, b.shape)
        stored = (shape[0], *shape[2:], shape[1]) if a.last else shape
        made = self.emit(name, [a.value, b.value, *others], a.dtype, stored, **properties)
        return Tensor(value=made, dtype=a.dtype, shape=shape, last=a.last)

    def add_to_bias(self, total: SSAValue, added: Array) -> bool:
        """Adds to the bias of the product that made these sums; False if none did, or one that
        others read.
        """
        op = total.owner
        while isinstance(op, UnregisteredOp) and op.op_name.data == "tosa.reshape":
            op = op.operands[0].owner
        if not isinstance(op, UnregisteredOp) or op.op_name.data not in _WITH_BIAS:
            return False
        bias = op.operands[2].owner
        assert isinstance(bias, Operation)
        values = bias.properties["values"]
        assert isinstance(values, DenseIntOrFPElementsAttr)
        old = array_of(values)
        if old.shape != added.shape:
            return False
        kind = bias.results[0].type
        both = dense_of(
            old + added.astype(old.dtype), "int48" if old.dtype == np.int64 else "int32"
        )
        made = self._context.get_op("tosa.const").create(
            result_types=[kind], properties={"values": both}, location=op.location
        )
        self._block.insert_op_before(made, op)
        op.operands[2] = made.results[0]
        return True

    def aligned(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        """Both with as many dimensions, in one order."""
        rank = max(len(a.shape), len(b.shape))
        a, b = (self._ranked(x, rank) for x in (a, b))
        if a.last != b.last:
            a, b = self.channels_last(a), self.channels_last(b)
        return a, b

    def _ranked(self, x: Tensor, rank: int) -> Tensor:
        missing = rank - len(x.shape)
        return self.reshape(x, (1,) * missing + x.shape) if missing else x


def broadcast(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    """The shape of two that broadcast. Raises NotForNpu."""
    try:
        return np.broadcast_shapes(tuple(a), tuple(b))
    except ValueError:
        raise NotForNpu(f"shapes {tuple(a)} and {tuple(b)} do not fit each other") from None


def fixed(factor: float, bits: int) -> tuple[int, int]:
    """(multiplier, shift) of a factor: multiplier * 2**-shift, the multiplier of so many bits."""
    if not factor > 0 or not np.isfinite(factor):
        raise NotForNpu(f"a scale of {factor:g} is none: it must be greater than 0")
    mantissa, exponent = np.frexp(factor)
    multiplier, shift = round(float(mantissa) * (1 << bits)), bits - int(exponent)
    if multiplier == 1 << bits:
        multiplier, shift = multiplier >> 1, shift - 1
    if shift > _MOST_SHIFT:
        multiplier, shift = multiplier >> min(shift - _MOST_SHIFT, 31), _MOST_SHIFT
    if shift < _LEAST_SHIFT:
        raise NotForNpu(f"a scale of {factor:g} is too large for integers")
    return multiplier, shift


def accumulator(dtype: str) -> str:
    """MLIR's name of the type in which products of a type are summed. Raises NotForNpu."""
    if dtype not in _ACCUMULATORS:
        raise NotForNpu("there is no scale: quantise the tensor that it reads")
    return _ACCUMULATORS[dtype]


def _truth(value: bool) -> str:
    return "true" if value else "false"

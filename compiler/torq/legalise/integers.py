"""Integers of any width from operations that saturate: what wraps, widens and is cut."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from ...graph.elements import LIMITS, NUMPY, Array, is_float
from ...graph.meaning.arithmetic import scaled
from ..hl.elementwise import Add, Elementwise, Mul, Scale, Select
from ..hl.moves import Broadcast, Const, Transpose, View
from ..hl.products import MatMul
from ..hl.types import tensor_of
from ..operators.quantisation import Rescale
from .builder import Builder, NotForNpu, identity

Shape = tuple[int, ...]
Item = SSAValue | Array
"""A value of TorqHL, or elements that are known."""
_LIMB = 11
_ROUND_HALF = 0x7FFF
_BITS = {"bool": 1, "int8": 8, "int16": 16, "int32": 32, "bfloat16": 16, "float32": 32}


def bits_of(dtype: str) -> int:
    """The bits of an element."""
    return _BITS[dtype]


class Numbers:
    """Emits operations on values that broadcast to each other."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def tensor(self, item: Item, dtype: str) -> SSAValue:
        """A value; of known elements a constant."""
        return item if isinstance(item, SSAValue) else self.builder.const(item, dtype)

    def combine(self, kind: str, a: Item, b: Item, dtype: str, y: str = "") -> SSAValue:
        """Two values of one type, element by element."""
        operands = [self.tensor(each, dtype) for each in (a, b)]
        return self._emit(Elementwise, operands, y or dtype, kind=kind)

    def _emit(self, what: type, operands: list[SSAValue], dtype: str, **fields: object) -> SSAValue:
        shapes = [tensor_of(value).shape for value in operands]
        y = tensor_of(operands[0]).like(dtype=dtype, shape=np.broadcast_shapes(*shapes))
        return self.builder.emit(what, operands, y, **fields)

    def number(self, value: int, like: SSAValue, dtype: str = "") -> SSAValue:
        """One number, as often as `like` has elements."""
        kind = tensor_of(like)
        dtype = dtype or kind.dtype
        info = np.array(value, np.int64).astype(NUMPY[dtype])
        return self.builder.const(np.broadcast_to(info, (1,) * len(kind.shape)), dtype)

    def seen_as(self, x: SSAValue, dtype: str) -> SSAValue:
        """The same bits as another type of as many."""
        return self.builder.view(x, tensor_of(x).shape, dtype)

    def integers(self, x: SSAValue) -> SSAValue:
        """The bits of floats, and truth values, as integers."""
        kind = tensor_of(x).dtype
        other = {"bool": "int8", "bfloat16": "int16", "float32": "int32"}.get(kind)
        return x if other is None else self.seen_as(x, other)

    def widened(self, x: SSAValue, dtype: str) -> SSAValue:
        """The same numbers in more bits."""
        if tensor_of(x).dtype == dtype:
            return x
        return self._emit(Scale, [x], dtype, rescale=identity(dtype))

    def unsigned(self, x: SSAValue, dtype: str) -> SSAValue:
        """The bits without sign, in more bits."""
        kind = tensor_of(x).dtype
        if kind == "bool":
            return self.widened(self.seen_as(x, "int8"), dtype)
        if kind == "int8":
            return self.widened(self.seen_as(x, "uint8"), dtype)
        wide = self.widened(x, dtype)
        return self.combine("BAND", wide, self.number((1 << bits_of(kind)) - 1, wide), dtype)

    def flipped(self, x: SSAValue) -> SSAValue:
        """The highest bit inverted: so unsigned numbers lie in the order of signed ones."""
        dtype = tensor_of(x).dtype
        return self.combine("BXOR", x, self.number(LIMITS[dtype][0], x), dtype)

    def cut(self, x: SSAValue, dtype: str) -> SSAValue:
        """The low bits, as the type has them."""
        kind = tensor_of(x).dtype
        if kind == dtype:
            return x
        if dtype == "bool":
            lowest = self.combine("BAND", x, self.number(1, x), kind)
            return self.seen_as(self.cut(lowest, "int8"), "bool")
        low, high = self.bounds(x)
        if low < LIMITS[dtype][0] or high > LIMITS[dtype][1]:
            by = self.number(bits_of(kind) - bits_of(dtype), x)
            x = self.combine("ASR", self.combine("LSL", x, by, kind), by, kind)
        return self._emit(Scale, [x], dtype, rescale=identity(dtype))

    def chosen(self, condition: SSAValue, yes: SSAValue, no: SSAValue, shape: Shape) -> SSAValue:
        """One or the other, by their bits."""
        dtype = tensor_of(yes).dtype
        sides = [self.integers(x) for x in (yes, no)]
        y = tensor_of(sides[0]).like(shape=shape)
        return self.seen_as(self.builder.emit(Select, [condition, *sides], y), dtype)

    def wider_float(self, x: SSAValue) -> SSAValue:
        """bfloat16 as float32: its bits, with 16 zeros behind."""
        wide = self.widened(self.integers(x), "int32")
        return self.seen_as(self.combine("LSL", wide, self.number(16, wide), "int32"), "float32")

    def shorter_float(self, x: SSAValue) -> SSAValue:
        """float32 as bfloat16, rounded to the nearest even in integers; a NaN remains one."""
        bits = self.integers(x)
        high = self.combine("ASR", bits, self.number(16, bits), "int32")
        odd = self.combine("BAND", high, self.number(1, bits), "int32")
        half = self.combine("ADD", odd, self.number(_ROUND_HALF, bits), "int32")
        rounded = self.combine("ADD", bits, half, "int32")
        made = self.combine("ASR", rounded, self.number(16, bits), "int32")
        return self.seen_as(self.widened(made, "int16"), "bfloat16")

    def add(self, a: SSAValue, b: SSAValue, sign: int = 1) -> SSAValue:
        """The sum, or the difference, in as many bits as the operands have."""
        dtype = tensor_of(a).dtype
        if dtype != "int32":
            wide = self._emit(Add, [a, b], "int32", weights_ab=(1, sign), rescale=identity("int32"))
            return self.cut(wide, dtype)
        (low, high), (other_low, other_high) = self.bounds(a), self.bounds(b)
        if sign < 0:
            other_low, other_high = -other_high, -other_low
        kind = "ADD" if sign > 0 else "SUB"
        if low + other_low >= LIMITS[dtype][0] and high + other_high <= LIMITS[dtype][1]:
            return self.combine(kind, a, b, dtype)
        lows = self.combine(kind, self._low(a), self._low(b), dtype)
        highs = self.combine(kind, self._high(a), self._high(b), dtype)
        carried = self.combine("ADD", highs, self._high(lows), dtype)
        top = self.combine("LSL", carried, self.number(16, carried), dtype)
        return self.combine("BOR", top, self._low(lows), dtype)

    def _low(self, x: SSAValue) -> SSAValue:
        return self.combine("BAND", x, self.number(0xFFFF, x), "int32")

    def _high(self, x: SSAValue) -> SSAValue:
        return self.combine("ASR", x, self.number(16, x), "int32")

    def multiply(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The product, in as many bits as the operands have."""
        dtype = tensor_of(a).dtype
        if dtype != "int32":
            return self.cut(self._emit(Mul, [a, b], "int32"), dtype)
        short = LIMITS["int16"]
        if all(low >= short[0] and high <= short[1] for low, high in map(self.bounds, (a, b))):
            return self._emit(Mul, [self._short(a), self._short(b)], "int32")
        x, y = self._limbs(a), self._limbs(b)
        total: SSAValue | None = None
        for i in range(3):
            for j in range(3 - i):
                part = self._emit(Mul, [x[i], y[j]], "int32")
                if i + j:
                    by = self.number(_LIMB * (i + j), part)
                    part = self.combine("LSL", part, by, "int32")
                total = part if total is None else self.add(total, part)
        assert total is not None
        return total

    def _limbs(self, x: SSAValue) -> list[SSAValue]:
        """Bits 0 to 10, 11 to 21, and what is above, as int16."""
        found = []
        for place in range(3):
            part = x
            if place:
                part = self.combine("ASR", x, self.number(_LIMB * place, x), "int32")
            if place < 2:
                part = self.combine("BAND", part, self.number((1 << _LIMB) - 1, x), "int32")
            found.append(self._short(part))
        return found

    def _short(self, x: SSAValue) -> SSAValue:
        return self._emit(Scale, [x], "int16", rescale=identity("int16"))

    def bounds(self, x: SSAValue) -> tuple[int, int]:
        """Least and largest value that can be there."""
        return bounds(x)


def bounds(x: SSAValue) -> tuple[int, int]:
    """Least and largest value that an integer of TorqHL can have. Raises NotForNpu for floats."""
    dtype = tensor_of(x).dtype
    if is_float(dtype):
        raise NotForNpu(f"{dtype} where integers are needed")
    low, high = LIMITS[dtype]
    found = _known(x)
    return (low, high) if found is None else (max(low, found[0]), min(high, found[1]))


def _known(x: SSAValue) -> tuple[int, int] | None:
    op = x.owner
    if isinstance(op, Const):
        return int(op.array.min()), int(op.array.max())
    if isinstance(op, Transpose | Broadcast):
        return bounds(op.operands[0])
    if isinstance(op, View):
        source = tensor_of(op.x).dtype
        return bounds(op.x) if source in (tensor_of(x).dtype, "bool") else None
    if isinstance(op, MatMul) and op.field("rescale") is None:
        depth = tensor_of(op.a).shape[2]
        most = depth * _largest(op.a) * _largest(op.b)
        return -most, most
    if isinstance(op, Mul) and op.field("rescale") is None:
        most = _largest(op.a) * _largest(op.b)
        return -most, most
    if isinstance(op, Scale):
        return _scaled(bounds(op.x), op.field("input_zp"), op.field("rescale"))
    return _combined(op) if isinstance(op, Elementwise) else None


def _scaled(limits: tuple[int, int], zero: int, scaling: Rescale) -> tuple[int, int]:
    """What a scaling makes of the least and the largest value: it keeps their order."""
    made = scaled(
        np.array(limits)[:, None],
        np.array(scaling.multipliers),
        np.array(scaling.shifts),
        input_zp=zero,
        output_zp=scaling.zero_point,
        dtype="int48",
        double_round=scaling.double_round,
        limits=(scaling.low, scaling.high),
    )
    return int(made.min()), int(made.max())


def _combined(op: Elementwise) -> tuple[int, int] | None:
    kind = op.field("kind")
    if kind not in ("ADD", "SUB", "MAX", "MIN", "BAND", "ASR"):
        return None
    (low, high), (other_low, other_high) = bounds(op.a), bounds(op.b)
    if kind == "ADD":
        return low + other_low, high + other_high
    if kind == "SUB":
        return low - other_high, high - other_low
    if kind == "MAX":
        return max(low, other_low), max(high, other_high)
    if kind == "MIN":
        return min(low, other_low), min(high, other_high)
    if kind == "BAND":
        known = [most for least, most in ((low, high), (other_low, other_high)) if least >= 0]
        return (0, min(known)) if known else None
    if other_low == other_high:
        return low >> other_low, high >> other_low
    return None


def _largest(x: SSAValue) -> int:
    low, high = bounds(x)
    return max(abs(low), abs(high))

"""Literals of LLVM IR as engine constants and as bytes in memory."""

from __future__ import annotations

import struct
from collections.abc import Callable

import ml_dtypes
import numpy as np

from ..ir.llvm_types import (
    Array,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    bits,
    field_offset,
    is_float,
    size_of,
)
from ..ir.nodes import Constant, integer, zero
from .llvm_records import Operand

_WORDS = {"true": 1, "false": 0}
_EMPTY = ("undef", "poison", "zeroinitializer", "null", "none")


def constant_leaf(kind: Scalar, text: str) -> Constant:
    """A scalar literal. What is undefined becomes zero, so that runs repeat."""
    if text in _EMPTY:
        return zero(kind.name)
    if is_float(kind.name):
        return Constant(kind.name, text, None)
    return integer(kind.name, _WORDS[text] if text in _WORDS else int(text))


def float_value(constant: Constant) -> float:
    """The number that a floating-point literal stands for."""
    text = constant.literal
    if text.startswith("0xH"):
        return float(np.frombuffer(struct.pack("<H", int(text[3:], 16)), np.float16)[0])
    if text.startswith("0xR"):
        raw = np.frombuffer(struct.pack("<H", int(text[3:], 16)), ml_dtypes.bfloat16)
        return float(raw[0])
    if text.startswith(("0x", "f0x")):
        (value,) = struct.unpack("<d", struct.pack("<Q", int(text.removeprefix("f"), 16)))
        return float(value)
    return float(text)


def scalar_bytes(constant: Constant) -> bytes:
    """A constant as it lies in memory."""
    if constant.type == "half":
        return np.float16(float_value(constant)).tobytes()
    if constant.type == "bfloat":
        return np.array(float_value(constant), ml_dtypes.bfloat16).tobytes()
    if constant.type == "float":
        return np.float32(float_value(constant)).tobytes()
    if constant.type == "double":
        return np.float64(float_value(constant)).tobytes()
    assert constant.number is not None
    return constant.number.to_bytes(size_of(Scalar(constant.type)), "little")


def initial_data(kind: Type, value: Operand, place: Callable[[Operand], int]) -> bytes:
    """The bytes of a global variable's initialiser.

    Args:
        kind: the variable's type.
        value: its initialiser.
        place: the address that a pointer in it stands for.
    """
    data = bytearray(size_of(kind))
    _fill(data, 0, kind, value, place)
    return bytes(data)


def _fill(
    data: bytearray, at: int, kind: Type, value: Operand, place: Callable[[Operand], int]
) -> None:
    if value.text in _EMPTY:
        return
    if not isinstance(kind, Scalar | Pointer) and value.text != "aggregate":
        raise ValueError(f"cannot place the constant {value.text:.40} in memory")
    match kind:
        case Scalar():
            raw = scalar_bytes(constant_leaf(kind, value.text))
            data[at : at + len(raw)] = raw
        case Struct(fields):
            for number, (each, part) in enumerate(zip(fields, value.parts, strict=True)):
                _fill(data, at + field_offset(kind, number), each, part, place)
        case Array(_, element) | Vector(_, element):
            step = bits(element.name) // 8 if isinstance(element, Scalar) else size_of(element)
            for number, part in enumerate(value.parts):
                _fill(data, at + number * max(step, 1), element, part, place)
        case Pointer():
            data[at : at + 8] = place(value).to_bytes(8, "little")
        case _:
            raise ValueError(f"cannot place {kind} in memory")

"""Kinds of numbers that an operation of the machine exists for: `u32` of `simd_min_u32`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A kind of number: `type` is what the IR calls it, which says nothing of signs."""

    name: str
    type: str
    is_signed: bool
    is_float: bool = False

    def __str__(self) -> str:
        return self.name


I16 = Number(name="i16", type="i16", is_signed=True)
I32 = Number(name="i32", type="i32", is_signed=True)
U32 = Number(name="u32", type="i32", is_signed=False)
I64 = Number(name="i64", type="i64", is_signed=True)
U64 = Number(name="u64", type="i64", is_signed=False)
F32 = Number(name="f32", type="float", is_signed=True, is_float=True)

INTEGERS = (I32, U32, I64, U64)

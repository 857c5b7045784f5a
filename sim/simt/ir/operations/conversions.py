"""From one type to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..llvm_types import bits
from ..meaning import ieee
from ..meaning.scalars import signed
from .operation import OfOperands, Operation, Origin, Types, Uninitialised, Width


def _row(
    name: str,
    types: str,
    compute: Callable[[int, str, str], int],
    *,
    width: Width | None = None,
    uninitialised: Uninitialised = Uninitialised.SPREADS,
    makes_nan: bool = False,
) -> Operation:
    """A conversion whose meaning is a function of bits, the type that they have, and the other."""

    def meaning(types: Types, operands: Sequence[int]) -> int:
        return compute(operands[0], types.source, types.result)

    return Operation(
        name=name,
        origin=Origin.INTRINSIC if name.startswith("llvm.") else Origin.INSTRUCTION,
        types=types,
        meaning=OfOperands(meaning),
        width=width,
        uninitialised=uninitialised,
        makes_nan=makes_nan,
    )


def _truncate(value: int, source: str, result: str) -> int:
    return value & ((1 << bits(result)) - 1)


def _sign_extend(value: int, source: str, result: str) -> int:
    return signed(value, bits(source)) & ((1 << bits(result)) - 1)


def _resize(value: int, source: str, result: str) -> int:
    return ieee.encode(ieee.decode(value, source), result)


def _to_signed(value: int, source: str, result: str) -> int:
    return ieee.to_integer(value, source, bits(result), signed=True)


def _to_unsigned(value: int, source: str, result: str) -> int:
    return ieee.to_integer(value, source, bits(result), signed=False)


def _from_signed(value: int, source: str, result: str) -> int:
    return ieee.from_integer(signed(value, bits(source)), result)


def _same(value: int, source: str, result: str) -> int:
    return value


_PARTS = Uninitialised.IN_PARTS
TRUNC = _row("trunc", "I -> J", _truncate, width=Width.LESS, uninitialised=_PARTS)
ZEXT = _row("zext", "I -> J", _same, width=Width.MORE, uninitialised=_PARTS)
SEXT = _row("sext", "I -> J", _sign_extend, width=Width.MORE)
FPTRUNC = _row("fptrunc", "F -> G", _resize, width=Width.LESS, makes_nan=True)
FPEXT = _row("fpext", "F -> G", _resize, width=Width.MORE)
FPTOSI = _row("fptosi", "F -> I", _to_signed)
FPTOUI = _row("fptoui", "F -> I", _to_unsigned)
SITOFP = _row("sitofp", "I -> F", _from_signed, makes_nan=True)
UITOFP = _row("uitofp", "I -> F", lambda v, _, result: ieee.from_integer(v, result), makes_nan=True)
BITCAST = _row("bitcast", "T -> U", _same, width=Width.SAME)

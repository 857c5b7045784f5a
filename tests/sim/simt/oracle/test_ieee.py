"""The reference engine's floats, against NumPy and against rationals."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.sim.simt.ir.meaning import ieee as floats
from assay.sim.simt.ir.operations.floats import (
    CEIL,
    FADD,
    FDIV,
    FLOOR,
    FMUL,
    FSUB,
    FTRUNC,
    RINT,
    ROUND,
    ROUNDEVEN,
)
from assay.sim.simt.ir.operations.operation import OfOperands, Operation, Types

_DTYPES = {"half": np.float16, "bfloat": ml_dtypes.bfloat16, "float": np.float32}
_BITS = {"half": np.uint16, "bfloat": np.uint16, "float": np.uint32}
_OPS = {FADD: np.add, FSUB: np.subtract, FMUL: np.multiply, FDIV: np.divide}
_types = st.sampled_from(sorted(_DTYPES))


def _as_bits(value: np.generic, type_: str) -> int:
    return int(np.array(value).view(_BITS[type_]))


def _as_number(bits: int, type_: str) -> np.generic:
    return np.array([bits & (1 << floats.FORMATS[type_].width) - 1], _BITS[type_]).view(
        _DTYPES[type_]
    )[0]


@given(type_=_types, op=st.sampled_from(list(_OPS)), left=st.integers(0), right=st.integers(0))
def test_arithmetic_equals_numpy(type_: str, op: Operation, left: int, right: int) -> None:
    mask = (1 << floats.FORMATS[type_].width) - 1
    left, right = left & mask, right & mask
    with np.errstate(all="ignore"):
        expected = _OPS[op](_as_number(left, type_), _as_number(right, type_))
    assert isinstance(op.meaning, OfOperands)
    result = op.meaning.compute(Types(type_, type_), (left, right))
    if np.isnan(expected):
        assert result == floats.FORMATS[type_].nan
    else:
        assert result == _as_bits(expected, type_)


@given(type_=_types, value=st.floats(width=64))
def test_encoding_a_double_rounds_to_the_nearest(type_: str, value: float) -> None:
    bits = floats.encode(value, type_)
    if math.isnan(value):
        assert floats.is_nan(bits, type_)
    elif type_ == "bfloat" or math.isinf(value):
        back = floats.decode(bits, type_)
        for neighbour in (bits - 1, bits + 1):
            other = floats.decode(
                neighbour & 0xFFFF_FFFF % (1 << floats.FORMATS[type_].width), type_
            )
            if math.isfinite(other) and math.isfinite(back) and math.isfinite(value):
                exact = Fraction(value)
                assert abs(Fraction(back) - exact) <= abs(Fraction(other) - exact)
    else:
        with np.errstate(all="ignore"):
            assert bits == _as_bits(_DTYPES[type_](value), type_)


@given(type_=st.sampled_from(sorted(floats.FORMATS)), bits=st.integers(0, 2**64 - 1))
def test_decoding_and_encoding_are_inverse(type_: str, bits: int) -> None:
    layout = floats.FORMATS[type_]
    bits &= (1 << layout.width) - 1
    if not floats.is_nan(bits, type_):
        assert floats.encode(floats.decode(bits, type_), type_) == bits


def test_fma_rounds_once_where_arithmetic_in_double_rounds_twice() -> None:
    a, b, c = (float.fromhex(x) for x in ("0x1.000002p+0", "0x1.fffffcp-25", "0x1.000002p+0"))
    bits = [floats.encode(x, "float") for x in (a, b, c)]
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    result = Fraction(floats.decode(floats.fma(*bits, "float"), "float"))
    twice = Fraction(float(np.float32(a * b + c)))
    assert abs(result - exact) < abs(twice - exact)


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ((0.0, -1.0, -0.0), -0.0),
        ((1.0, -1.0, 1.0), 0.0),
        ((math.inf, 0.0, 1.0), math.nan),
        ((math.inf, 1.0, -math.inf), math.nan),
        ((1e38, 1e38, -math.inf), -math.inf),
        ((1.0, 2.0, math.nan), math.nan),
    ],
)
def test_fma_of_zeros_and_infinities(operands: tuple[float, float, float], expected: float) -> None:
    bits = [floats.encode(x, "float") for x in operands]
    assert floats.fma(*bits, "float") == floats.encode(expected, "float")


@pytest.mark.parametrize(
    ("rounding", "value", "expected"),
    [
        (FLOOR, -0.5, -1.0),
        (CEIL, -0.5, -0.0),
        (FTRUNC, -1.9, -1.0),
        (RINT, 2.5, 2.0),
        (ROUND, 2.5, 3.0),
        (ROUND, -0.5, -1.0),
        (ROUND, 0.49999997, 0.0),
        (ROUNDEVEN, 3.5, 4.0),
        (FLOOR, math.inf, math.inf),
    ],
)
def test_rounding_to_whole_numbers(rounding: Operation, value: float, expected: float) -> None:
    assert isinstance(rounding.meaning, OfOperands)
    bits = floats.encode(value, "float")
    result = rounding.meaning.compute(Types("float", "float"), [bits])
    assert result == floats.encode(expected, "float")


def test_numbers_win_over_nan_in_minnum_and_lose_in_minimum() -> None:
    one, nan = floats.encode(1.0, "float"), floats.FORMATS["float"].nan
    assert floats.choose((nan, one), "float", smallest=True, nan_wins=False) == one
    assert floats.choose((one, nan), "float", smallest=False, nan_wins=True) == nan


def test_conversion_to_integers_saturates() -> None:
    def convert(value: float, *, signed: bool) -> int:
        return floats.to_integer(floats.encode(value, "float"), "float", 8, signed=signed)

    assert convert(300.0, signed=False) == 255
    assert convert(-300.0, signed=True) == 0x80
    assert convert(-1.0, signed=False) == 0
    assert convert(math.nan, signed=True) == 0
    assert convert(-1.9, signed=True) == 0xFF

"""What MLX's kernels of one element at a time compute, by NumPy and PyTorch on the CPU.

Floats are compared with what double precision gives of the same inputs, rounded once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

Array = np.ndarray[Any, np.dtype[Any]]
_DTYPES = {
    "bool_": np.dtype(np.bool_),
    "float16": np.dtype(np.float16),
    "float32": np.dtype(np.float32),
    "bfloat16": np.dtype(np.uint16),  # its bits
    "complex64": np.dtype(np.complex64),
    **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16)},
    **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (32, 64)},
}
_STEPS = {"float16": 2.0**-10, "float32": 2.0**-23, "bfloat16": 2.0**-7, "complex64": 2.0**-23}
_TYPE = "|".join(sorted(_DTYPES, key=len, reverse=True))
_UNARY = re.compile(rf"v_([A-Z]\w*?)({_TYPE})({_TYPE})")
_COPY = re.compile(rf"([vs])_copy({_TYPE})({_TYPE})")
_BINARY = re.compile(rf"(vv|vs|sv|ss)_([A-Z]\w*?)({_TYPE})")
_COMPARISONS = re.compile("(Not)?Equal|NaNEqual|Greater(Equal)?|Less(Equal)?|Logical(And|Or)")


def _by_torch(of: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Array], Array]:
    return lambda x: np.asarray(of(torch.from_numpy(x)))


UNARY: Mapping[str, Callable[[Array], Array]] = {
    "Abs": np.abs,
    "ArcCos": np.arccos,
    "ArcCosh": np.arccosh,
    "ArcSin": np.arcsin,
    "ArcSinh": np.arcsinh,
    "ArcTan": np.arctan,
    "ArcTanh": np.arctanh,
    "BitwiseInvert": np.invert,
    "Ceil": np.ceil,
    "Conjugate": np.conj,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Erf": _by_torch(torch.erf),
    "ErfInv": _by_torch(torch.erfinv),
    "Exp": np.exp,
    "Expm1": np.expm1,
    "Floor": np.floor,
    "Imag": np.imag,
    "Log": np.log,
    "Log10": np.log10,
    "Log1p": np.log1p,
    "Log2": np.log2,
    "LogicalNot": np.logical_not,
    "Negative": np.negative,
    "Real": np.real,
    "Round": np.rint,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Sign": np.sign,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Sqrt": np.sqrt,
    "Square": np.square,
    "Tan": np.tan,
    "Tanh": np.tanh,
}
BINARY: Mapping[str, Callable[[Array, Array], Array]] = {
    "Add": np.add,
    "ArcTan2": np.arctan2,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "Divide": np.divide,
    "Equal": np.equal,
    "FloorDivide": np.floor_divide,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "LeftShift": np.left_shift,
    "Less": np.less,
    "LessEqual": np.less_equal,
    "LogAddExp": np.logaddexp,
    "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Multiply": np.multiply,
    "NaNEqual": np.equal,
    "NotEqual": np.not_equal,
    "Power": np.power,
    "Remainder": np.remainder,
    "RightShift": np.right_shift,
    "Subtract": np.subtract,
}
# Where MLX's own code computes coarsely, by how many steps it may be off: `expm1f.h` takes off
# multiples of 0.693145752 for ln 2, which is 1.4e-6 more; the inverse functions of complex numbers
# are logarithms of `z + sqrt(1 - z * z)` and the like, which cancel.
_COARSE = {"Expm1": 128.0, "ArcSin": 1024.0, "ArcCos": 1024.0, "ArcTan": 1024.0}
_OF_INTEGERS = {"Ceil", "Floor", "Round"}  # which change nothing


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel with its inputs, the type of its output and what that should hold, in full width.

    `steps` of the output's type is what a float may be off, where MLX's own code says how much.
    """

    inputs: tuple[Array, ...]
    output: str
    expected: Array
    steps: float = 0.0


def case_of(name: str, count: int) -> Case | None:
    """A kernel's case of `count` elements; None for a kernel that nothing is known of here."""
    draw = np.random.default_rng(sum(name.encode()))
    with np.errstate(all="ignore"):
        if found := _COPY.fullmatch(name):
            side, kind, output = found.groups()
            stored, wide = _drawn(draw, kind, count if side == "v" else 1, positive=True)
            return Case((stored,), output, _copied(np.broadcast_to(wide, count), output))
        if (found := _UNARY.fullmatch(name)) and found[1] in UNARY:
            if found[2] == "bool_" and found[1] != "LogicalNot":
                return None
            stored, wide = _drawn(draw, found[2], count)
            if found[1] in _OF_INTEGERS and wide.dtype.kind in "iub":
                return Case((stored,), found[3], wide)
            coarse = found[1] == "Expm1" or found[2] == "complex64"
            steps = _COARSE.get(found[1], 0.0) if coarse else 0.0
            return Case((stored,), found[3], UNARY[found[1]](wide), steps)
        if (found := _BINARY.fullmatch(name)) and _is_known(found[2], found[3]):
            return _binary(found[1], found[2], found[3], draw, count)
    return None


def _is_known(operation: str, kind: str) -> bool:
    """Whether NumPy means the same: not by division of truths and complex numbers."""
    if operation not in BINARY:
        return False
    if kind == "bool_":
        return operation not in ("Subtract", "Divide", "FloorDivide", "Remainder", "Power")
    if kind == "complex64":
        return operation not in ("FloorDivide", "Remainder", "LogAddExp", "Power")
    return operation != "Divide" or kind in _STEPS


def _binary(sides: str, operation: str, kind: str, draw: np.random.Generator, count: int) -> Case:
    lengths = [count if side == "v" else 1 for side in sides]
    shifts, powers = operation.endswith("Shift"), operation == "Power"
    first, x = _drawn(draw, kind, lengths[0], positive=powers, most=3 if powers else 100)
    second, y = _drawn(
        draw,
        kind,
        lengths[1],
        positive=shifts or powers,
        most=4 if powers else _DTYPES[kind].itemsize * 8 - 1 if shifts else 100,
        nonzero=operation in ("FloorDivide", "Remainder"),
    )
    output = "bool_" if _COMPARISONS.fullmatch(operation) else kind
    if operation == "FloorDivide" and kind in _STEPS:  # of a quotient that was rounded already
        return Case((first, second), kind, np.floor(_rounded(np.broadcast_to(x / y, count), kind)))
    expected = np.broadcast_to(BINARY[operation](x, y), count)
    return Case((first, second), output, expected)


def _drawn(
    draw: np.random.Generator,
    kind: str,
    count: int,
    *,
    positive: bool = False,
    most: int = 100,
    nonzero: bool = False,
) -> tuple[Array, Array]:
    """Numbers as a kernel finds them, and the same in the widest type of theirs."""
    dtype = _DTYPES[kind]
    if kind == "complex64":
        parts = draw.standard_normal((2, count)).astype(np.float32)
        parts = np.abs(parts) if positive else parts
        stored = (parts[0] + 1j * parts[1]).astype(np.complex64)
        return stored, stored.astype(np.complex128)
    if kind in _STEPS:
        drawn = draw.standard_normal(count).astype(np.float32) * 2
        drawn = np.abs(drawn) if positive else drawn
        if kind == "bfloat16":
            bits = (drawn.view(np.uint32) >> 16).astype(np.uint16)
            return bits, narrowed(bits, kind)
        stored = drawn.astype(dtype)
        return stored, stored.astype(np.float64)
    if kind == "bool_":
        stored = draw.integers(0, 2, count).astype(dtype)
        return stored, stored
    least = 0 if positive or dtype.kind == "u" else -most
    stored = draw.integers(least, most + 1, count).astype(dtype)
    if nonzero:
        stored = np.where(stored == 0, dtype.type(3), stored)
    return stored, stored


def _copied(wide: Array, output: str) -> Array:
    if output == "bool_":
        return wide != 0
    real = wide.real if wide.dtype.kind == "c" and output != "complex64" else wide
    return real if output in _STEPS else np.trunc(real.astype(np.float64)).astype(_DTYPES[output])


def _rounded(wide: Array, kind: str) -> Array:
    """Numbers of full width, as a type has them."""
    if kind != "bfloat16":
        return wide.astype(_DTYPES[kind]).astype(np.float64)
    bits = wide.astype(np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return narrowed(bits.astype(np.uint16), kind)


def narrowed(stored: Array, kind: str) -> Array:
    """What is stored as numbers of full width."""
    if kind == "bfloat16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return stored.astype({"f": np.float64, "c": np.complex128}.get(stored.dtype.kind, stored.dtype))


def empty(kind: str, count: int) -> Array:
    """Room for so many elements of a type."""
    return np.zeros(count, _DTYPES[kind])


def agrees(found: Array, case: Case, steps: float) -> bool:
    """Whether all elements are equal; floats within so many steps of their type."""
    given = narrowed(found, case.output)
    if case.output not in _STEPS:
        with np.errstate(all="ignore"):
            return bool(np.array_equal(given, case.expected.astype(given.dtype)))
    step, steps = _STEPS[case.output], max(steps, case.steps)
    expected = case.expected.astype(np.result_type(case.expected, np.float64))
    if case.output != "complex64":
        with np.errstate(all="ignore"):  # what is too large for the type is infinite there
            top = 65504.0 if case.output == "float16" else float(np.finfo(np.float32).max)
            expected = np.where(np.abs(expected) > top, np.sign(expected) * np.inf, expected)
    return bool(np.allclose(given, expected, rtol=steps * step, atol=steps * step, equal_nan=True))

"""How far two results are apart: absolutely, relatively, and in units in the last place."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .elements import FLOAT_BITS, Array, Value, element_name, is_float, type_text

RELATIVE = 2e-4
"""Relative tolerance for f32. IREE's Metal and CPU code generators pick different polynomials for
exp, tanh and the like, contract differently to fma and sum in another order; 2e-4 covers that."""
ABSOLUTE = 2e-5
"""Absolute tolerance for f32: errors of results that cancel to near zero."""
WIDER = {"f16": 64.0, "bf16": 256.0, "f8E4M3FN": 1024.0, "f8E5M2": 1024.0, "f64": 1.0}
"""By what the f32 tolerances are multiplied for types with fewer bits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tolerance:
    """What counts as equal: |got - expected| <= absolute + relative * |expected|."""

    relative: float = RELATIVE
    absolute: float = ABSOLUTE
    widen: bool = True
    """Whether types narrower than f32 get a tolerance that is wider in proportion."""
    steps: int = 0
    """How far apart integers may be: steps of quantisation."""

    def of(self, element: str) -> tuple[float, float]:
        """The (relative, absolute) tolerance for an element type."""
        factor = WIDER.get(element, 1.0) if self.widen else 1.0
        return self.relative * factor, self.absolute * factor


EXACT = Tolerance(relative=0.0, absolute=0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Mismatch:
    """The first element that is out of tolerance."""

    index: tuple[int, ...]
    got: Any
    expected: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """One pair of results compared."""

    type: str
    equal: bool
    """Whether every element is within tolerance."""
    elements: int
    bad: int
    """How many elements are out of tolerance."""
    max_absolute: float
    max_relative: float
    max_ulp: int
    """Largest distance in representable values of the type; for integers the difference."""
    first_bad: Mismatch | None
    problem: str = ""
    """Why the two cannot be compared at all: different types or shapes."""


def compare(got: Value, expected: Value, tolerance: Tolerance | None = None) -> Comparison:
    """Compares a result with its reference; NaN equals NaN, infinities must be the same.

    Booleans must be equal whatever the tolerance, and so must integers but for its steps.
    """
    left, right = np.asarray(got), np.asarray(expected)
    if left.dtype != right.dtype or left.shape != right.shape:
        return Comparison(
            type=type_text(got),
            equal=False,
            elements=left.size,
            bad=left.size,
            max_absolute=float("inf"),
            max_relative=float("inf"),
            max_ulp=0,
            first_bad=None,
            problem=f"got {type_text(got)}, the reference is {type_text(expected)}",
        )
    return _compare(got, left, right, tolerance or Tolerance())


def _compare(got: Value, left: Array, right: Array, tolerance: Tolerance) -> Comparison:
    if is_float(left.dtype) or left.dtype.kind == "c":
        absolute, relative, bad = _float_errors(left, right, tolerance)
        ulp = (
            ulp_distances(left, right) if left.dtype.kind != "c" else np.zeros(left.shape, np.int64)
        )
    else:
        difference = np.asarray(np.abs(left.astype(object) - right.astype(object)))
        allowed = tolerance.steps if left.dtype.kind in "iu" else 0
        bad = np.asarray(difference > allowed)
        absolute = difference.astype(np.float64)
        scale = np.maximum(np.abs(right.astype(np.float64)), 1)
        relative, ulp = absolute / scale, difference
    first = np.unravel_index(int(np.argmax(bad)), bad.shape) if bad.any() else None
    return Comparison(
        type=type_text(got),
        equal=not bad.any(),
        elements=left.size,
        bad=int(np.count_nonzero(bad)),
        max_absolute=_largest(absolute),
        max_relative=_largest(relative),
        max_ulp=int(ulp.max()) if ulp.size else 0,
        first_bad=None
        if first is None
        else Mismatch(
            index=tuple(int(i) for i in first), got=left[first].item(), expected=right[first].item()
        ),
    )


def _float_errors(left: Array, right: Array, tolerance: Tolerance) -> tuple[Array, Array, Array]:
    """Absolute and relative errors, and where they are out of tolerance."""
    wide = np.complex128 if left.dtype.kind == "c" else np.float64
    a, b = left.astype(wide), right.astype(wide)
    both_nan = np.isnan(a) & np.isnan(b)
    same = both_nan | (a == b)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        absolute = np.where(same, 0.0, np.abs(a - b))
        absolute = np.where(np.isnan(absolute), np.inf, absolute)
        scale = np.abs(np.where(same, 1.0, b))
        relative = np.where(same, 0.0, absolute / np.maximum(scale, np.finfo(np.float64).tiny))
        limit_relative, limit_absolute = tolerance.of(element_name(left.dtype))
        limit = limit_absolute + limit_relative * scale
        bad = ~same & ~((absolute <= limit) & np.isfinite(limit))
    return np.asarray(absolute), np.asarray(relative), np.asarray(bad)


def ulp_distances(left: Array, right: Array) -> Array:
    """Distance in steps of the type, NaN counted as equal to NaN."""
    a, b = _ordered(left), _ordered(right)
    distance = np.where(a > b, a - b, b - a)
    nan = np.isnan(left.astype(np.float64)) & np.isnan(right.astype(np.float64))
    return np.where(nan, 0, distance)


def _ordered(array: Array) -> Array:
    """Floats as unsigned integers in the same order, consecutive values consecutive."""
    unsigned = FLOAT_BITS[element_name(array.dtype)]
    bits = np.ascontiguousarray(array).reshape(array.shape).view(unsigned).astype(np.uint64)
    sign = np.uint64(1 << (array.dtype.itemsize * 8 - 1))
    return np.where(bits & sign, sign - (bits & (sign - np.uint64(1))), bits + sign)


def _largest(values: Array) -> float:
    return float(values.max()) if values.size else 0.0

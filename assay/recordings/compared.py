"""What a buffer holds after a replay beside what was recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compare import ulp_distances
from ..elements import FLOAT_BITS, Array, element_name, is_float
from .tolerances import Limits

Data = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A buffer or texture with other bits than were recorded.

    Attributes:
        buffer: the kernel's argument, or the buffer's label.
        type: of its elements, as NumPy has them.
        elements: how many it has.
        different: how many have other bits; NaN of any bits are equal.
        bad: how many are out of tolerance.
        max_ulp: largest distance of floats in representable values, of integers in value.
        max_absolute: largest difference in value.
        index: of the first element that is out of tolerance, or else different.
        byte: where it begins in the buffer.
        here, recorded: its values.
        texel: where that is, of a texture: "texel (3, 1), level 0"; "" of a buffer.
        memory: the buffer's number among those of the dispatch.
        places: lines that may have written it here, "file:line".
    """

    buffer: str
    type: str
    elements: int
    different: int
    bad: int
    max_ulp: int
    max_absolute: float
    index: int
    byte: int
    here: int | float | bool
    recorded: int | float | bool
    texel: str = ""
    memory: int = 0
    places: tuple[str, ...] = ()


def difference(
    buffer: str, here: Data, recorded: Data, element: np.dtype[Any] | None, limits: Limits
) -> Difference | None:
    """How two contents of a buffer differ; None if they have the same bits.

    Args:
        buffer: what to call it.
        here, recorded: bytes, of one length.
        element: type of the elements; None if it is not known: then words are compared.
        limits: what is out of tolerance.
    """
    if np.array_equal(here, recorded):
        return None
    kind = element if element is not None else np.dtype(np.uint32)
    if len(here) % kind.itemsize:
        kind = np.dtype(np.uint8)
    left, right = here.view(kind), recorded.view(kind)
    different = _different(left, right)
    if not different.any():
        return None
    places = np.flatnonzero(different)
    ulp, absolute, bad = _apart(left[places], right[places], limits)
    first = int(places[np.flatnonzero(bad)[0] if bad.any() else 0])
    return Difference(
        buffer=buffer,
        type=element_name(kind),
        elements=left.size,
        different=int(places.size),
        bad=int(np.count_nonzero(bad)),
        max_ulp=int(ulp.max()),
        max_absolute=float(absolute.max()),
        index=first,
        byte=first * kind.itemsize,
        here=left[first].item(),
        recorded=right[first].item(),
    )


def _different(left: Array, right: Array) -> NDArray[np.bool_]:
    """Which elements have other bits; NaN of any bits are equal."""
    if not is_float(left.dtype):
        return np.asarray(left != right)
    bits = FLOAT_BITS[element_name(left.dtype)]
    both_nan = np.isnan(left.astype(np.float64)) & np.isnan(right.astype(np.float64))
    return np.asarray((left.view(bits) != right.view(bits)) & ~both_nan)


def _apart(
    left: Array, right: Array, limits: Limits
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]:
    """Of elements that differ: distance in steps, in value, and which are out of tolerance."""
    if not is_float(left.dtype):
        steps = np.abs(left.astype(object) - right.astype(object))
        return steps, steps.astype(np.float64), np.ones(left.shape, np.bool_)
    ulp = ulp_distances(left, right)
    a, b = left.astype(np.float64), right.astype(np.float64)
    with np.errstate(invalid="ignore"):
        absolute = np.abs(a - b)
    absolute = np.where(a == b, 0.0, np.where(np.isnan(absolute), np.inf, absolute))
    if limits.is_exact:
        return ulp, absolute, np.ones(left.shape, np.bool_)
    either_nan = np.isnan(a) | np.isnan(b)
    with np.errstate(invalid="ignore"):
        near = absolute <= limits.atol + limits.rtol * np.abs(b)
    right_enough = (near & np.isfinite(b)) | ((ulp <= limits.ulp) & ~either_nan)
    return ulp, absolute, ~right_enough

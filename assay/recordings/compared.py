"""What a buffer holds after a replay beside what was recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compare import ulp_distances
from ..elements import Array, element_name, is_float
from .tolerances import Limits

Data = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A buffer or texture with other bits than were recorded.

    Attributes:
        buffer: the kernel's argument, or the buffer's label.
        type: of its elements, as NumPy has them.
        elements: how many it has.
        different: how many have other bits.
        bad: how many are out of tolerance.
        max_ulp: largest distance of floats in representable values, of integers in value.
        max_absolute: largest difference in value.
        index: of the first element that is out of tolerance, or else different.
        byte: where it begins in the buffer.
        here, recorded: its values.
        bits: what it is here and was in the recording as unsigned integers: of NaN, all there is.
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
    bits: tuple[int, int]
    texel: str = ""
    memory: int = 0
    places: tuple[str, ...] = ()


def difference(
    buffer: str, here: Data, recorded: Data, element: np.dtype[Any] | None, limits: Limits
) -> Difference | None:
    """How two contents of a buffer differ; None if they have the same bits.

    NaN of other bits are 0 ulp apart; they are out of tolerance where bits must be equal.

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
    words = [each.view(f"u{kind.itemsize}") for each in (left, right)]
    places = np.flatnonzero(words[0] != words[1])
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
        bits=(int(words[0][first]), int(words[1][first])),
    )


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
    both_nan = np.isnan(a) & np.isnan(b)
    absolute = np.where(np.isnan(absolute), np.inf, absolute)
    absolute = np.where((a == b) | both_nan, 0.0, absolute)
    if limits.is_exact:
        return ulp, absolute, ~(both_nan & limits.any_nan)
    either_nan = np.isnan(a) | np.isnan(b)
    with np.errstate(invalid="ignore"):
        near = absolute <= limits.atol + limits.rtol * np.abs(b)
    right_enough = (near & np.isfinite(b)) | ((ulp <= limits.ulp) & ~either_nan)
    return ulp, absolute, ~(right_enough | both_nan)

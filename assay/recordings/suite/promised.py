"""How far results of two devices may be apart that both keep Apple's promises: a tolerance file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from assay.hw.apple.facts.promises import promises

from ..tolerances import Limits
from .case import FLOATS, Case
from .run import kernel_of

_ROUNDED: Final = 0.5  # correctly rounded: all devices have the same bits
_LARGEST: Final = {"exp": 89, "exp2": 129}  # magnitudes of arguments with finite results
_HEAD: Final = """\
# How far two devices may be apart that keep what Apple promises: twice the bound of
# a function, and denormal numbers may be 0. Functions without a number must give the same bits, but
# for those of NaN, of which Apple says nothing.

[default]
any_nan = true
"""


def tolerance_file(cases: Sequence[Case]) -> str:
    """The limits of all cases that there are promises for, as TOML."""
    return _HEAD + "".join(_tables(cases))


def limits_of(case: Case) -> Limits | None:
    """The limits of one case; None if there is no promise."""
    if case.given not in FLOATS or not case.function:
        return None
    known = promises()
    name = case.function
    absolute = 2.0 * float(np.finfo(np.float32 if case.given == "float" else np.float16).tiny)
    if case.given == "half":
        units = known.half.get(name)
    elif case.is_fast:
        near = (known.fast_absolute, known.fast_near_one)
        absolute = max(absolute, *(2 * each.get(name, 0.0) for each in near))
        units = known.fast.get(name, 0.0 if name in known.fast_absolute else None)
        if units is not None:
            units += known.fast_slope.get(name, 0.0) * 2 * _LARGEST.get(name, 0)
    else:
        units = known.precise.get(name)
    if units is None:
        return None
    return Limits(ulp=0 if units <= _ROUNDED else math.ceil(2 * units), atol=absolute)


def _tables(cases: Sequence[Case]) -> Iterator[str]:
    for case in cases:
        limits = limits_of(case)
        if limits is not None:
            yield f'\n[kernels."{kernel_of(case)}"]\nulp = {limits.ulp}\natol = {limits.atol!r}\n'

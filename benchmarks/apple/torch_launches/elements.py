"""Kernels of one element or two at a time, at offsets that another kernel has computed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from assay.launches.inputs import Given

from ..launches.values import longs
from .values import (
    REAL,
    TYPE_OF,
    Array,
    Launch,
    drawn,
    exact,
    in_threes,
    launch,
    number,
    offsets,
    room,
)

_TYPES = "|".join(TYPE_OF)
_OF_TWO = re.compile(
    rf"(?P<name>fmax|fmin|copysign|polar|complex_mul|nextafter_kernel|complex_kernel)"
    rf"_(?P<of>{_TYPES})"
)
_CROSS = re.compile(rf"cross_(?P<of>{_TYPES})")
_BESSEL = re.compile(rf"(?P<name>i0|i1)_(?P<of>{_TYPES})_(?P<to>{_TYPES})")
_RENORM = re.compile(rf"renorm_(?P<of>{_TYPES})")
_OPERANDS = {"polar": ("abs_", "angle_"), "complex_kernel": ("real_", "imag_")}
_PAIRS = {"polar": (2, 1), "complex_kernel": (2, 1), "complex_mul": (2, 2)}
_ROWS, _COLUMNS = 7, 33
_COUNT = _ROWS * _COLUMNS
_SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -6e-8, 65504.0)
_WIDE = 4.0  # of what is drawn, for arguments that lie on both sides of 8


def elements(kernel: str) -> Sequence[Launch]:
    """The launch of such a kernel; none of another."""
    if found := _OF_TWO.fullmatch(kernel):
        return [_of_two(kernel, found["name"], found["of"])]
    if found := _CROSS.fullmatch(kernel):
        return [_cross(kernel, found["of"])]
    if found := _BESSEL.fullmatch(kernel):
        given = drawn(kernel, found["of"], _COUNT)
        wide = (given.astype(np.float32) * _WIDE).astype(given.dtype)
        given = wide if found["of"] in REAL else given
        return [launch(_COUNT, {"input": exact(given), "output": room(found["to"], _COUNT)})]
    if found := _RENORM.fullmatch(kernel):
        norm = abs(_special(f"{kernel}.norm", found["of"], _COUNT))
        factor = room(found["of"], _COUNT)
        arguments = {"norm": exact(norm), "factor": factor, "maxnorm": number(1.5)}
        return [launch(_COUNT, arguments)]
    return []


def _special(name: str, of: str, count: int) -> Array:
    """What is drawn, with numbers among it that functions treat apart, by turns of its name."""
    made = drawn(name, of, count)
    if of in REAL:
        with np.errstate(over="ignore"):
            special = np.array(_SPECIAL, np.float32).astype(made.dtype)
        step = 3 + len(name) % 2
        made[: step * len(special) : step] = special
    return made


def _of_two(kernel: str, name: str, of: str) -> Launch:
    """A transposed operand, and one of which each row is the same."""
    left, right = _OPERANDS.get(name, ("input_", "other_"))
    into, taken = _PAIRS.get(name, (1, 1))
    result = "float" if name == "copysign" and of not in REAL else of
    size, step = into * TYPE_OF[result].itemsize, taken * TYPE_OF[of].itemsize
    places = offsets((_ROWS, _COLUMNS), (_COLUMNS * size, size), (step, _ROWS * step), (0, step))
    arguments: dict[str, Given] = {
        left: exact(_special(f"{kernel}.{left}", of, taken * _COUNT)),
        right: exact(_special(f"{kernel}.{right}", of, taken * _COLUMNS)),
        "out_": room(result, into * _COUNT),
        "offsets": in_threes(places),
    }
    return launch(_COUNT, arguments)


def _cross(kernel: str, of: str) -> Launch:
    """Rows of three into rows of three, of an operand that is transposed."""
    size = TYPE_OF[of].itemsize
    places = offsets((_COUNT,), (3 * size,), (size,), (3 * size,))
    arguments: dict[str, Given] = {
        "input_": exact(drawn(f"{kernel}.input_", of, 3 * _COUNT)),
        "other_": exact(drawn(f"{kernel}.other_", of, 3 * _COUNT)),
        "out_": room(of, 3 * _COUNT),
        "offsets": in_threes(places),
        "outStride": longs(1),
        "inputStride": longs(_COUNT),
        "otherStride": longs(1),
    }
    return launch(_COUNT, arguments)

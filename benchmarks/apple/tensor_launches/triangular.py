"""Small triangular systems with many right sides, `triangular_solve_small_mpp`: two of them.

Their sizes of 16, 32 and 64 come with different orders of what is given and found in memory, and
the general ones with different triangles. What is not of the triangle has other numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from assay.launches.inputs import Exact, Setup

from .run import Array, TensorRun, drawn

_NAME = re.compile(r"triangular_solve_small_mpp_(?P<general>general_)?(?P<size>\d+)")
_SYSTEMS = 2
_SIDES, _ANY_SIDES = 40, 37  # the plain ones take multiples of eight
_THREADS = 4  # for each row


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """How a system is given: `upper` is of the matrix in memory."""

    upper: bool = False
    transposed: bool = False
    has_ones: bool = True
    given_by_columns: bool = False
    found_by_columns: bool = False


_PLAIN = {
    "16": System(),
    "32": System(given_by_columns=True, found_by_columns=True),
    "64": System(found_by_columns=True),
}
_GENERAL = {
    "16": System(upper=True, has_ones=False),
    "32": System(transposed=True, given_by_columns=True),
    "64": System(upper=True, transposed=True, has_ones=False, found_by_columns=True),
}


def run_of(kernel: str) -> TensorRun | None:
    """Two systems, whose last tile of right sides is cut."""
    found = _NAME.fullmatch(kernel)
    if found is None:
        return None
    size, sides = int(found["size"]), _ANY_SIDES if found["general"] else _SIDES
    system = (_GENERAL if found["general"] else _PLAIN)[found["size"]]
    matrices = (drawn(f"{kernel}.a", "float", _SYSTEMS, size, size) / size).astype(np.float32)
    matrices += 2 * np.eye(size, dtype=np.float32)
    given = drawn(f"{kernel}.b", "float", _SYSTEMS, size, sides)
    expected = np.linalg.solve(triangle(system, matrices.astype(np.float64)), given)
    in_memory = np.swapaxes(expected, 1, 2) if system.found_by_columns else expected
    sides_given = np.swapaxes(given, 1, 2) if system.given_by_columns else given
    return TensorRun(
        setup=Setup(
            threadgroups=(_SYSTEMS, 1, 1),
            threadgroup=(_THREADS * size, 1, 1),
            arguments={
                "a": Exact(array=matrices),
                "b": Exact(array=np.ascontiguousarray(sides_given)),
                "x": Exact(array=np.zeros(in_memory.shape, np.float32)),
                "p": Exact(array=_params(system, size, sides)),
            },
        ),
        result="x",
        expected=in_memory,
        sizes=f"{size} x {size}, {sides} right sides",
    )


def triangle(system: System, matrices: Array) -> Array:
    """The matrices that are solved."""
    cut = np.triu(matrices) if system.upper else np.tril(matrices)
    if system.has_ones:
        size = matrices.shape[-1]
        cut = cut * (1 - np.eye(size)) + np.eye(size)
    return np.swapaxes(cut, 1, 2) if system.transposed else cut


def _params(system: System, size: int, sides: int) -> Array:
    """`TriangularSolveParams`."""
    is_conjugate = False
    flags = (
        system.upper,
        system.transposed,
        is_conjugate,
        system.has_ones,
        system.given_by_columns,
        system.found_by_columns,
    )
    types = ",".join(["u4"] * 3 + ["?"] * 6)
    return np.array([(_SYSTEMS, size, sides, *flags)], np.dtype(types, align=True))

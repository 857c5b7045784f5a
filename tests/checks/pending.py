"""Cases of checks that are still to come: patterns of names. Empty when all are there."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest

from .cases import Case

PENDING = (
    "init/bugs/device_buffers/*",
    "init/bugs/threadgroup_arrays/branch_on_a_flag_nobody_set",
    "init/clean/masked/low_half_of_a_word",
    "budget/bugs/*",
    "shuffle/bugs/*",
    "uniform/bugs/*",
    "lanes/bugs/*",
    "nan/bugs/*",
    "overflow/bugs/*",
    "race_threadgroup/bugs/writers/bins_zeroed_late",
)


def parameters(cases: list[Case]) -> list[object]:
    """The cases as parameters of a test; those that are pending must fail."""
    return [pytest.param(case, id=case.name, marks=_marks(case)) for case in cases]


def _marks(case: Case) -> list[pytest.MarkDecorator]:
    pending = any(fnmatch(case.name, pattern) for pattern in PENDING)
    return [pytest.mark.xfail(strict=True, reason="to come")] if pending else []

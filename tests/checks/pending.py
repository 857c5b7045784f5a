"""Cases of checks that are still to come: patterns of names. Empty when all are there."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest

from .cases import Case

PENDING: tuple[str, ...] = (
    "init/bugs/device_buffers/compared_with_fresh_memory",
    "init/bugs/threadgroup_arrays/branch_on_a_flag_nobody_set",
    "init/clean/masked/low_half_of_a_word",
    "nan/bugs/divisions/remainder_by_zero",
    "race_threadgroup/bugs/writers/bins_zeroed_late",
    "uniform/bugs/matrices/*",
)


def parameters(cases: list[Case]) -> list[object]:
    """The cases as parameters of a test; those that are pending must fail."""
    return [pytest.param(case, id=case.name, marks=_marks(case)) for case in cases]


def _marks(case: Case) -> list[pytest.MarkDecorator]:
    pending = any(fnmatch(case.name, pattern) for pattern in PENDING)
    return [pytest.mark.xfail(strict=True, reason="to come")] if pending else []

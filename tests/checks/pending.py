"""Cases of checks that are still to come: patterns of names. Empty when all are there."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest

from .cases import Case

PENDING: tuple[str, ...] = (
    "lanes/bugs/reductions/tail_of_a_larger_tree",
    "lanes/bugs/reductions/scan",
    "lanes/bugs/writers/all_lanes_write_one",
    "lanes/bugs/writers/too_few_outputs",
    "shuffle/bugs/branches/odd_lanes_read_even",
    "shuffle/bugs/edges/butterfly_over_24_lanes",
    "shuffle/bugs/edges/lanes_beyond_the_end_returned",
)


def parameters(cases: list[Case]) -> list[object]:
    """The cases as parameters of a test; those that are pending must fail."""
    return [pytest.param(case, id=case.name, marks=_marks(case)) for case in cases]


def _marks(case: Case) -> list[pytest.MarkDecorator]:
    pending = any(fnmatch(case.name, pattern) for pattern in PENDING)
    return [pytest.mark.xfail(strict=True, reason="to come")] if pending else []

"""Cases that do not come out as they should yet: patterns of names."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest

from .cases import Case, kinds_in
from .chosen import chosen, slow_unless

PENDING: tuple[str, ...] = ()


def parameters(cases: list[Case], *, one_in: int = 1) -> list[object]:
    """The cases as parameters of a test; those that are pending must fail.

    A file is compiled once for all of its cases: those of one in so many files are not slow.
    """
    quick = chosen({case.path: kinds_in(case.path) for case in cases}, one_in)
    return [
        pytest.param(case, id=case.name, marks=[*_marks(case), *slow_unless(case.path in quick)])
        for case in cases
    ]


def is_pending(case: Case) -> bool:
    """Whether a case does not come out as it should."""
    return any(fnmatch(case.name, pattern) for pattern in PENDING)


def _marks(case: Case) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xfail(strict=True, reason="to come")] if is_pending(case) else []

"""Every kernel runs plainly and, among the slow tests, under all checks, which find nothing."""

from collections.abc import Iterator

import pytest

from assay.hal.observe import checking
from assay.sim.check import Checker


@pytest.fixture(autouse=True, params=["plain", pytest.param("checked", marks=pytest.mark.slow)])
def checks(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "plain":
        yield
        return
    with checking(Checker(seed=1)) as checker:
        yield
    assert not checker.findings, "\n\n".join(str(finding) for finding in checker.findings)

"""Host programs of random queues, encoders, fences and events: what is wrong is found, no more.

Each program orders all that meets; from most one fence, event, barrier or wait is left out. An
oracle that follows paths through the whole program says what that makes wrong.
"""

import pytest

from tests.support.order.plan import random_plan
from tests.support.order.play import verdict

from .script import Script

BLOCK = 500


@pytest.fixture(scope="module")
def script() -> Script:
    return Script()


def check(script: Script, seeds: range) -> int:
    """How many of the programs are wrong; all must be judged as the oracle does."""
    wrong = 0
    for seed in seeds:
        judged = verdict(script, random_plan(seed))
        assert judged.is_right, f"program {seed}: {judged}"
        wrong += bool(judged.expected)
    return wrong


def test_random_host_programs_are_judged_as_by_the_oracle(script: Script) -> None:
    wrong = check(script, range(60))
    assert 15 < wrong < 50


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_ten_thousand_host_programs_are_judged_as_by_the_oracle(script: Script, block: int) -> None:
    first = 1000 + block * BLOCK
    assert check(script, range(first, first + BLOCK))

"""How the time of longer and longer networks is told to grow."""

import pytest

from benchmarks.networks import exponent


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
def test_the_growth_is_the_power_that_seconds_follow(power: float) -> None:
    lengths = (125, 250, 500, 1000)
    assert exponent(lengths, [3 * n**power for n in lengths]) == pytest.approx(power)


def test_what_grows_less_at_first_is_told_by_all_lengths() -> None:
    assert 1 < exponent((125, 250, 500, 1000), [1, 2, 4, 16]) < 2

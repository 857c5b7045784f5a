"""The order in which parts of runs are submitted."""

import pytest

from assay.hal.module.rounds import Begin, Finish, Submit, rounds


def text(counts: list[int], in_flight: int) -> str:
    """Begin as a letter, parts as letter and number, Finish as a capital."""
    found = []
    for step in rounds(counts, in_flight):
        letter = chr(ord("a") + step.run)
        if isinstance(step, Begin):
            found.append(letter)
        elif isinstance(step, Submit):
            found.append(f"{letter}{step.part}")
        else:
            found.append(letter.upper())
    return " ".join(found)


def test_the_next_run_is_begun_before_this_one_goes_on() -> None:
    assert text([2, 2, 2], 2) == "a a0 b b0 a1 A c c0 b1 B c1 C"


def test_as_many_in_flight_as_parts_keep_every_device_at_work() -> None:
    found = text([3, 3, 3, 3], 3)
    assert found == "a a0 b b0 a1 c c0 b1 a2 A d d0 c1 b2 B d1 c2 C d2 D"


def test_one_in_flight_is_one_after_the_other() -> None:
    assert text([2, 1], 1) == "a a0 a1 A b b0 B"


@pytest.mark.parametrize("in_flight", [1, 2, 3, 5])
def test_every_part_is_submitted_once_in_order_and_every_run_is_finished(in_flight: int) -> None:
    counts = [3, 1, 4, 1, 5, 2, 2]
    steps = list(rounds(counts, in_flight))
    flying: dict[int, int] = {}
    finished = []
    for step in steps:
        if isinstance(step, Begin):
            flying[step.run] = 0
            assert len(flying) <= in_flight
        elif isinstance(step, Submit):
            assert flying[step.run] == step.part
            flying[step.run] += 1
        else:
            assert isinstance(step, Finish) and flying.pop(step.run) == counts[step.run]
            finished.append(step.run)
    assert finished == list(range(len(counts)))

"""The choice of devices by predicted times."""

import itertools
import random
from math import inf

import pytest

from assay.compiler.module.balance import Links, Piece, alone, balanced, run_seconds


def copy(size: int, source: int, target: int) -> float:
    assert source != target
    return 1.0 + size / 100


LINKS = Links(copy, (0.0, 0.0), (0.0, 0.0))


def chain(*times: tuple[float, ...], size: int = 100) -> list[Piece]:
    """Pieces that each read what the one before gives."""
    return [
        Piece(times=each, reads=((f"t{n}", size),), gives=(f"t{n + 1}",))
        for n, each in enumerate(times)
    ]


def test_a_crossing_that_does_not_pay_is_left_out() -> None:
    pieces = chain((5, 6), (5, 3), (5, 6))
    assert balanced(pieces, LINKS).devices == (0, 0, 0)


def test_one_that_pays_is_taken() -> None:
    pieces = chain((5, 9), (9, 1), (9, 1), (5, 9))
    found = balanced(pieces, LINKS)
    assert found.devices == (0, 1, 1, 0)
    assert found.seconds == 5 + 2 + 2 + 2 + 5


def test_pieces_that_must_move_together_do() -> None:
    """Either alone would cross twice and lose; both together win."""
    pieces = chain((4, 3), (4, 3), (4, 3), (4, 3), (4, 3))
    assert balanced(pieces, LINKS).devices == (1,) * 5


def test_what_one_device_cannot_do_another_does() -> None:
    pieces = chain((1, 5), (inf, 5), (1, 5))
    assert balanced(pieces, LINKS).devices[1] == 1
    assert alone(pieces, 0, LINKS).devices == (0, 1, 0)
    with pytest.raises(ValueError, match="piece 1 cannot be done anywhere"):
        balanced(chain((1, 1), (inf, inf)), LINKS)


def test_what_it_takes_to_come_to_a_device_and_back_counts() -> None:
    pieces = chain((5, 4), (5, 4))
    assert balanced(pieces, LINKS).devices == (1, 1)
    far = Links(copy, (0.0, 1.5), (0.0, 1.5))
    assert balanced(pieces, far).devices == (0, 0)
    assert run_seconds(pieces, (1, 1), far) == 11
    assert run_seconds(pieces, (0, 0), far) == 10


def test_branches_are_done_side_by_side() -> None:
    a = Piece(times=(10, 11), reads=(("x", 0),), gives=("a",))
    b = Piece(times=(10, 11), reads=(("y", 0),), gives=("b",))
    both = Piece(times=(1, 1), reads=(("a", 0), ("b", 0)), gives=("c",))
    found = balanced([a, b, both], LINKS)
    assert len(set(found.devices[:2])) == 2
    assert found.seconds < 21


def test_a_tensor_crosses_once_to_a_device() -> None:
    pieces = [
        Piece(times=(1, inf), reads=(), gives=("a",)),
        Piece(times=(inf, 1), reads=(("a", 100),), gives=("b",)),
        Piece(times=(inf, 1), reads=(("a", 100),), gives=("c",)),
    ]
    assert run_seconds(pieces, (0, 1, 1), LINKS) == 1 + 2 + 1 + 1


@pytest.mark.parametrize("seed", range(12))
def test_drawn_graphs_are_near_the_best_of_all_choices(seed: int) -> None:
    draw = random.Random(seed)
    pieces = []
    for number in range(7):
        names = [f"t{n}" for n in range(number)]
        reads = draw.sample(names, min(len(names), draw.randint(1, 2)))
        pieces.append(
            Piece(
                times=(draw.uniform(0, 8), draw.uniform(0, 8)),
                reads=tuple((name, draw.randint(0, 300)) for name in reads),
                gives=(f"t{number}",),
            )
        )
    choices = itertools.product((0, 1), repeat=7)
    least = min(run_seconds(pieces, each, LINKS) for each in choices)
    found = balanced(pieces, LINKS)
    assert found.seconds == run_seconds(pieces, found.devices, LINKS)
    assert found.seconds <= min(alone(pieces, n, LINKS).seconds for n in (0, 1))
    assert found.seconds <= 1.15 * least

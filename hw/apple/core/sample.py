"""Which threadgroups of a grid to execute so that the rest follows from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from ..facts.chips import Chip
from .result import Occupancy

Position = tuple[int, int, int]
WAVES = 3
"""How many times what a core holds at a time is executed of its share."""
# Threadgroups over the whole grid that tell whether work is even.
_SPREAD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Threadgroups to tape.

    Attributes:
        positions: all of them; the first `core` are those that one core gets, in order.
        core: how many.
        near: for x, y and z the number of a neighbour of the first one, or -1.
        far: the same for one further away that runs at about the same time.
        spread: numbers of some that are spread over the grid.
    """

    positions: tuple[Position, ...]
    core: int
    near: tuple[int, int, int] = (-1, -1, -1)
    far: tuple[int, int, int] = (-1, -1, -1)
    spread: tuple[int, ...] = ()


def position(grid: Position, number: int) -> Position:
    """The threadgroup that the GPU hands out as the `number`-th: x runs fastest."""
    return number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])


def choose_sample(
    grid: Position, occupancy: Occupancy, chip: Chip, *, waves: int = WAVES
) -> Sample:
    """The sample for a grid of threadgroups, if `chip` deals them to its cores in turn.

    Args:
        grid: threadgroups in x, y and z.
        occupancy: what a core holds at a time.
        chip: the chip.
        waves: how many times what it holds of one core's share is executed; 0 for once, without
            threadgroups that tell how even work is, and with near neighbours alone.
    """
    total = grid[0] * grid[1] * grid[2]
    cores = min(chip.cores, total)
    of_core = ceil(total / cores)
    count = min(of_core, max(1, waves) * occupancy.threadgroups)
    # In the middle of the run, at the start of a wave; all of it if that is not more.
    others = (of_core - count) // occupancy.threadgroups
    start = others // 2 * occupancy.threadgroups * cores
    numbers = list(range(start, total, cores))[:count]
    places = {position(grid, number): at for at, number in enumerate(numbers)}
    first = position(grid, start)
    window = cores * occupancy.threadgroups

    def place(where: Position) -> int:
        return places.setdefault(where, len(places))

    near, far = [-1, -1, -1], [-1, -1, -1]
    for axis, offsets in enumerate(_offsets(grid, window)):
        found = [place(_moved(first, axis, each, grid)) for each in offsets[: 2 if waves else 1]]
        near[axis] = found[0] if found else -1
        far[axis] = found[1] if len(found) > 1 else -1
    spread: tuple[int, ...] = ()
    if waves and count < of_core:
        steps = (total * (2 * i + 1) // (2 * _SPREAD) for i in range(_SPREAD))
        spread = tuple(place(position(grid, step)) for step in steps)
    return Sample(
        positions=tuple(places),
        core=len(numbers),
        near=(near[0], near[1], near[2]),
        far=(far[0], far[1], far[2]),
        spread=spread,
    )


def _offsets(grid: Position, window: int) -> Iterator[tuple[int, ...]]:
    """For each axis how far away the neighbours are; none along an axis of one threadgroup."""
    inner = 1
    for extent in grid:
        together = min(extent, max(1, window // inner))
        far = max(2, together // 2)
        yield () if extent == 1 else (1,) if far >= extent else (1, far)
        inner *= extent


def _moved(where: Position, axis: int, offset: int, grid: Position) -> Position:
    moved = list(where)
    moved[axis] = (moved[axis] + offset) % grid[axis]
    return moved[0], moved[1], moved[2]

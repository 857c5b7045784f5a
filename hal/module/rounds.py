"""In which order the parts of several runs are submitted, so that devices work side by side.

A run is cut behind each group of copies to other devices. In a round every run that is in flight
gets its next part, the newest run first: what it gives another device to do is then in front of
what waits for that device, in queues that do one thing after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from .records import Copy, Model

MOST_IN_FLIGHT: Final = 4
Part = tuple[int, int]
"""The first instruction of a part, and the one behind its last."""


@dataclass(frozen=True, slots=True)
class Begin:
    """A run takes a context and its inputs."""

    run: int


@dataclass(frozen=True, slots=True)
class Submit:
    """The next part of a run."""

    run: int
    part: int


@dataclass(frozen=True, slots=True)
class Finish:
    """The oldest run is waited for."""

    run: int


def parts(model: Model) -> tuple[Part, ...]:
    """The parts of a device model's first region, at least one."""
    items = model.regions[0].instructions
    cuts = [
        at + 1
        for at, item in enumerate(items[:-1])
        if _crosses(model, item) and not _crosses(model, items[at + 1])
    ]
    edges = [0, *cuts, len(items)]
    return tuple(pairwise(edges))


def usual_in_flight(models: Sequence[Model]) -> int:
    """How many runs keep all devices at work, if parts take as long as each other."""
    most = max((len(parts(model)) for model in models), default=1)
    return min(max(most, 2), MOST_IN_FLIGHT)


def rounds(counts: Iterable[int], in_flight: int) -> Iterator[Begin | Submit | Finish]:
    """What to do for runs of so many parts each, with at most `in_flight` of them at a time."""
    waiting = enumerate(counts)
    active: list[tuple[int, int, int]] = []
    """(number, parts, parts that are submitted) of runs, the oldest first."""
    is_more = True
    while is_more or active:
        following = next(waiting, None) if len(active) < in_flight else None
        if following is not None:
            active.append((*following, 0))
            yield Begin(following[0])
        elif len(active) < in_flight:
            is_more = False
        for place in reversed(range(len(active))):
            number, count, done = active[place]
            if done < count:
                yield Submit(number, done)
                active[place] = number, count, done + 1
        if active and active[0][1] == active[0][2]:
            yield Finish(active.pop(0)[0])


def _crosses(model: Model, item: object) -> bool:
    if not isinstance(item, Copy):
        return False
    return model.tensors[item.source].device != model.tensors[item.target].device

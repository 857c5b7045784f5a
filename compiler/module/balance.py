"""Which device does which piece of a graph, by predicted times: the least time of one run.

Pieces are in an order in which they can be done. A device does one after the other; where a tensor
crosses to another device, both wait for the copy. So fewer crossings are better, unless they pay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

CopyTime = Callable[[int, int, int], float]
"""Seconds of a copy of so many bytes from one device to another, by their numbers."""


@dataclass(frozen=True, slots=True)
class Links:
    """What it takes to come to devices and from them, in seconds, by their numbers.

    Attributes:
        copy: a copy between two.
        enter: from a run's begin until a device can begin with it.
        leave: from the end of a device's work until the program sees it.
    """

    copy: CopyTime
    enter: tuple[float, ...]
    leave: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """Something that one device does.

    Attributes:
        times: seconds on each device, infinite where it cannot be done.
        reads: names of tensors, with their bytes.
        gives: names of tensors.
    """

    times: tuple[float, ...]
    reads: tuple[tuple[str, int], ...]
    gives: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Balance:
    """The device of each piece, and the seconds of a run that follow from it."""

    devices: tuple[int, ...]
    seconds: float


def run_seconds(pieces: Sequence[Piece], devices: Sequence[int], links: Links) -> float:
    """How long one run takes; a tensor from outside is at home where it is read first."""
    lanes = list(links.enter)
    home: dict[str, int] = {}
    there: set[tuple[str, int]] = set()
    for piece, device in zip(pieces, devices, strict=True):
        for name, size in piece.reads:
            source = home.setdefault(name, device)
            if source != device and (name, device) not in there:
                there.add((name, device))
                end = max(lanes[source], lanes[device]) + links.copy(size, source, device)
                lanes[source] = lanes[device] = end
        lanes[device] += piece.times[device]
        home.update(dict.fromkeys(piece.gives, device))
    return max((lanes[device] + links.leave[device] for device in set(devices)), default=0.0)


def alone(pieces: Sequence[Piece], device: int, links: Links) -> Balance:
    """All that a device can do on it, the rest on the first device that can.

    Raises ValueError for a piece that none can do.
    """
    chosen = []
    for number, piece in enumerate(pieces):
        able = [n for n, seconds in enumerate(piece.times) if seconds < inf]
        if not able:
            raise ValueError(f"piece {number} cannot be done anywhere")
        chosen.append(device if device in able else able[0])
    return Balance(devices=tuple(chosen), seconds=run_seconds(pieces, chosen, links))


def balanced(pieces: Sequence[Piece], links: Links) -> Balance:
    """A good choice: the best of all on one device, then better by moving runs of pieces.

    Raises ValueError for a piece that none can do.
    """
    if not pieces:
        return Balance(devices=(), seconds=0.0)
    count = len(pieces[0].times)
    best = min((alone(pieces, n, links) for n in range(count)), key=lambda each: each.seconds)
    while (better := _moved(pieces, best, links)) is not None:
        best = better
    return best


def _moved(pieces: Sequence[Piece], best: Balance, links: Links) -> Balance | None:
    """The best that comes of moving one run of consecutive pieces to one device, if any helps."""
    found: Balance | None = None
    least = best.seconds
    for device in range(len(pieces[0].times)):
        for begin in range(len(pieces)):
            chosen = list(best.devices)
            for end in range(begin, len(pieces)):
                if pieces[end].times[device] == inf:
                    continue  # it stays where it is
                if chosen[end] == device:
                    continue
                chosen[end] = device
                seconds = run_seconds(pieces, chosen, links)
                if seconds < least * (1 - 1e-9):
                    least = seconds
                    found = Balance(devices=tuple(chosen), seconds=seconds)
    return found

"""Groups of elements that keep one order throughout a function.

Where an axis is made of parts, as by a concatenation, or a part is cut out of it, it is several
groups one behind the other: elements move within their group only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from xdsl.ir import Block

from ..hl.types import tensor_of
from .ties import Place, Tie, bonds_of, places_of

Start = tuple[Place, int]
"""The first element of a part of an axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """`size` elements that may be put into another order, wherever they start."""

    size: int
    starts: tuple[Start, ...]


def groups_of(block: Block) -> list[Group]:
    """All groups of a function's body that may be put into another order, in its order."""
    bonds = [(op, bonds_of(op)) for op in block.ops]
    ties = [tie for _, own in bonds for tie in own.ties]
    fixed = {place for op, own in bonds for place in places_of(op) if place not in own.free}
    fixed |= {
        (argument, axis)
        for argument in block.args
        for axis in range(len(tensor_of(argument).shape))
    }
    places = dict.fromkeys(place for op, _ in bonds for place in places_of(op))
    cuts = _cuts(places, ties)
    return list(_joined(cuts, ties, fixed))


def _cuts(places: Iterable[Place], ties: Sequence[Tie]) -> dict[Place, set[int]]:
    """Where axes are cut: a cut in one of two axes that are tied is one in the other."""
    cuts = {place: {0, tensor_of(place[0]).shape[place[1]]} for place in places}
    beside: dict[Place, list[Tie]] = defaultdict(list)
    for tie in ties:
        beside[tie.one].append(tie)
        beside[tie.other].append(tie)
        cuts[tie.one] |= {tie.first, tie.first + tie.size}
        cuts[tie.other] |= {tie.second, tie.second + tie.size}
    waiting = list(cuts)
    while waiting:
        place = waiting.pop()
        for tie in beside[place]:
            ends = ((tie.one, tie.first), (tie.other, tie.second))
            for (here, start), (there, other) in (ends, ends[::-1]):
                inside = {c - start for c in cuts[here] if start <= c <= start + tie.size}
                more = {c + other for c in inside} - cuts[there]
                if more:
                    cuts[there] |= more
                    waiting.append(there)
    return cuts


@dataclass(slots=True)
class _Union:
    """Parts of axes that are one group."""

    above: dict[Start, Start] = field(default_factory=dict)

    def top(self, start: Start) -> Start:
        """What stands for the group of a part."""
        path = []
        while start in self.above:
            path.append(start)
            start = self.above[start]
        self.above |= dict.fromkeys(path, start)
        return start

    def join(self, one: Start, other: Start) -> None:
        """Makes two groups one."""
        first, second = self.top(one), self.top(other)
        if first != second:
            self.above[second] = first


def _joined(cuts: dict[Place, set[int]], ties: Sequence[Tie], fixed: set[Place]) -> Iterator[Group]:
    """The groups that nothing keeps as they are."""
    union = _Union()
    for tie in ties:
        for cut in cuts[tie.one]:
            if tie.first <= cut < tie.first + tie.size:
                union.join((tie.one, cut), (tie.other, cut - tie.first + tie.second))
    members: dict[Start, list[Start]] = defaultdict(list)
    sizes: dict[Start, int] = {}
    kept: set[Start] = set()
    for place, own in cuts.items():
        for first, stop in pairwise(sorted(own)):
            top = union.top((place, first))
            members[top].append((place, first))
            sizes[top] = stop - first
            if place in fixed:
                kept.add(top)
    for top, starts in members.items():
        if top not in kept and sizes[top] > 1:
            yield Group(size=sizes[top], starts=tuple(starts))

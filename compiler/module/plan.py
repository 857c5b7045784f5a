"""Where tensors lie in an arena: two share bytes only if they never live at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

ALIGNMENT: Final = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Life:
    """A tensor's bytes, and the first and last step that need them."""

    name: str
    size: int
    first: int
    last: int

    def meets(self, other: Life) -> bool:
        """Whether both are needed at some step."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, slots=True)
class Plan:
    """Offsets by name, and how many bytes the arena has. All are multiples of 64."""

    offsets: dict[str, int]
    size: int


def joined(lives: Sequence[Life], over: Mapping[str, str]) -> tuple[list[Life], dict[str, str]]:
    """Lives in which a tensor that is written over another is the same as that one.

    `over` has the other by name. Also gives, for each name, that of the life it is part of now.
    """
    first = dict(over)
    for name in over:
        while first[name] in over:
            first[name] = over[first[name]]
    whole = {life.name: life for life in lives}
    for name, start in first.items():
        one, other = whole[start], whole.pop(name)
        whole[start] = Life(
            name=start,
            size=max(one.size, other.size),
            first=min(one.first, other.first),
            last=max(one.last, other.last),
        )
    return list(whole.values()), {life.name: first.get(life.name, life.name) for life in lives}


def planned(lives: Sequence[Life]) -> Plan:
    """The largest first, each at the lowest place that is free while it lives."""
    placed: list[tuple[int, Life]] = []
    for life in sorted(lives, key=lambda life: (-life.size, life.first, life.name)):
        at = 0
        for start, other in sorted(
            ((start, other) for start, other in placed if other.meets(life)),
            key=lambda pair: pair[0],
        ):
            if start - at >= _aligned(life.size):
                break
            at = max(at, start + _aligned(other.size))
        placed.append((at, life))
    size = max((start + _aligned(life.size) for start, life in placed), default=0)
    return Plan({life.name: start for start, life in placed}, size)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT

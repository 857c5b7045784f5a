"""What comes before something: a set of passes and of the host's actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Everything that is known to have ended.

    Attributes:
        passes: by queue, so many passes from its first one on.
        others: further passes, as (queue, number from 1 on): fences order single ones.
        host: the host's actions up to this number.
    """

    passes: Mapping[int, int]
    others: frozenset[tuple[int, int]] = frozenset()
    host: int = 0

    def covers(self, queue: int, number: int) -> bool:
        """Whether a pass is among it."""
        return number <= self.passes.get(queue, 0) or (queue, number) in self.others

    def includes(self, other: Clock) -> bool:
        """Whether all passes of another clock are among it."""
        return all(count <= self.passes.get(queue, 0) for queue, count in other.passes.items())

    def with_pass(self, queue: int, number: int) -> Clock:
        """That, and one more pass."""
        if self.covers(queue, number):
            return self
        return Clock(passes=self.passes, others=self.others | {(queue, number)}, host=self.host)

    def with_queue(self, queue: int, count: int) -> Clock:
        """That, and the first `count` passes of a queue."""
        return joined(self, Clock(passes={queue: count}))


NOTHING = Clock(passes={})


def joined(*clocks: Clock) -> Clock:
    """What is in one of them at least."""
    passes: dict[int, int] = {}
    for clock in clocks:
        for queue, count in clock.passes.items():
            passes[queue] = max(count, passes.get(queue, 0))
    others = frozenset[tuple[int, int]]().union(*(clock.others for clock in clocks))
    return Clock(
        passes=passes,
        others=frozenset(each for each in others if each[1] > passes.get(each[0], 0)),
        host=max(clock.host for clock in clocks),
    )

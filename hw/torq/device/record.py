"""Which units are at work, what they did, and which memory they touched."""

from collections.abc import Sequence

from ..check.watcher import Watcher
from ..faults import Busy
from .events import Access, Work
from .schedule import Schedule

_AHEAD = ("CDMA", "CSS")
"""Units that a task's words start before those by which the task is known."""


class Record:
    """What the units of one device tell.

    `watcher` is called too, if there is one; `keeps_accesses` says whether `accesses` are listed.
    """

    def __init__(self, schedule: Schedule, watcher: Watcher | None, *, accesses: bool) -> None:
        self.events: list[Work] = []
        self.accesses: list[Access] = []
        self.watcher, self.keeps_accesses = watcher, accesses
        self._schedule = schedule
        self._busy: set[str] = set()

    def clear(self) -> None:
        """Nobody is at work any more; what was done stays."""
        self._busy.clear()

    def begin(self, unit: str, at: int) -> int:
        """A unit begins; gives the time. Raises Busy when it is at work already."""
        if unit in self._busy:
            raise Busy("is started while it is still busy", unit=unit, address=at)
        self._busy.add(unit)
        if self.watcher is not None:
            self.watcher.start(unit, at, ahead=unit in _AHEAD)
        return self._schedule.now

    def finish(
        self, unit: str, what: str, begin: int, at: int, *, size: int = 0, limit: str = ""
    ) -> None:
        """A unit is done with what it began."""
        self._busy.discard(unit)
        end = self._schedule.now
        self.events.append(
            Work(unit=unit, what=what, begin=begin, end=end, address=at, size=size, limit=limit)
        )

    def touch(
        self,
        unit: str,
        agent: str,
        memory: str,
        writes: bool,
        begin: int,
        ranges: Sequence[tuple[int, int]],
        at: int,
    ) -> None:
        """A unit touched memory from `begin` until now."""
        if self.keeps_accesses:
            self.accesses.append(
                Access(
                    unit=unit,
                    agent=agent,
                    memory=memory,
                    writes=writes,
                    begin=begin,
                    end=self._schedule.now,
                    ranges=tuple(ranges),
                    descriptor=at,
                )
            )

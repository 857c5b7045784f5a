"""Who wrote what, and whether anybody read it."""

from __future__ import annotations

from collections.abc import Sequence

from .reports import Reports
from .touch import Touch
from .unread import Lost, Unread

_OFFSETS = ("DEDR1", "DEBR1")
"""Agents that read offsets, which are data."""


class Reads:
    """Follows the writers of bytes until these are read."""

    def __init__(self, unread: Unread, reports: Reports) -> None:
        self._unread, self._reports = unread, reports
        self._owners: list[Touch] = []

    def follow(self, touch: Touch) -> None:
        """Notes who wrote what, and that it was read."""
        if not touch.writes:
            self._unread.read(touch.memory, touch.ranges)
            if touch.agent in _OFFSETS:
                self._unread.read_all(touch.memory)
            return
        self._owners.append(touch)
        lost = self._unread.write(len(self._owners), touch.memory, touch.ranges)
        self._tell(lost, "is overwritten before anybody read it")

    def finish(self) -> None:
        """Tells what was never read."""
        self._tell(self._unread.rest(), "is never read")

    def _tell(self, lost: Sequence[Lost], what: str) -> None:
        for owner, memory, start, stop in lost:
            touch = self._owners[owner - 1]
            self._reports.report(
                kind="npu-unread",
                message=f"what it writes {what}",
                unit=touch.unit,
                agent=touch.agent,
                descriptor=touch.descriptor,
                memory=memory,
                start=start,
                stop=stop,
                task=touch.task,
                tensor=self._reports.name_of(memory, start, stop),
                operation=touch.operation,
            )

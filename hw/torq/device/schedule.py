"""What happens when: events by cycle, those of one cycle in the order they were asked for."""

import heapq
from collections.abc import Callable


class Schedule:
    """The clock and the events to come; `now` is the cycle of the event at hand."""

    def __init__(self) -> None:
        self.now = 0
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._asked = 0

    def after(self, cycles: int, action: Callable[[], None]) -> None:
        """Does something `cycles` from now."""
        self._asked += 1
        heapq.heappush(self._events, (self.now + cycles, self._asked, action))

    def step(self) -> bool:
        """Does the next thing; False when there is none."""
        if not self._events:
            return False
        self.now, _, action = heapq.heappop(self._events)
        action()
        return True

    def clear(self) -> None:
        """Forgets what was to come; time goes on from here."""
        self._events.clear()

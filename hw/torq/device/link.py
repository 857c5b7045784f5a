"""The path to DRAM that both DMA channels share: alone a channel has all of it, else half each."""

from collections.abc import Callable

from .schedule import Schedule


class SharedLink:
    """Transfers under way, each with the work it has left, in cycles of having all the link."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._left: dict[str, int] = {}
        self._done: dict[str, Callable[[], None]] = {}
        self._since = 0
        self._round = 0

    def transfer(self, name: str, cycles: int, done: Callable[[], None]) -> None:
        """Starts a transfer of so much work; `done` is called at its end."""
        self._advance()
        self._left[name] = 2 * max(cycles, 1)
        self._done[name] = done
        self._plan()

    def clear(self) -> None:
        """Forgets all transfers."""
        self._left.clear()
        self._done.clear()
        self._round += 1

    def _advance(self) -> None:
        """Takes the work done since the last change off; work is kept in half cycles."""
        elapsed = self._schedule.now - self._since
        rate = 2 // len(self._left) if self._left else 0
        self._left = {name: left - elapsed * rate for name, left in self._left.items()}
        self._since = self._schedule.now

    def _plan(self) -> None:
        """Asks to be called when the next transfer ends, unless another starts before."""
        self._round += 1
        if not self._left:
            return
        rate = 2 // len(self._left)
        current, least = self._round, min(self._left.values())
        self._schedule.after(-(-least // rate), lambda: self._ended(current))

    def _ended(self, asked: int) -> None:
        if asked != self._round:
            return
        self._advance()
        ended = [name for name, left in self._left.items() if left <= 0]
        for name in ended:
            del self._left[name]
        self._plan()
        for name in ended:
            self._done.pop(name)()

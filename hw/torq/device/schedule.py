"""What happens when, in cycles of the NPU's clock, and the path to DRAM that its channels share.

Time, order and sharing are those of `sim/clock`. A transfer's size on the link is the half cycles
that it takes alone, so the link moves twice as many of these in a second as the clock has cycles,
and two transfers get whole shares. Where edges of the clock are rounded to ticks, transfers may end
a tick beside theirs.
"""

from collections.abc import Callable

from simpy.events import Timeout

from assay.sim.clock import ClockDomain, Environment, Link


class Schedule:
    """The events to come; `now` is the cycle of the event at hand.

    Events happen in the order of their cycles, those of one cycle in the order they were asked for.
    """

    def __init__(self, clock_hz: int) -> None:
        self.now = 0
        self._clock = ClockDomain("NPU", clock_hz)
        self._begin(0)

    def after(self, cycles: int, action: Callable[[], None]) -> None:
        """Does something `cycles` from now."""
        tick = self._clock.edge(self.now + int(cycles))
        event = Timeout(self._environment, max(tick - self._environment.tick, 0))
        assert event.callbacks is not None
        event.callbacks.append(lambda _: action())

    def move(self, cycles: int, done: Callable[[], None]) -> None:
        """Starts a transfer that takes so long alone; with others it shares the path to DRAM."""
        arrived = self._link.transfer(2 * max(int(cycles), 1)).done
        assert arrived.callbacks is not None
        arrived.callbacks.append(lambda _: done())

    def step(self) -> bool:
        """Does the next thing; False when there is none."""
        tick = self._environment.peek()
        if tick == float("inf"):
            return False
        self.now = self._clock.cycle(int(tick) + 1)
        self._environment.step()
        return True

    def clear(self) -> None:
        """Forgets what was to come and what was under way; time goes on from here."""
        self._begin(self._environment.tick)

    def _begin(self, tick: int) -> None:
        self._environment = Environment(tick)
        self._link = Link(self._environment, "DRAM", 2 * self._clock.hz)

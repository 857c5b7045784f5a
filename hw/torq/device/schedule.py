"""What happens when, in cycles of the NPU's clock, and the path to DRAM that its channels share.

Time, order and sharing are those of `sim/clock`. A transfer's size on the link is the half cycles
that it takes alone, so the link moves twice as many of these in a second as the clock has cycles,
and two transfers get whole shares. Where edges of the clock are rounded to ticks, transfers may end
a tick beside theirs.
"""

from __future__ import annotations

from collections.abc import Callable

from simpy.events import Event, Timeout

from assay.sim.clock import ClockDomain, Environment, Link, Shared


class Schedule:
    """The events to come; `now` is the cycle of the event at hand.

    Events happen in the order of their cycles, those of one cycle in the order they were asked for.

    Args:
        clock_hz: the NPU's clock.
        environment: a time that is shared with other machines of a board; its own if left out. Then
            `step` lets them go on too, and there is nothing to do once the NPU itself waits for
            nothing.
        dram: what its channels share with other machines, besides their path there.
        name: what its path to DRAM is called there.
    """

    def __init__(
        self,
        clock_hz: int,
        environment: Environment | None = None,
        dram: Shared | None = None,
        *,
        name: str = "NPU",
    ) -> None:
        self._name = name
        self._clock = ClockDomain("NPU", clock_hz)
        self._is_alone = environment is None
        self._dram = dram
        self._pending = 0
        self._generation = 0
        self._tick, self._now = 0, 0
        self._begin(environment if environment is not None else Environment())

    @property
    def now(self) -> int:
        """The cycle of the event at hand."""
        tick = self._environment.tick
        if tick != self._tick:
            self._tick, self._now = tick, self._clock.cycle(tick + 1)
        return self._now

    def after(self, cycles: int, action: Callable[[], None]) -> None:
        """Does something `cycles` from now."""
        tick = self._clock.edge(self.now + int(cycles))
        self._when(Timeout(self._environment, max(tick - self._environment.tick, 0)), action)

    def move(self, cycles: int, done: Callable[[], None], *, size: int = 0) -> None:
        """Starts a transfer that takes so long alone; with others it shares the path to DRAM.

        `size` bytes of it load the DRAM that other machines share.
        """
        self._when(self._link.transfer(2 * max(int(cycles), 1), traffic=size).done, done)

    def step(self) -> bool:
        """Does the next thing; False when the NPU has none to come."""
        if not self._pending:
            return False
        self._environment.step()
        return True

    def clear(self) -> None:
        """Forgets what was to come and what was under way; time goes on from here."""
        self._link.close()
        self._pending = 0
        self._generation += 1
        self._begin(Environment(self._environment.tick) if self._is_alone else self._environment)

    def _when(self, event: Event, action: Callable[[], None]) -> None:
        self._pending += 1
        generation = self._generation

        def happen(_: Event) -> None:
            if generation == self._generation:  # or it was forgotten
                self._pending -= 1
                action()

        assert event.callbacks is not None
        event.callbacks.append(happen)

    def _begin(self, environment: Environment) -> None:
        self._environment = environment
        self._link = Link(environment, self._name, 2 * self._clock.hz, beyond=self._dram)

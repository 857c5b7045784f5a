"""SimPy's environment with time in whole ticks."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import simpy
from simpy.core import SimTime
from simpy.events import NORMAL, Event, EventPriority, Process

from .time import ClockDomain

Steps = Generator[Event, Any, Any]
"""What a process is: a generator that yields what it waits for."""


class FractionalTime(ValueError):
    """A delay that is no whole number of ticks, or a negative one; the message names the event."""


class Environment(simpy.Environment):
    """A simulation whose time is an integer: ticks, as `time` defines them.

    Processes, events and resources are SimPy's own. Events of one tick happen in the order in which
    they were scheduled, so that a run is a function of its inputs.
    """

    def __init__(self, initial_tick: int = 0) -> None:
        super().__init__(initial_tick)

    @property
    def tick(self) -> int:
        """The current time."""
        return int(self.now)

    def start(self, steps: Steps) -> Process:
        """Run a process from now on."""
        return Process(self, steps)

    def wait_cycles(self, domain: ClockDomain, cycles: int) -> Event:
        """An event `cycles` edges of a clock after the edge that is next, or now."""
        edge = domain.next_edge(self.tick)
        return simpy.Timeout(self, domain.edge(domain.cycle(edge) + cycles) - self.tick)

    def finish(self) -> int:
        """Run until nothing is left to happen; the tick of the last event."""
        self.run()
        return self.tick

    def schedule(self, event: Event, priority: EventPriority = NORMAL, delay: SimTime = 0) -> None:
        """Put an event on the list. Raises FractionalTime for a delay that is no tick."""
        if type(delay) is not int or delay < 0:
            raise FractionalTime(
                f"{event!r}: a delay of {delay!r} is not a whole, positive number of ticks; round "
                "it with ticks_of, or take the edges of a ClockDomain"
            )
        super().schedule(event, priority, delay)

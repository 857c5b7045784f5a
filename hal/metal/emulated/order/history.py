"""What queues and host have done so far in a checked program, and what of it may still meet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from assay.sim.site import Site

from .clock import NOTHING, Clock, joined
from .explain import aliased_finding, clash_finding
from .flight import Flight, Use
from .notes import PassNotes
from .ordered import is_ordered
from .tick import tick
from .touches import CommandsRun, HostStep, PassRun, Step, Touch, clash

if TYPE_CHECKING:
    from assay.sim.check import Checker

    from ..commands.event import MTLEvent, MTLFence
    from ..commands.queue import MTLCommandQueue

_MOST_SIGNALS = 64  # that are kept of an event although the host knows of them
_queue_numbers = count(1)


@dataclass(slots=True)
class _Queue:
    """What a queue has run: passes are numbered from 1 on.

    `gate` is what all later passes come after, `done` what has ended when they all have.
    """

    key: int = field(default_factory=lambda: next(_queue_numbers))
    passes: int = 0
    gate: Clock = NOTHING
    done: Clock = NOTHING


class History:
    """One checker's view of a program. Thread-safe.

    The host counts as one sequence of actions, whichever thread acts: what its threads tell each
    other is not seen.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._queues: WeakKeyDictionary[MTLCommandQueue, _Queue] = WeakKeyDictionary()
        self._fences: WeakKeyDictionary[MTLFence, Clock] = WeakKeyDictionary()
        self._signals: WeakKeyDictionary[MTLEvent, list[tuple[int, Clock]]] = WeakKeyDictionary()
        self._host = NOTHING
        # Committed and not known to the host to have ended.
        self._pending: dict[CommandsRun, Clock | None] = {}
        self._touches: dict[int, list[Touch]] = {}
        self._buffers = 0
        self._flight = Flight()
        # Handles of what commands may write; handles are not soon used again.
        self._written: set[int] = set()
        # Kernels run one at a time while their accesses are read from the shadows.
        self.turn = threading.Lock()

    # The host

    def committed(
        self, label: str, site: Site, uses: Sequence[Use], checker: Checker
    ) -> CommandsRun:
        """The host commits a command buffer that may use these resources."""
        with self._lock:
            self.look(checker)
            self._buffers += 1
            name = f"'{label}'" if label else str(self._buffers)
            run = CommandsRun(name=f"command buffer {name}", site=site, clock=self._now())
            self._pending[run] = None
            self._written.update(use.resource.handle for use in uses if use.writes)
            self._flight.begins(run, uses)
            return run

    def may_be_written(self, handle: int) -> bool:
        """Whether a committed command buffer may write to what has this handle."""
        return handle in self._written

    def look(self, checker: Checker) -> None:
        """Take what the host has done to memory of command buffers in flight."""
        with self._lock:
            for seen in self._flight.seen():
                step = HostStep(
                    what="at this line or just before", site=seen.site, clock=self._now()
                )
                self.add(self._flight.touches(seen, step), checker)

    def host_touches(
        self, made: Callable[[HostStep], Touch | None], site: Site, checker: Checker
    ) -> None:
        """The host touches memory now, by a call that says which."""
        with self._lock:
            step = HostStep(what="", site=site, clock=self._now())
            self.add([made(step)], checker)

    def host_knows(self, run: CommandsRun, checker: Checker) -> None:
        """The host learns that a command buffer has ended."""
        with self._lock:
            done = self._pending.get(run)
            if done is not None:
                self.look(checker)
                self._learn(done)

    def host_signals(self, event: MTLEvent, value: int, checker: Checker) -> None:
        """The host is about to set an event."""
        with self._lock:
            self.look(checker)
            self._note_signal(event, value, self._now(), checker)

    def host_sees(self, event: MTLEvent, value: int, checker: Checker) -> None:
        """The host learns that an event has reached a value."""
        with self._lock:
            self.look(checker)
            clocks = [clock for at, clock in self._signals.get(event, ()) if at <= value]
            if clocks:
                self._learn(joined(*clocks))

    def _now(self) -> Clock:
        return Clock(passes=self._host.passes, others=self._host.others, host=tick())

    def _learn(self, done: Clock) -> None:
        self._host = joined(self._host, done)
        for run, end in list(self._pending.items()):
            if end is not None and self._host.includes(end):
                del self._pending[run]
                self._flight.ends(run)
        self._forget()

    # The queues

    def begins(self, queue: MTLCommandQueue, commands: CommandsRun, notes: PassNotes) -> PassRun:
        """A queue takes up the next pass."""
        with self._lock:
            state = self._queue(queue)
            state.passes += 1
            fences = [self._fences.get(fence, NOTHING) for fence in notes.waits]
            run = PassRun(
                queue=state.key,
                number=state.passes,
                before=joined(commands.clock, state.gate, *fences),
                notes=notes,
                commands=commands,
            )
            state.done = joined(state.done, run.before).with_queue(state.key, state.passes)
            for fence in notes.updates:
                known = self._fences.get(fence, NOTHING)
                self._fences[fence] = joined(known, run.before).with_pass(run.queue, run.number)
            return run

    def signals(
        self, queue: MTLCommandQueue, event: MTLEvent, value: int, checker: Checker
    ) -> None:
        """A queue is about to set an event, after all that it has run."""
        with self._lock:
            state = self._queue(queue)
            self._note_signal(event, value, joined(state.done, state.gate), checker)

    def waited(self, queue: MTLCommandQueue, event: MTLEvent, value: int) -> None:
        """A queue has waited for an event, before all that it will run."""
        with self._lock:
            reached = [(at, clock) for at, clock in self._signals.get(event, ()) if at >= value]
            if reached:
                # The least value that is enough: more is not promised.
                state = self._queue(queue)
                state.gate = joined(state.gate, min(reached, key=lambda signal: signal[0])[1])

    def ended(self, queue: MTLCommandQueue, run: CommandsRun) -> None:
        """A queue has run a command buffer to its end."""
        with self._lock:
            self._pending[run] = self._queue(queue).done

    def _queue(self, queue: MTLCommandQueue) -> _Queue:
        return self._queues.setdefault(queue, _Queue())

    def _note_signal(self, event: MTLEvent, value: int, clock: Clock, checker: Checker) -> None:
        event.seen_by[self] = checker
        signals = self._signals.setdefault(event, [])
        signals.append((value, clock))
        if len(signals) > _MOST_SIGNALS:
            signals[:] = [
                (at, each)
                for at, each in signals
                if at == value or not (self._host.includes(each) and not each.others)
            ]

    # What they touch

    def add(self, touches: Iterable[Touch | None], checker: Checker) -> None:
        """Compare touches with what came before, report what is not ordered, and keep them."""
        with self._lock:
            for touch in touches:
                if touch is not None:
                    self._add(touch, checker)

    def _add(self, touch: Touch, checker: Checker) -> None:
        aliased = touch.resource.aliased
        if isinstance(touch.step, Step) and 0 < aliased < touch.step.tick:
            checker.report(aliased_finding(touch))
        for earlier in self._near(touch):
            if not is_ordered(touch, earlier):
                found = clash(touch, earlier)
                if found is not None:
                    checker.report(clash_finding(found))
        if self._pending:
            self._touches.setdefault(_region(touch), []).append(touch)

    def _near(self, touch: Touch) -> list[Touch]:
        return [
            earlier
            for earlier in self._touches.get(_region(touch), ())
            if earlier.low < touch.high and touch.low < earlier.high
        ]

    def _forget(self) -> None:
        """Let go of touches that everything to come is ordered after."""
        if not self._pending:
            self._touches.clear()
            return
        clocks = [run.clock for run in self._pending]
        for region, touches in list(self._touches.items()):
            kept = [each for each in touches if not self._is_past(each, clocks)]
            if kept:
                self._touches[region] = kept
            else:
                del self._touches[region]

    def _is_past(self, touch: Touch, clocks: list[Clock]) -> bool:
        step = touch.step
        if isinstance(step, HostStep):
            return all(clock.host >= step.clock.host for clock in clocks)
        run = step.run
        return all(clock.covers(run.queue, run.number) for clock in (*clocks, self._host))


def _region(touch: Touch) -> int:
    """What touches of one piece of memory have in common: where the memory below them begins."""
    data = touch.resource.data
    while data.base is not None and hasattr(data.base, "ctypes"):
        data = data.base
    return int(data.ctypes.data)

"""The order in which a program's work counts, which is the same in every run of the program.

Queues run on threads of their own, and which is first is chance. Here everything has its turn by
what the program did: a commit, or a signal of the program, lets the GPU do all that it can before
the program's next call counts; of command buffers that can go on the one that was committed first
does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event that the queue waits for, or that it signals."""

    number: int
    value: int
    is_wait: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a command buffer does next: `take` is called when it has its turn."""

    take: Callable[[], None]
    event: Event | None = None


@dataclass(slots=True)
class _Buffer:
    """A command buffer: steps that its queue's thread has come to, but that had no turn yet."""

    steps: deque[Step] = field(default_factory=deque)
    has_ended: bool = False


class ProgramOrder:
    """Told of everything as it comes, on whatever thread; gives turns as far as that is known.

    Not safe for use by several threads at a time.
    """

    def __init__(self) -> None:
        self._buffers: dict[int, _Buffer] = {}
        self._queues: dict[int, deque[int]] = {}
        self._values: dict[int, int] = {}
        self._calls: deque[Callable[[], None]] = deque()

    def is_next(self, buffer: int) -> bool:
        """Whether a step of `buffer` that arrived now would have its turn at once."""
        return self._next() == buffer and not self._buffers[buffer].steps

    def seen(self, event: int, value: int) -> None:
        """The program names an event, which is at `value` unless the order knows better."""
        self._values.setdefault(event, value)

    def committed(self, buffer: int, queue: int) -> None:
        """The program commits; numbers of command buffers rise."""
        self._buffers[buffer] = _Buffer()
        waiting = self._queues.setdefault(queue, deque())
        self._calls.append(lambda: waiting.append(buffer))
        self._advance()

    def signalled(self, event: int, value: int) -> None:
        """The program itself sets an event."""
        self._calls.append(lambda: self._values.__setitem__(event, value))
        self._advance()

    def arrived(self, buffer: int, step: Step) -> None:
        """The queue's thread is at a step."""
        self._buffers[buffer].steps.append(step)
        self._advance()

    def ended(self, buffer: int) -> None:
        """Nothing more comes of a command buffer."""
        self._buffers[buffer].has_ended = True
        self._advance()

    def finish(self) -> None:
        """Give turns to all that is there, also to what waits for a signal that was not seen."""
        while True:
            self._advance()
            late = [number for number in self._heads() if not self._is_waited_for(number)]
            if late:
                self._take(min(late))
            elif self._calls:
                self._calls.popleft()()
            else:
                return

    def _advance(self) -> None:
        while True:
            number = self._next()
            if number is None:
                if not self._calls:
                    return
                self._calls.popleft()()
            elif self._is_waited_for(number):
                return
            else:
                self._take(number)

    def _heads(self) -> Iterable[int]:
        return (waiting[0] for waiting in self._queues.values() if waiting)

    def _next(self) -> int | None:
        """The command buffer whose turn it is: the first of those that no event holds up."""
        return min((number for number in self._heads() if not self._is_held(number)), default=None)

    def _is_held(self, number: int) -> bool:
        buffer = self._buffers[number]
        event = buffer.steps[0].event if buffer.steps else None
        return event is not None and event.is_wait and self._values[event.number] < event.value

    def _is_waited_for(self, number: int) -> bool:
        """Whether the thread has yet to say what the command buffer does next."""
        buffer = self._buffers[number]
        return not buffer.steps and not buffer.has_ended

    def _take(self, number: int) -> None:
        buffer = self._buffers[number]
        if not buffer.steps:
            del self._buffers[number]
            next(each for each in self._queues.values() if each and each[0] == number).popleft()
            return
        step = buffer.steps.popleft()
        if step.event is not None:
            reached = max(step.event.value, self._values[step.event.number])
            self._values[step.event.number] = reached
        step.take()

"""What is ordered in a planned program: by paths in a graph of everything that happens in it.

Slow and plain on purpose; the check it judges keeps clocks instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .plan import Access, Buffer, Command, Pass, Plan

Home = "tuple[Buffer, Pass] | None"


class Oracle:
    """The order of one plan."""

    def __init__(self, plan: Plan) -> None:
        from .plan import Access, Buffer

        self._plan = plan
        self._next: dict[object, set[object]] = {}
        self.homes: dict[object, tuple[Buffer, Pass] | None] = {}
        self._add_host()
        buffers = [step for step in plan.steps if isinstance(step, Buffer)]
        for queue in sorted({buffer.queue for buffer in buffers}):
            self._add_queue([buffer for buffer in buffers if buffer.queue == queue])
        self.actors: list[Command | Access] = []
        for step in plan.steps:
            if isinstance(step, Buffer):
                self.actors += [command for each in step.passes for command in each.commands]
            elif isinstance(step, Access):
                self.actors.append(step)
                self.homes[step] = None

    def _edge(self, first: object, second: object) -> None:
        self._next.setdefault(first, set()).add(second)

    def _add_host(self) -> None:
        from .plan import Wait

        before: object = "start"
        for step in self._plan.steps:
            if isinstance(step, Wait):
                if step.sync.left_out:
                    continue
                self._edge(("end", step.buffer), step)
            self._edge(before, step)
            before = step

    def _add_queue(self, buffers: list[Buffer]) -> None:
        """Passes of a queue start in order, and only waits for events hold up later ones."""
        so_far: list[object] = []
        gates: list[object] = []
        updates: dict[object, list[object]] = {}
        for buffer in buffers:
            for place in range(len(buffer.passes) + 1):
                for at, sync in buffer.signals:
                    if at == place and not sync.left_out:
                        for each in (*so_far, *gates):
                            self._edge(each, ("event", sync))
                for at, sync in buffer.waits:
                    if at == place and not sync.left_out:
                        gates.append(gate := ("gate", sync, buffer))
                        self._edge(("event", sync), gate)
                if place < len(buffer.passes):
                    self._add_pass(buffer, buffer.passes[place], gates, updates)
                    so_far += buffer.passes[place].commands
            for each in (*so_far, *gates):
                self._edge(each, ("end", buffer))

    def _add_pass(
        self,
        buffer: Buffer,
        each: Pass,
        gates: list[object],
        updates: dict[object, list[object]],
    ) -> None:
        fences = [sync for sync in each.waits if not sync.left_out]
        for command in each.commands:
            self.homes[command] = (buffer, each)
            for before in (buffer, *gates, *(c for sync in fences for c in updates.get(sync, []))):
                self._edge(before, command)
        if each.kind != "concurrent":
            for first, second in zip(each.commands, each.commands[1:], strict=False):
                self._edge(first, second)
        for sync in each.updates:
            if not sync.left_out:
                updates.setdefault(sync, []).extend(each.commands)

    def is_path(self, first: object, second: object) -> bool:
        """Whether one thing always ends before another begins."""
        seen, pending = {first}, [first]
        while pending:
            for each in self._next.get(pending.pop(), ()):
                if each is second:
                    return True
                if each not in seen:
                    seen.add(each)
                    pending.append(each)
        return False

    def is_ordered(self, first: object, second: object, buffer: int) -> bool:
        """Whether two accesses to a buffer are ordered, the first one being first."""
        here, there = self.homes[first], self.homes[second]
        if here is None and there is None:
            return True
        if here is not None and there is not None:
            if here[1] is there[1] and here[1].kind == "concurrent":
                return _has_barrier(here[1], first, second, buffer)
            tracked = self._plan.modes[buffer] in ("tracked", "tracked heap")
            if tracked and here[0].queue == there[0].queue:
                return True
        return self.is_path(first, second)


def _has_barrier(each: Pass, first: object, second: object, buffer: int) -> bool:
    commands: list[object] = list(each.commands)
    start, end = commands.index(first), commands.index(second)
    return any(
        start < place <= end
        for place, sync in each.barriers
        if not sync.left_out and (not sync.buffers or buffer in sync.buffers)
    )


def clashes(plan: Plan) -> Iterator[tuple[object, object]]:
    """Pairs that touch the same place without an order, the first by the text of the program."""
    return ((first, second) for first, second, _ in judged(plan))


def judged(plan: Plan) -> Iterator[tuple[object, object, int]]:
    """Such pairs with the buffer that they meet in."""
    oracle = Oracle(plan)
    for at, second in enumerate(oracle.actors):
        for first in oracle.actors[:at]:
            for buffer in sorted(_meeting(first, second)):
                if not oracle.is_ordered(first, second, buffer):
                    yield first, second, buffer


def _meeting(first: Command | Access, second: Command | Access) -> set[int]:
    return {
        place[0]
        for place, write, atomic in first.uses()
        for other, also, so in second.uses()
        if place == other and (write or also) and not (atomic and so)
    }

"""Follows the commands of a checked command buffer while its queue runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from assay.sim.simt.run.accesses import Accesses, AccessLog

from .flight import Use
from .footprints import footprints
from .history import History
from .hooks import thread
from .notes import Encoded, PassNotes
from .resources import Resource, resources_of
from .touches import CommandsRun, PassRun, Step, Touch, Way, touch, way_of
from .where import caller

if TYPE_CHECKING:
    from assay.sim.check import Checker

    from ..commands.commandbuffer import MTLCommandBuffer
    from ..commands.commands import Command, DispatchCommand

_NO_STEP = Encoded()


class Running:
    """One committed command buffer.

    Its commands come in order, each inside `command`; dispatches among them through `dispatch`.
    """

    def __init__(self, buffer: MTLCommandBuffer, history: History, checker: Checker) -> None:
        self.history = history
        self.checker = checker
        self._buffer = buffer
        self._passes = _passes_of(buffer)
        uses = list(_uses(buffer, self._passes))
        self.run: CommandsRun = history.committed(buffer.label() or "", caller(), uses, checker)
        self._pass: PassRun | None = None
        self._next = 0
        self._step = _NO_STEP

    def command(self, place: int, command: Command, run: Callable[[], None]) -> None:
        """Run the command at `place`."""
        from ..commands.commands import SignalCommand, WaitCommand

        queue = self._buffer.commandQueue()
        self._arrive(place)
        if isinstance(command, SignalCommand):
            self.history.signals(queue, command.event, command.value, self.checker)
        elif self._pass is not None:
            self.history.add(self._copied(self._pass, command), self.checker)
        thread.follower = self
        try:
            run()
        finally:
            thread.follower = None
        if isinstance(command, WaitCommand):
            self.history.waited(queue, command.event, command.value)

    def dispatch(self, command: DispatchCommand, run: Callable[[AccessLog], None]) -> None:
        """Run a grid, and note what it touches."""
        log = AccessLog(self.history.may_be_written)
        with self.history.turn:
            try:
                run(log)
            finally:
                if self._pass is not None:
                    touches = self._touched(self._pass, command, log.found)
                    self.history.add(touches, self.checker)

    def host_knows(self) -> None:
        """The host learns that the commands have run."""
        self.history.host_knows(self.run, self.checker)

    def ended(self) -> None:
        """All commands have run, or one has failed."""
        self._arrive(len(self._buffer.commands))
        self.history.ended(self._buffer.commandQueue(), self.run)

    def _arrive(self, place: int) -> None:
        """Take up the passes up to the command at `place`."""
        while self._next < len(self._passes) and self._passes[self._next][0] <= place:
            notes = self._passes[self._next][1]
            self._pass = self.history.begins(self._buffer.commandQueue(), self.run, notes)
            self._next += 1
        self._step = self._pass.notes.steps.get(place, _NO_STEP) if self._pass else _NO_STEP

    def _copied(self, run: PassRun, command: Command) -> Iterator[Touch | None]:
        for what, resource, way in footprints(command):
            run.notes.declared.setdefault(resource.handle, resource)
            step = Step(
                run=run,
                what=what,
                number=self._step.number,
                site=self._step.site,
                tick=self._step.tick,
            )
            yield touch(step, resource, [way])

    def _touched(
        self, run: PassRun, command: DispatchCommand, found: Iterable[Accesses]
    ) -> Iterator[Touch | None]:
        kernel = command.pipeline.kernel.name
        number = self._step.number
        step = Step(
            run=run,
            what=f"dispatch {number} ('{kernel}')" if number else f"a dispatch of '{kernel}'",
            kernel=kernel,
            number=number,
            group=command.ordering,
            site=self._step.site,
            tick=self._step.tick,
        )
        reached = _reached(run.notes, command)
        by_handle: dict[int, list[Accesses]] = {}
        for each in found:
            by_handle.setdefault(each.handle, []).append(each)
        for handle, accesses in by_handle.items():
            resource = reached.get(handle)
            if resource is not None:
                ways: list[Way] = [way_of(each, resource) for each in accesses]
                yield touch(step, resource, ways)


def _reached(notes: PassNotes, command: DispatchCommand) -> dict[int, Resource]:
    """By handle all that a dispatch can reach."""
    found = dict(notes.declared)
    reach = command.reach
    if reach is None:
        return found
    sets = (chosen.committed for chosen in chain.from_iterable(reach.sets))
    for thing in chain(reach.heaps, chain.from_iterable(sets)):
        for resource in resources_of(thing):
            found.setdefault(resource.handle, resource)
    return found


def _uses(buffer: MTLCommandBuffer, passes: Iterable[tuple[int, PassNotes]]) -> Iterator[Use]:
    """What a command buffer may use, as far as it is known when it is committed."""
    for _, notes in passes:
        for handle, resource in notes.declared.items():
            yield Use(resource=resource, writes=handle in notes.written)
    for command in buffer.commands:
        for _, resource, way in footprints(command):
            yield Use(resource=resource, writes=way.write)
    sets = chain(buffer.residency_sets, buffer.commandQueue().residency_sets)
    for thing in chain.from_iterable(chosen.committed for chosen in sets):
        for resource in resources_of(thing):
            yield Use(resource=resource, writes=True)


def _passes_of(buffer: MTLCommandBuffer) -> list[tuple[int, PassNotes]]:
    """Where each encoder's commands begin, and what it told."""
    found = []
    for number, (mark, notes) in enumerate(zip(buffer.passes, buffer.notes, strict=True), start=1):
        if notes is None:
            notes = _guessed(buffer, is_compute=mark.is_compute)
        notes.number, notes.label = number, mark.label
        found.append((mark.first, notes))
    return found


def _guessed(buffer: MTLCommandBuffer, *, is_compute: bool) -> PassNotes:
    """What is known of an encoder that ended before checks began."""
    notes = PassNotes(is_concurrent=True, is_compute=is_compute, is_complete=False)
    for thing in buffer.retained.values():
        notes.use(thing)
    return notes

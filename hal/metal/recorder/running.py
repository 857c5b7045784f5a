"""Runs the commands of one command buffer, dispatches to be recorded each by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .bindings import Bindings
from .dispatches import Taken, size_of
from .encoders import Pass, Step
from .memory import contents_of
from .programs import NotRecorded
from .proxy import real_of

if TYPE_CHECKING:
    from .allocations import ResidencySet
    from .commands import Queue
    from .session import Session


class Run:
    """The commands of a command buffer, in as many real ones as it takes.

    Attributes:
        last: the real command buffer that was committed last.
        error: what stopped them, or None.
        begin, end: GPU times of all.
    """

    def __init__(self, session: Session, queue: Queue, commands: Any) -> None:
        self._session = session
        self._queue = queue.real
        self._queued = queue.resident
        self._commands = commands
        self._is_empty = True
        self._committed = False
        self._open: tuple[Pass, Any] | None = None
        self._states: dict[int, Bindings] = {}
        self._resident: list[ResidencySet] = []
        self.last = commands
        self.error: Any = None
        self.begin = 0.0
        self.end = 0.0

    def steps(self, steps: Sequence[Step]) -> None:
        """Run all steps up to the first that the device fails at."""
        for step in steps:
            step(self)
            if self.error is not None:
                return
        if not self._committed:
            self._is_empty = False  # one that has nothing to do ends, too
        self._flush()

    def command(self, name: str, given: tuple[Any, ...]) -> None:
        """A command of the command buffer itself, such as a signal."""
        self._close()
        self._is_empty = False
        getattr(self._commands, name)(*given)

    def make_resident(self, chosen: ResidencySet) -> None:
        """Let later dispatches reach what a residency set has."""
        self._resident.append(chosen)
        self._commands.useResidencySet_(chosen.real)

    def encode(self, of: Pass, name: str, given: tuple[Any, ...]) -> None:
        """A command of an encoder."""
        if of.is_compute and name.startswith(("set", "use")):
            # Before what is open takes it: a fresh encoder gets it with all the rest.
            opened = self._is_open(of)
            self._state(of).take(name, given)
            if not opened:
                return
            given = tuple(map(real_of, given))
        getattr(self._encoder(of), name)(*given)
        if name.startswith("executeCommands"):
            self._session.writer.leave_out("commands of an indirect command buffer")

    def end_pass(self, of: Pass) -> None:
        """An encoder ends."""
        if self._is_open(of):
            self._close()
        self._states.pop(id(of), None)

    def dispatch(self, of: Pass, name: str, given: tuple[Any, ...], label: str) -> None:
        """A dispatch: recorded if it was chosen."""
        state = self._state(of)
        if state.pipeline is None or not self._session.chooses(state.pipeline.name):
            getattr(self._encoder(of), name)(*given)
            return
        self._flush()
        try:
            grid = size_of(self, name, given)
            resident = (*self._queued, *self._resident)
            taken = Taken(self._session, self._queue, state, grid, label, resident)
        except NotRecorded as reason:
            self._session.writer.leave_out(str(reason))
            getattr(self._encoder(of), name)(*given)
            return
        getattr(self._encoder(of), name)(*given)
        done = self._flush()
        taken.finish(done)

    def contents(self, buffer: Any) -> memoryview:
        """What a buffer holds now."""
        return contents_of(self._session.api, self._queue, buffer)

    def _state(self, of: Pass) -> Bindings:
        return self._states.setdefault(id(of), Bindings())

    def _is_open(self, of: Pass) -> bool:
        return self._open is not None and self._open[0] is of

    def _encoder(self, of: Pass) -> Any:
        """The real encoder of a pass, opened if need be."""
        if self._open is not None and self._open[0] is of:
            return self._open[1]
        self._close()
        encoder = getattr(self._commands, of.make)(*of.given)
        self._open = (of, encoder)
        self._is_empty = False
        if of.label:
            encoder.setLabel_(of.label)
        if of.is_compute:
            self._state(of).apply(encoder)
        return encoder

    def _close(self) -> None:
        if self._open is not None:
            self._open[1].endEncoding()
            self._open = None

    def _flush(self) -> Any:
        """Run what was encoded, to its end; the real command buffer."""
        self._close()
        done = self._commands
        if self._is_empty:
            return done
        done.commit()
        self._committed = True
        done.waitUntilCompleted()
        self.last = done
        self.error = done.error()
        self.begin = self.begin or float(done.GPUStartTime())
        self.end = float(done.GPUEndTime())
        self._commands = self._queue.commandBuffer()
        for chosen in self._resident:
            self._commands.useResidencySet_(chosen.real)
        self._is_empty = True
        return done

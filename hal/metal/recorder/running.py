"""Runs the commands of one command buffer, dispatches to be recorded each by itself."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from .bindings import Bindings
from .dispatches import Taken, size_of
from .encoders import Pass, Step
from .indirect import IndirectCommands
from .memory import contents_of
from .programs import NotRecorded, Pipeline
from .proxy import real_of

if TYPE_CHECKING:
    from .allocations import ResidencySet
    from .commands import CommandBuffer, Queue
    from .session import Session

Call = tuple[str, tuple[Any, ...]]
_WAITS = "encodeWait"
_WITH_RANGE = 2  # arguments of executeCommandsInBuffer_withRange_


class Run:
    """The commands of a command buffer, in as many real ones as it takes.

    Attributes:
        last: the real command buffer that was committed last.
        error: what stopped them, or None.
        begin, end: GPU times of all.
    """

    def __init__(self, session: Session, commands: CommandBuffer, queue: Queue) -> None:
        self._session = session
        self._of = commands
        self._queue = queue.own
        self._queued = queue.resident
        self._commands: Any = commands.real  # None: the next one is not made yet
        self._is_empty = True
        self._committed = False
        self._open: tuple[Pass, Any] | None = None
        self._states: dict[int, Bindings] = {}
        self._resident: list[ResidencySet] = []
        self.last = commands.real
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
        waits = name.startswith(_WAITS)
        if waits:
            self._flush()
        self._close()
        self._is_empty = False
        getattr(self._open_commands(), name)(*given)
        if waits:  # by itself: what it waits for may be of another queue
            self._flush(alone=False)

    def make_resident(self, chosen: ResidencySet) -> None:
        """Let later dispatches reach what a residency set has."""
        self._open_commands().useResidencySet_(chosen.real)
        self._resident.append(chosen)

    def encode(self, of: Pass, name: str, given: tuple[Any, ...]) -> None:
        """A command of an encoder."""
        if of.is_compute and name.startswith(("set", "use")):
            # Before what is open takes it: a fresh encoder gets it with all the rest.
            if name == "setComputePipelineState_" and not isinstance(given[0], Pipeline):
                given = (Pipeline(given[0], self._session),)  # made beside the recording
            opened = self._is_open(of)
            self._state(of).take(name, given)
            if not opened:
                return
            given = tuple(map(real_of, given))
        if name.startswith("executeCommands"):
            self._execute(of, name, given)
            return
        for each in given:
            if isinstance(each, IndirectCommands):
                each.device_writes()  # it copies or resets commands
        getattr(self._encoder(of), name)(*map(real_of, given))

    def end_pass(self, of: Pass) -> None:
        """An encoder ends."""
        if self._is_open(of):
            self._close()
        self._states.pop(id(of), None)

    def dispatch(self, of: Pass, name: str, given: tuple[Any, ...], label: str) -> None:
        """A dispatch: recorded if it was chosen."""
        self._dispatch(of, self._state(of), (name, given), label, (name, given))

    def _dispatch(self, of: Pass, state: Bindings, dispatch: Call, label: str, run: Call) -> None:
        """Record a dispatch that the encoder runs by `run`, if it was chosen."""
        name, given = run
        if state.pipeline is None or not self._session.chooses(state.pipeline.name):
            getattr(self._encoder(of), name)(*given)
            return
        self._flush()
        if self.error is not None:
            self._session.leave_out("dispatches behind an error of their command buffer")
            return
        # What other queues write meanwhile would be taken for the dispatch's.
        with self._session.alone:
            self._record(of, state, dispatch, label, run)

    def _record(self, of: Pass, state: Bindings, dispatch: Call, label: str, run: Call) -> None:
        name, given = run
        try:
            grid = size_of(self, *dispatch)
            resident = (*self._queued, *self._resident)
            taken = Taken(self._session, self._queue, state, grid, label, resident)
        except NotRecorded as reason:
            self._session.leave_out(str(reason))
            getattr(self._encoder(of), name)(*given)
            return
        getattr(self._encoder(of), name)(*given)
        done = self._flush()
        taken.finish(done)

    def _execute(self, of: Pass, name: str, given: tuple[Any, ...]) -> None:
        """Commands of an indirect command buffer, one by one if it is known what they do."""
        commands = given[0]
        if not isinstance(commands, IndirectCommands) or not commands.is_known:
            getattr(self._encoder(of), name)(*map(real_of, given))
            self._session.writer.leave_out("indirect command buffers that the device writes")
            return
        start, count = self._span(given)
        for index in range(start, start + count):
            found = commands.command(index, self._state(of))
            if found is None:
                continue
            bindings, command = found
            assert command.dispatch is not None
            run = ("executeCommandsInBuffer_withRange_", (commands.real, (index, 1)))
            self._dispatch(of, bindings, command.dispatch, of.label, run)

    def _span(self, given: tuple[Any, ...]) -> tuple[int, int]:
        """Which commands are executed; a range that lies in a buffer is read now."""
        if len(given) == _WITH_RANGE:
            return int(given[1][0]), int(given[1][1])
        self._flush()
        start, count = struct.unpack_from("<2I", self.contents(given[1]), int(given[2]))
        return start, count

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
        encoder = getattr(self._open_commands(), of.make)(*of.given)
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

    def _open_commands(self) -> Any:
        """The real command buffer that commands go to."""
        if self._commands is None:
            self._commands = self._of.another()
            for chosen in self._resident:
                self._commands.useResidencySet_(chosen.real)
        return self._commands

    def _flush(self, *, alone: bool = True) -> Any:
        """Run what was encoded, to its end; the real command buffer.

        `alone` says that nothing of other queues runs meanwhile.
        """
        self._close()
        if self._is_empty:
            return self.last
        done = self._open_commands()
        with self._session.alone if alone else nullcontext():
            done.commit()
            done.waitUntilCompleted()
        self._committed = True
        self.last = done
        self.error = done.error()
        self.begin = self.begin or float(done.GPUStartTime())
        self.end = float(done.GPUEndTime())
        self._commands = None
        self._is_empty = True
        return done

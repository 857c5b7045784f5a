"""Logs what a program hands to the emulated device, and predicts each dispatch."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ..emulated.commands import commands as metal
from ..emulated.commands.checking import kernel_of, sources_of
from ..emulated.commands.timing import Place, events_of, threadgroups_in
from .order import Event, ProgramOrder, Step
from .prediction import Prediction, Predictor

if TYPE_CHECKING:
    from ..emulated import MTLCommandBuffer, MTLDevice, MTLEvent
    from ..emulated.commands.timing import PassMark

Size = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched:
    """One dispatch: `group` is equal for those that may overlap; `sources` are texts by file."""

    kernel: str
    file: str
    line: int
    grid: Size
    threadgroup: Size
    group: int
    prediction: Prediction
    sources: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """A copy or fill: bytes that are read and written."""

    name: str
    bytes: int


@dataclass(slots=True, kw_only=True)
class PassLog:
    """What one encoder recorded."""

    label: str
    is_compute: bool
    work: list[Dispatched | Copied] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class BufferLog:
    """What a command buffer ran."""

    label: str
    queue: int
    steps: list[PassLog | Event] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLog:
    """The program committed command buffer number `buffer`, or waited for its end."""

    buffer: int
    is_wait: bool


class _Numbers:
    """Numbers things in the order in which they are first seen; none is ever given twice."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[object, int] = weakref.WeakKeyDictionary()
        self._count = 0

    def number(self, thing: object) -> int:
        """The number of `thing`."""
        found = self._known.get(thing)
        if found is None:
            found = self._known[thing] = self._count
            self._count += 1
        return found


class ProgramTimer:
    """Logs command buffers in the order of their commits, with a prediction for each dispatch.

    Predictions are made in the program's order, not in that in which threads of queues happen to
    run: a dispatch whose turn has not come is looked at when it runs, and predicted later.

    Args:
        predict: asked about each dispatch.
        results: whether dispatches run as usual. If not, only what is sampled is executed, and
            what the program computes is wrong.
        say: called with what is going on, in a few words.
        took: called for each dispatch and copy when it is logged, with the number of its queue.
    """

    def __init__(
        self,
        predict: Predictor,
        *,
        results: bool = True,
        say: Callable[[str], None] | None = None,
        took: Callable[[int, Dispatched | Copied], None] | None = None,
    ) -> None:
        self.buffers: list[BufferLog] = []
        self.calls: list[HostLog] = []
        self.failures: list[str] = []
        """Dispatches that could not be predicted, and why; programs with results run on."""
        self.dispatches = 0
        self._predict = predict
        self._results = results
        self._say = say
        self._took = took
        self._lock = threading.RLock()
        self._numbers: weakref.WeakKeyDictionary[object, int] = weakref.WeakKeyDictionary()
        self._sources: weakref.WeakKeyDictionary[object, Mapping[str, str]] = (
            weakref.WeakKeyDictionary()
        )
        self._queues = _Numbers()
        self._events = _Numbers()
        self._order = ProgramOrder()
        self._passes: dict[int, int] = {}
        self._predicted = 0

    def committed(self, commands: MTLCommandBuffer) -> None:
        """A command buffer gets its number, and so do its events."""
        with self._lock:
            queue = self._queues.number(commands.commandQueue())
            number = self._numbers[commands] = len(self.buffers)
            for event, value in events_of(commands):
                self._order.seen(self._events.number(event), value)
            self.calls.append(HostLog(buffer=number, is_wait=False))
            self.buffers.append(BufferLog(label=commands.label() or "", queue=queue))
            self._passes[number] = -1
            self._order.committed(number, queue)

    def signalled(self, event: MTLEvent, value: int) -> None:
        """What waits for it can go on."""
        with self._lock:
            self._order.signalled(self._events.number(event), value)

    def waited(self, commands: MTLCommandBuffer) -> None:
        """The program saw the end of a command buffer."""
        with self._lock:
            number = self._numbers.get(commands)
            if number is not None:
                self.calls.append(HostLog(buffer=number, is_wait=True))

    def begins(self, commands: MTLCommandBuffer) -> None:
        """Nothing is known yet that the commit did not tell."""

    def ends(self, commands: MTLCommandBuffer) -> None:
        """Nothing more will come."""
        with self._lock:
            self._order.ended(self._numbers[commands])

    def finish(self) -> None:
        """Predict also what has not had its turn; call it when command buffers have completed."""
        with self._lock:
            self._order.finish()

    def dispatch(
        self,
        place: Place,
        device: MTLDevice,
        command: metal.DispatchCommand,
        run: Callable[[], None],
    ) -> None:
        """Look at it, predict if it is its turn, then run."""
        with self._lock:
            self.dispatches += 1
            if self._say is not None:
                self._say(f"dispatch {self.dispatches}: {kernel_of(command.pipeline).name}")
            number = self._numbers[place.commands]
            asked = self._asked(number, device, command)
            log = partial(self._log, number, place.number, place.mark, command, asked)
            self._order.arrived(number, Step(take=log))
        if self._results:
            run()

    def _asked(
        self, number: int, device: MTLDevice, command: metal.DispatchCommand
    ) -> Callable[[], Prediction] | Exception:
        """What tells the prediction when the dispatch has its turn, or why there is none."""
        try:
            if not self._order.is_next(number):
                return self._predict.later(device, command)
            prediction = self._predict(device, command)
        except Exception as error:
            # The program itself goes on: what stops it, if anything, is its own fault.
            if not self._results:
                raise
            return error
        return lambda: prediction

    def _log(
        self,
        number: int,
        pass_number: int,
        mark: PassMark | None,
        command: metal.DispatchCommand,
        asked: Callable[[], Prediction] | Exception,
    ) -> None:
        """Log a dispatch, in the program's order."""
        kernel = kernel_of(command.pipeline)
        self._predicted += 1
        try:
            if isinstance(asked, Exception):
                raise asked
            prediction = asked()
        except Exception as error:
            self.failures.append(f"dispatch {self._predicted} of '{kernel.name}': {error}")
            return
        sources = self._sources.get(command.pipeline)
        if sources is None:
            sources = self._sources[command.pipeline] = sources_of(command.pipeline)
        dispatched = Dispatched(
            kernel=kernel.name,
            file=kernel.file,
            line=kernel.line,
            grid=threadgroups_in(command),
            threadgroup=command.threads_per_threadgroup,
            group=command.ordering,
            prediction=prediction,
            sources=sources,
        )
        self._append(number, pass_number, mark, dispatched)

    def other(self, place: Place, command: metal.Command) -> None:
        """Copies, fills, events; what else there is takes no time of the GPU worth telling."""
        with self._lock:
            number = self._numbers[place.commands]
            if isinstance(command, metal.CopyCommand):
                self._copied(number, place, Copied(name="copy", bytes=2 * command.size))
            elif isinstance(command, metal.FillCommand):
                self._copied(number, place, Copied(name="fill", bytes=command.length))
            elif isinstance(command, metal.WaitCommand | metal.SignalCommand):
                event = Event(
                    number=self._events.number(command.event),
                    value=command.value,
                    is_wait=isinstance(command, metal.WaitCommand),
                )
                take = partial(self.buffers[number].steps.append, event)
                self._order.arrived(number, Step(take=take, event=event))

    def _copied(self, number: int, place: Place, copied: Copied) -> None:
        take = partial(self._append, number, place.number, place.mark, copied)
        self._order.arrived(number, Step(take=take))

    def _append(
        self, number: int, pass_number: int, mark: PassMark | None, item: Dispatched | Copied
    ) -> None:
        self._pass_of(number, pass_number, mark).work.append(item)
        if self._took is not None:
            self._took(self.buffers[number].queue, item)

    def _pass_of(self, number: int, pass_number: int, mark: PassMark | None) -> PassLog:
        """The log of a pass, which is begun unless it is the last."""
        buffer = self.buffers[number]
        if self._passes[number] != pass_number:
            self._passes[number] = pass_number
            buffer.steps.append(
                PassLog(
                    label=mark.label if mark is not None else "",
                    is_compute=mark is None or mark.is_compute,
                )
            )
        last = buffer.steps[-1]
        assert isinstance(last, PassLog)
        return last

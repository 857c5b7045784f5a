"""Looks on at what a program hands to the emulated device, and predicts each dispatch."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.hal.metal.emulated import commands as metal
from assay.hal.metal.emulated.checking import kernel_of, sources_of
from assay.hal.metal.emulated.timing import Place, threadgroups_in

from .prediction import Prediction, Predictor

if TYPE_CHECKING:
    from assay.hal.metal.emulated import MTLCommandBuffer, MTLDevice

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event that the queue waits for, or that it signals."""

    number: int
    value: int
    is_wait: bool


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

    Args:
        predict: asked about each dispatch before it runs.
        results: whether dispatches run as usual. If not, only what is sampled is executed, and
            what the program computes is wrong.
        say: told what is going on, in a few words.
    """

    def __init__(
        self,
        predict: Predictor,
        *,
        results: bool = True,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.buffers: list[BufferLog] = []
        self.calls: list[HostLog] = []
        self.failures: list[str] = []
        """Dispatches that could not be predicted, and why; programs with results run on."""
        self.dispatches = 0
        self._predict = predict
        self._results = results
        self._say = say
        self._lock = threading.RLock()
        self._numbers: weakref.WeakKeyDictionary[object, int] = weakref.WeakKeyDictionary()
        self._sources: weakref.WeakKeyDictionary[object, Mapping[str, str]] = (
            weakref.WeakKeyDictionary()
        )
        self._queues = _Numbers()
        self._events = _Numbers()
        self._passes: dict[int, int] = {}

    def committed(self, commands: MTLCommandBuffer) -> None:
        """A command buffer gets its number."""
        with self._lock:
            queue = commands.commandQueue()
            number = self._queues.number(queue)
            self._numbers[commands] = len(self.buffers)
            self.calls.append(HostLog(buffer=len(self.buffers), is_wait=False))
            self.buffers.append(BufferLog(label=commands.label() or "", queue=number))

    def waited(self, commands: MTLCommandBuffer) -> None:
        """The program saw the end of a command buffer."""
        with self._lock:
            number = self._numbers.get(commands)
            if number is not None:
                self.calls.append(HostLog(buffer=number, is_wait=True))

    def begins(self, commands: MTLCommandBuffer) -> None:
        """No pass has begun yet."""
        with self._lock:
            self._passes[self._numbers[commands]] = -1

    def ends(self, commands: MTLCommandBuffer) -> None:
        """Nothing more will come."""
        with self._lock:
            self._passes.pop(self._numbers[commands], None)

    def dispatch(
        self,
        place: Place,
        device: MTLDevice,
        command: metal.DispatchCommand,
        run: Callable[[], None],
    ) -> None:
        """Predict, then run."""
        with self._lock:
            self.dispatches += 1
            kernel = kernel_of(command.pipeline)
            if self._say is not None:
                self._say(f"dispatch {self.dispatches}: {kernel.name}")
            try:
                prediction = self._predict(device, command)
            except Exception as error:
                # The program itself goes on: what stops it, if anything, is its own fault.
                if not self._results:
                    raise
                self.failures.append(f"dispatch {self.dispatches} of '{kernel.name}': {error}")
            else:
                self._log(place, command, prediction)
        if self._results:
            run()

    def _log(self, place: Place, command: metal.DispatchCommand, prediction: Prediction) -> None:
        kernel = kernel_of(command.pipeline)
        sources = self._sources.get(command.pipeline)
        if sources is None:
            sources = self._sources[command.pipeline] = sources_of(command.pipeline)
        self._pass_of(place).work.append(
            Dispatched(
                kernel=kernel.name,
                file=kernel.file,
                line=kernel.line,
                grid=threadgroups_in(command),
                threadgroup=command.threads_per_threadgroup,
                group=command.ordering,
                prediction=prediction,
                sources=sources,
            )
        )

    def other(self, place: Place, command: metal.Command) -> None:
        """Copies, fills, events; what else there is takes no time of the GPU worth telling."""
        with self._lock:
            if isinstance(command, metal.CopyCommand):
                self._pass_of(place).work.append(Copied(name="copy", bytes=2 * command.size))
            elif isinstance(command, metal.FillCommand):
                self._pass_of(place).work.append(Copied(name="fill", bytes=command.length))
            elif isinstance(command, metal.WaitCommand | metal.SignalCommand):
                event = Event(
                    number=self._events.number(command.event),
                    value=command.value,
                    is_wait=isinstance(command, metal.WaitCommand),
                )
                self.buffers[self._numbers[place.commands]].steps.append(event)

    def _pass_of(self, place: Place) -> PassLog:
        """The log of the pass that the queue is in."""
        number = self._numbers[place.commands]
        buffer = self.buffers[number]
        if self._passes[number] != place.number:
            self._passes[number] = place.number
            mark = place.mark
            buffer.steps.append(
                PassLog(
                    label=mark.label if mark is not None else "",
                    is_compute=mark is None or mark.is_compute,
                )
            )
        last = buffer.steps[-1]
        assert isinstance(last, PassLog)
        return last

"""Takes events while something runs: one table of columns per kind.

Recording that is switched off is `None`: a place that emits reads `if emit is not None: emit(...)`,
which costs less than any call. A recorder belongs to one thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from ..events.build import build
from ..events.clock import Clock
from ..events.content import Content, TrackDefinition
from ..events.emitters import CounterEmitter, FlowEmitter, InstantEmitter, SliceEmitter, Tables
from ..events.errors import TraceError
from ..events.kinds import CAUSES, COUNTER
from ..events.schema import ABSENT, Cause, Kind, Role, Type
from ..events.trace import Trace, Value
from .spill import Spill

_NO_VALUE: dict[Type, Value] = {Type.INTEGER: ABSENT, Type.REAL: float("nan"), Type.TEXT: ""}


class Recorder:
    """Takes tracks and events, and makes a trace of them.

    With a `file`, events go to it in small batches as they come (a `.assay-trace` file), and a
    crash leaves what was written before. Use it as a context manager then.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        title: str = "",
        file: Path | None = None,
        causes: Iterable[Cause] = CAUSES.values(),
    ) -> None:
        content = Content(clock=clock, title=title, causes=list(causes))
        self._spill = None if file is None else Spill(file, content)
        self._tables = Tables(content, self._spill)
        self._tracks: dict[tuple[str, int], int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Write what is there; the file is marked as finished only if there was no error."""
        self.close(complete=kind is None)

    @property
    def clock(self) -> Clock:
        """What a tick is."""
        return self._tables.content.clock

    def track(
        self,
        name: str,
        parent: int = -1,
        role: Role = Role.GROUP,
        *,
        unit: str = "",
        capacity: int | None = None,
        order: int = 0,
    ) -> int:
        """The track called `name` below `parent`; it is made the first time. Returns its number."""
        number = self._tracks.get((name, parent))
        if number is None:
            number = self.new_track(name, parent, role, unit=unit, capacity=capacity, order=order)
            self._tracks[name, parent] = number
        return number

    def new_track(
        self,
        name: str,
        parent: int = -1,
        role: Role = Role.GROUP,
        *,
        unit: str = "",
        capacity: int | None = None,
        order: int = 0,
    ) -> int:
        """A further track, even if there is one of this name. Returns its number."""
        return self.define(
            TrackDefinition(
                name=name, parent=parent, role=role, unit=unit, capacity=capacity, order=order
            )
        )

    def define(self, track: TrackDefinition) -> int:
        """A further track by its definition. Returns its number."""
        tracks = self._tables.content.tracks
        if not -1 <= track.parent < len(tracks):
            raise TraceError(
                f"track {track.name!r}: there is no track {track.parent} that could be its parent"
            )
        tracks.append(track)
        return len(tracks) - 1

    def name(self, text: str) -> int:
        """The number of a text, for columns of numbers that are taken at once."""
        return self._tables.names[text]

    def cause(self, name: str) -> int:
        """The number of a cause, for columns of numbers. Raises TraceError if it is unknown."""
        return self._tables.causes[name]

    def slices(self, kind: Kind) -> SliceEmitter:
        """What takes slices of a kind, quickly. The same object each time."""
        return self._tables.emitter(kind, SliceEmitter)

    def instants(self, kind: Kind) -> InstantEmitter:
        """What takes instants of a kind, quickly. The same object each time."""
        return self._tables.emitter(kind, InstantEmitter)

    def counters(self) -> CounterEmitter:
        """What takes values of counters. The same object each time."""
        return self._tables.emitter(COUNTER, CounterEmitter)

    def flows(self, kind: Kind) -> FlowEmitter:
        """What takes flows of a kind. The same object each time."""
        return self._tables.emitter(kind, FlowEmitter)

    def slice(
        self,
        kind: Kind,
        track: int,
        name: str,
        begin: int,
        duration: int,
        cause: str = "",
        **arguments: Value,
    ) -> int:
        """Take one slice, its arguments by name. Returns a reference to it, for flows."""
        return self.slices(kind)(track, name, begin, duration, cause, *_in_order(kind, arguments))

    def instant(self, kind: Kind, track: int, name: str, time: int, **arguments: Value) -> None:
        """Take one instant, its arguments by name."""
        self.instants(kind)(track, name, time, *_in_order(kind, arguments))

    def flow(self, kind: Kind, source: int, destination: int) -> None:
        """Take one flow, between slices by the references that they got."""
        self.flows(kind)(source, destination)

    def flush(self) -> None:
        """With a file: write what was taken."""
        self._tables.flush()

    def close(self, *, complete: bool = True) -> None:
        """With a file: write the rest and close it; further events are refused."""
        try:
            self._tables.flush()
        finally:
            if self._spill is not None:
                self._spill.close(complete=complete)

    def content(self) -> Content:
        """Everything that was taken, as it came. Raises TraceError if it went to a file."""
        if self._spill is not None:
            raise TraceError("the events went to a file: close the recorder, and read the file")
        return self._tables.gathered()

    def finish(self) -> Trace:
        """The trace of what was taken so far. Raises TraceError if it contradicts itself."""
        return build(self.content())


def _in_order(kind: Kind, given: dict[str, Value]) -> tuple[Value, ...]:
    names = [argument.name for argument in kind.arguments]
    if unknown := sorted(given.keys() - set(names)):
        there = ", ".join(names) or "none"
        raise TraceError(f"kind {kind.name} has no argument {unknown[0]!r}; there are {there}")
    return tuple(given.get(argument.name, _NO_VALUE[argument.type]) for argument in kind.arguments)

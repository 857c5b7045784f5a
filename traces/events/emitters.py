"""The hot side of recording: what takes events of one kind, and turns batches into columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .content import REFERENCE_SHIFT, Content, columns_of, joined
from .errors import TraceError
from .schema import ABSENT, NO_CAUSE, Form, Kind, Type
from .trace import Column, Value

BATCH = 8192
"""Events of one kind that wait as tuples until they become columns."""
SPILL_BATCH = 1024
"""The same when they go to a file: a crash loses fewer than this of a kind."""

_CAUSE = 4
"""Where the cause stands in the columns of slices."""

_Names: TypeAlias = str | Sequence[str] | NDArray[np.integer]
_Numbers: TypeAlias = int | Sequence[int] | NDArray[np.integer]
_Batch: TypeAlias = Sequence[object] | NDArray[np.generic]
_Values: TypeAlias = Value | Sequence[Value] | NDArray[np.integer] | NDArray[np.floating]


class Sink(Protocol):
    """Where full batches go instead of memory."""

    def rows(self, kind: int, columns: dict[str, Column]) -> None:
        """Take events of a kind; definitions that they need are in the content by now."""


class _Interned(dict[str, int]):
    """Positions of texts in a list, which grows as needed."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__({text: number for number, text in enumerate(texts)})
        self._texts = texts

    def __missing__(self, text: str) -> int:
        if not isinstance(text, str):
            raise TraceError(f"{text!r} was given where text is expected")
        self[text] = number = len(self._texts)
        self._texts.append(text)
        return number


class _Causes(dict[str, int]):
    """Positions of causes; the empty one is none."""

    def __missing__(self, name: str) -> int:
        raise TraceError(f"there is no cause {name!r}; there are {', '.join(filter(None, self))}")


class _Emitter:
    """Rows of one kind. A call appends a tuple; every so many become columns."""

    __slots__ = ("_base", "_count", "_rows", "_tables", "kind", "parts")
    form: ClassVar[Form]

    def __init__(self, tables: Tables, kind: Kind, number: int) -> None:
        self.kind = kind
        self.parts: list[dict[str, Column]] = []
        self._tables = tables
        self._rows: list[tuple[object, ...]] = []
        self._base = (number << REFERENCE_SHIFT) - 1
        self._count = len(kind.arguments)

    def _wrong(self, given: int) -> TraceError:
        names = ", ".join(argument.name for argument in self.kind.arguments) or "none"
        return TraceError(f"kind {self.kind.name}: {given} arguments were given; it has {names}")

    def _full(self) -> int:
        """Empty the batch; returns the reference of the event that was taken last."""
        reference = self._base + len(self._rows)
        self._tables.flush()
        return reference

    def take_rows(self) -> dict[str, Column] | None:
        """The waiting events as columns, None if there are none; they wait no longer."""
        rows = self._rows
        if not rows:
            return None
        self._base += len(rows)
        names = columns_of(self.kind)
        values = list(zip(*rows, strict=True))
        rows.clear()
        return {
            name: self._column(name, type, column)
            for (name, type), column in zip(names, values, strict=True)
        }

    def _column(self, name: str, type: Type, values: _Batch) -> Column:
        where = f"kind {self.kind.name}, {name}"
        if type is Type.REAL:
            return np.asarray(values, np.float64)
        if isinstance(values, np.ndarray) and values.dtype.kind in "UO":
            values = values.tolist()
        if type is Type.TEXT and not isinstance(values, np.ndarray):
            return self._tables.text_column(values, absent="" if name != "name" else None)
        return _integers(where, values)

    def _extend(self, length: int, given: dict[str, _Values]) -> NDArray[np.int64]:
        """Take many events at once; returns their references."""
        names = dict(columns_of(self.kind))
        if unknown := sorted(given.keys() - names.keys()):
            raise TraceError(f"kind {self.kind.name} has no column {unknown[0]!r}")
        self._tables.flush()
        columns = {
            name: self._filled(name, type, given.get(name), length) for name, type in names.items()
        }
        first = self._base + 1
        self._base += length
        self._tables.keep(self, columns)
        return np.arange(first, first + length, dtype=np.int64)

    def _filled(self, name: str, type: Type, values: _Values | None, length: int) -> Column:
        if values is None:
            absent = {Type.INTEGER: ABSENT, Type.REAL: np.nan, Type.TEXT: -1}
            value = NO_CAUSE if name == "cause" else absent[type]
            return _full(length, value, type)
        if isinstance(values, str):
            return _full(length, self._column(name, type, [values])[0], type)
        if isinstance(values, int | float | np.number):
            return _full(length, self._column(name, type, np.array([values]))[0], type)
        column = self._column(name, type, values)
        if len(column) != length:
            raise TraceError(
                f"kind {self.kind.name}: {len(column)} values for {name}, but {length} events"
            )
        return column


class SliceEmitter(_Emitter):
    """Takes slices of one kind; `emit(track, name, begin, duration, cause, *arguments)`."""

    __slots__ = ("_causes", "_width")
    form = Form.SLICE

    def __init__(self, tables: Tables, kind: Kind, number: int) -> None:
        super().__init__(tables, kind, number)
        self._causes = tables.causes
        self._width = len(columns_of(kind))

    if TYPE_CHECKING:

        def __call__(
            self,
            track: int,
            name: str,
            begin: int,
            duration: int,
            cause: str = "",
            /,
            *arguments: Value,
        ) -> int:
            """Take one slice; arguments in the order of the kind. Returns a reference for flows."""

    else:

        def __call__(self, *row: object) -> int:
            """The same; the caller's tuple is kept as it is, which is most of the speed."""
            if len(row) != self._width:
                row = self._completed(row)
            if row[_CAUSE] not in self._causes:
                self._causes[row[_CAUSE]]  # raises
            rows = self._rows
            rows.append(row)
            count = len(rows)
            return self._base + count if count < self._tables.batch else self._full()

    def _completed(self, row: tuple[object, ...]) -> tuple[object, ...]:
        """A row that states no cause, of a kind without arguments. Raises TraceError."""
        if len(row) == _CAUSE and not self.kind.arguments:
            return (*row, "")
        raise self._wrong(max(len(row) - _CAUSE - 1, 0))

    def _column(self, name: str, type: Type, values: _Batch) -> Column:
        if name == "cause" and not isinstance(values, np.ndarray):
            causes = self._causes
            return np.array([causes[value] for value in values], np.int64)  # type: ignore[index]
        return super()._column(name, type, values)

    def extend(
        self,
        *,
        track: _Numbers,
        name: _Names,
        begin: NDArray[np.integer],
        duration: _Numbers,
        cause: str | Sequence[str] | NDArray[np.integer] = "",
        **arguments: _Values,
    ) -> NDArray[np.int64]:
        """Take many slices; returns references to them.

        Each column is one value for all or as long as `begin`. Names and text arguments are text
        or numbers that `Recorder.name` gave; causes are text or numbers that `Recorder.cause` gave.
        """
        columns: dict[str, _Values] = {
            "track": track,
            "name": name,
            "begin": begin,
            "duration": duration,
            "cause": cause,
        }
        return self._extend(len(begin), columns | arguments)


class InstantEmitter(_Emitter):
    """Takes instants of one kind; `emit(track, name, time, *arguments)`."""

    __slots__ = ()
    form = Form.INSTANT

    def __call__(self, track: int, name: str, time: int, *arguments: Value) -> None:
        """Take one instant; arguments in the order of the kind."""
        if len(arguments) != self._count:
            raise self._wrong(len(arguments))
        rows = self._rows
        rows.append((track, name, time, *arguments))
        if len(rows) >= self._tables.batch:
            self._full()

    def extend(
        self, *, track: _Numbers, name: _Names, time: NDArray[np.integer], **arguments: _Values
    ) -> None:
        """Take many instants; each column is one value for all or as long as `time`."""
        columns: dict[str, _Values] = {"track": track, "name": name, "time": time}
        self._extend(len(time), columns | arguments)


class CounterEmitter(_Emitter):
    """Takes values of counters; `emit(track, time, value)`."""

    __slots__ = ()
    form = Form.COUNTER

    def __call__(self, track: int, time: int, value: float) -> None:
        """Take one value, which holds from `time` on."""
        rows = self._rows
        rows.append((track, time, value))
        if len(rows) >= self._tables.batch:
            self._full()

    def extend(
        self,
        *,
        track: _Numbers,
        time: NDArray[np.integer],
        value: NDArray[np.integer] | NDArray[np.floating],
    ) -> None:
        """Take many values; `track` is one for all or as long as `time`."""
        self._extend(len(time), {"track": track, "time": time, "value": value})


class FlowEmitter(_Emitter):
    """Takes flows of one kind; `emit(source, destination)`."""

    __slots__ = ()
    form = Form.FLOW

    def __call__(self, source: int, destination: int) -> None:
        """Take one flow between two slices, by their references."""
        rows = self._rows
        rows.append((source, destination))
        if len(rows) >= self._tables.batch:
            self._full()

    def extend(self, *, source: NDArray[np.integer], destination: NDArray[np.integer]) -> None:
        """Take many flows."""
        self._extend(len(source), {"source": source, "destination": destination})


_E = TypeVar("_E", bound=_Emitter)


class Tables:
    """The emitters of a recorder, and where their batches go."""

    def __init__(self, content: Content, sink: Sink | None) -> None:
        self.content = content
        self.names = _Interned(content.names)
        self.causes = _Causes({cause.name: n for n, cause in enumerate(content.causes)})
        self.causes[""] = NO_CAUSE
        self.batch = BATCH if sink is None else SPILL_BATCH
        self._sink = sink
        self._emitters: dict[str, _Emitter] = {}

    def emitter(self, kind: Kind, made: Callable[[Tables, Kind, int], _E]) -> _E:
        """The emitter of a kind. Raises TraceError if another kind has its name, or its form."""
        found = self._emitters.get(kind.name)
        if found is None:
            found = made(self, kind, len(self.content.kinds))
            if kind.form is not found.form:
                raise TraceError(f"kind {kind.name} is a {kind.form.value}, not {found.form.value}")
            self.content.kinds.append(kind)
            self._emitters[kind.name] = found
        if found.kind is not kind and found.kind != kind:
            raise TraceError(f"there are two different kinds called {kind.name}")
        return found  # type: ignore[return-value]  # its form says what class it is

    def flush(self) -> None:
        """Turn all waiting events into columns."""
        for emitter in self._emitters.values():
            columns = emitter.take_rows()
            if columns is not None:
                self.keep(emitter, columns)

    def keep(self, emitter: _Emitter, columns: dict[str, Column]) -> None:
        """Put a batch of columns where batches go."""
        if self._sink is None:
            emitter.parts.append(columns)
        else:
            self._sink.rows(self.content.kinds.index(emitter.kind), columns)

    def gathered(self) -> Content:
        """The content with all columns that are in memory."""
        self.flush()
        content = self.content
        content.columns = [joined(e.kind, e.parts) for e in self._emitters.values()]
        return content

    def text_column(self, values: Sequence[object], absent: str | None) -> Column:
        """Texts as positions in the names; -1 for those that are `absent`."""
        names = self.names
        return np.array(
            [-1 if value == absent else names[value] for value in values],  # type: ignore[index]
            np.int64,
        )


def _full(length: int, value: float, type: Type) -> Column:
    if type is Type.REAL:
        return np.full(length, value, np.float64)
    return np.full(length, value, np.int64)


def _integers(where: str, values: _Batch) -> Column:
    column = np.asarray(values)
    if column.dtype.kind == "b" or (column.dtype.kind == "u" and column.dtype.itemsize < 8):
        column = column.astype(np.int64)
    if column.dtype.kind != "i" and len(column):
        wrong = next((v for v in values if not _is_integer(v)), values[0])
        raise TraceError(f"{where}: {wrong!r} was given where a 64-bit integer is expected")
    return column.astype(np.int64, copy=False)


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and -(2**63) <= int(value) < 2**63

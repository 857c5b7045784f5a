"""Reads tables that Apple's Instruments exports: XML of `xctrace export --xpath ...`.

A table has a schema, whose columns have mnemonics, and rows with a cell per column, in order. A
value is written once, with an `id`, and named by `ref` from then on, also by other rows and from
inside other cells; a `sentinel` stands for no value. Times are nanoseconds. Rows with a start and
a duration become slices, other rows with a time instants; tables without times are left out.

Such a table is recorded and exported on a Mac by

    xctrace record --template 'Metal System Trace' --output run.trace --launch -- PROGRAM
    xctrace export --input run.trace --output gpu.xml --xpath \\
        '/trace-toc/run[@number="1"]/data/table[@schema="metal-gpu-intervals"]'
"""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass, field
from xml.etree import ElementTree

from ..events.clock import Clock
from ..events.content import Content
from ..events.errors import TraceFileError
from ..events.schema import Form, Role
from ..record.gather import Event, Gatherer
from ..record.recorder import Recorder

_TIMES = frozenset(("start-time", "event-time", "sample-time"))
_NAMES = ("event-label", "label", "name", "function", "event-name", "event-type", "state")
"""Columns that may name an event, the best first."""
_ROWS = ("channel-name", "thread", "device")
"""Columns by which events are put on tracks of their own, the best first."""
_LATEST = 1 << 62


@dataclass(frozen=True, slots=True)
class _Cell:
    """A value: its tag, its text, and the same for people."""

    tag: str
    text: str
    shown: str


@dataclass(slots=True)
class _Table:
    """The schema that rows belong to: its name and the mnemonics of its columns."""

    name: str = ""
    columns: list[str] = field(default_factory=list)


def is_xctrace(data: bytes) -> bool:
    """Whether a file begins like such an export."""
    return b"<trace-query-result" in data[:512]


def read_xctrace(data: bytes, file: str) -> Content:
    """The content of a file called `file` in messages. Raises TraceFileError."""
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise TraceFileError(file, None, "declares entities, which exports of xctrace never do")
    reader = _Reader(file)
    try:
        for _, element in ElementTree.iterparse(io.BytesIO(data), events=("end",)):
            reader.take(element)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise TraceFileError(
            file, None, f"line {line}, column {column}: is no whole XML: {error.msg}"
        ) from None
    return reader.content()


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._gatherer = Gatherer(recorder=Recorder(Clock.nanoseconds("recording")))
        self._table = _Table()
        self._known: dict[str, _Cell] = {}
        self._skipped: Counter[str] = Counter()
        self._rows = 0

    def take(self, element: ElementTree.Element) -> None:
        """An element that is complete; only whole schemas and rows matter."""
        if element.tag == "schema":
            self._table = _Table(
                element.get("name", "table"),
                [column.findtext("mnemonic", "") for column in element.iter("col")],
            )
            element.clear()
        elif element.tag == "row":
            self._rows += 1
            self._row([self._cell(child) for child in element])
            element.clear()

    def content(self) -> Content:
        """What was read. Raises TraceFileError if there was nothing."""
        if not self._gatherer.events:
            raise TraceFileError(
                self._file,
                None,
                f"holds {self._rows} rows, and none has a time that could be shown",
            )
        self._gatherer.emit()
        content = self._gatherer.recorder.content()
        content.notes = self._gatherer.notes + [
            f"{count:,} rows {what} were left out" for what, count in sorted(self._skipped.items())
        ]
        return content

    def _cell(self, element: ElementTree.Element) -> _Cell:
        """The value of a cell; what it and anything inside it defines is remembered."""
        for inner in element:
            self._cell(inner)
        reference = element.get("ref")
        if reference is not None:
            if reference not in self._known:
                raise TraceFileError(
                    self._file,
                    None,
                    f"row {self._rows} names value {reference}, which no row before it defines; "
                    "export the table again, as a whole",
                )
            return self._known[reference]
        text = (element.text or "").strip()
        cell = _Cell(element.tag, text, element.get("fmt", text))
        identity = element.get("id")
        if identity is not None:
            self._known[identity] = cell
        return cell

    def _row(self, cells: list[_Cell]) -> None:
        columns = self._table.columns
        names = [columns[n] if n < len(columns) else cell.tag for n, cell in enumerate(cells)]
        values = {
            name: cell
            for name, cell in zip(names, cells, strict=True)
            if cell.tag != "sentinel" and name
        }
        begin = next((name for name, cell in values.items() if cell.tag in _TIMES), None)
        if begin is None:
            self._skipped["without a time"] += 1
            return
        duration = values.get("duration")
        self._gatherer.events.append(
            Event(
                form=Form.INSTANT if duration is None else Form.SLICE,
                track=self._track(values),
                name=next((values[n].shown for n in _NAMES if n in values), self._table.name),
                begin=self._time(values[begin]),
                duration=0 if duration is None else self._time(duration),
                category=self._table.name,
                arguments={
                    name: _argument(cell)
                    for name, cell in values.items()
                    if name not in (begin, "duration")
                },
                cause="idle" if duration and _is_idle(values) else "",
            )
        )

    def _track(self, values: dict[str, _Cell]) -> int:
        process = values["process"].shown if "process" in values else "no process"
        root = self._gatherer.recorder.track(process)
        row = next((values[name].shown for name in _ROWS if name in values), self._table.name)
        return self._gatherer.recorder.track(row, root, Role.FOREIGN)

    def _time(self, cell: _Cell) -> int:
        try:
            found = int(cell.text)
        except ValueError:
            found = -1
        if not 0 <= found < _LATEST:
            raise TraceFileError(
                self._file,
                None,
                f"row {self._rows}: a {cell.tag} is {cell.text[:40]!r}; expected nanoseconds",
            )
        return found


def _argument(cell: _Cell) -> int | str:
    """Numbers as numbers, all else as people read it."""
    return int(cell.text) if cell.text.isascii() and cell.text.isdigit() else cell.shown


def _is_idle(values: dict[str, _Cell]) -> bool:
    return "state" in values and values["state"].text == "Idle"

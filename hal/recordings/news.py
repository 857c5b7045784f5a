"""What was recorded between two moments: new parts, libraries, kernels, and dispatches as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from .columns import Column, packed, unpacked
from .errors import RecordingError
from .forms import Strings, filled, form_of, places_of
from .records import Count, DispatchRecord, KernelRecord, LibraryRecord

_NS = 1e9
_LONGEST = 4e9  # seconds, whose nanoseconds have less than 62 bits
_WRONG = (
    msgspec.MsgspecError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    StopIteration,
)
_Row = tuple[int, Sequence[int]]  # the number of its form, its numbers


class News(msgspec.Struct, omit_defaults=True):
    """A piece of a recording.

    Attributes:
        parts: lengths of the parts that are new, in bytes; their numbers go on counting.
        strings, forms, libraries, kernels: what is new; numbers go on counting, too.
        left_out: how many dispatches were left out, by the reason.
        rows: dispatches, by the number of their form.
        columns: for each form among the rows, from the lowest number on, a column for each of its
            places, which goes on from the last row of that form.
    """

    parts: list[Count] = []
    strings: list[str] = []
    forms: list[Any] = []
    libraries: list[LibraryRecord] = []
    kernels: list[KernelRecord] = []
    left_out: dict[str, Count] = {}
    rows: list[Count] = []
    columns: list[list[Column]] = []


class RowsWriter:
    """Takes dispatches apart into rows of forms."""

    def __init__(self) -> None:
        self._strings = Strings()
        self._forms: dict[bytes, int] = {}
        self._new_forms: list[Any] = []
        self._rows: list[int] = []
        self._numbers: dict[int, list[list[int]]] = {}
        self._last: dict[int, list[int]] = {}

    def add(self, dispatch: DispatchRecord) -> None:
        """Take a dispatch."""
        numbers: list[int] = []
        form = form_of(dispatch, numbers, self._strings)
        del form["begin"], form["end"]
        begin = _nanoseconds(dispatch.begin)
        form["times"] = [0, 0]
        numbers += (begin, max(0, _nanoseconds(dispatch.end) - begin))
        number = self._form(form)
        self._rows.append(number)
        self._numbers.setdefault(number, []).append(numbers)

    def take(self, news: News) -> None:
        """Put what was added since the last time into `news`."""
        news.strings, self._strings.new = self._strings.new, []
        news.forms, self._new_forms = self._new_forms, []
        news.rows, self._rows = self._rows, []
        for form, rows in sorted(self._numbers.items()):
            before = self._last.get(form, [0] * len(rows[0]))
            news.columns.append(
                [packed(*each) for each in zip(before, zip(*rows, strict=True), strict=True)]
            )
            self._last[form] = rows[-1]
        self._numbers = {}

    def _form(self, form: Any) -> int:
        key = msgspec.json.encode(form)
        if key not in self._forms:
            self._forms[key] = len(self._forms)
            self._new_forms.append(form)
        return self._forms[key]


class RowsReader:
    """Puts rows together again, in the order in which they were written."""

    def __init__(self) -> None:
        self._strings: list[str] = []
        self._forms: list[tuple[Any, int]] = []  # with how many places each has
        self._last: dict[int, list[int]] = {}

    def dispatches(self, news: News) -> Iterator[DispatchRecord]:
        """The dispatches of a piece. Raises RecordingError."""
        self._strings += news.strings
        self._forms += [(form, places_of(form)) for form in news.forms]
        for form, numbers in self._rows(news):
            yield self._dispatch(self._forms[form][0], numbers)

    def _rows(self, news: News) -> Iterator[_Row]:
        counts = sorted(Counter(news.rows).items())
        if len(counts) != len(news.columns) or (counts and counts[-1][0] >= len(self._forms)):
            raise RecordingError("rows have not the forms that they are said to have")
        of_form: dict[int, Iterator[Sequence[int]]] = {}
        for (form, count), columns in zip(counts, news.columns, strict=True):
            places = self._forms[form][1]
            if len(columns) != places:
                raise RecordingError(f"form {form} has {places} places and {len(columns)} columns")
            before = self._last.get(form, [0] * places)
            try:
                found = [unpacked(*each, count) for each in zip(before, columns, strict=True)]
            except ValueError as error:
                raise RecordingError(str(error)) from None
            rows = list(zip(*found, strict=True)) if places else [()] * count
            self._last[form] = list(rows[-1])
            of_form[form] = iter(rows)
        for form in news.rows:
            yield form, next(of_form[form])

    def _dispatch(self, form: Any, numbers: Sequence[int]) -> DispatchRecord:
        try:
            made = filled(form, iter(numbers), self._strings)
            begin, taken = made.pop("times")
            made["begin"], made["end"] = begin / _NS, (begin + taken) / _NS
            return msgspec.convert(made, DispatchRecord)
        except _WRONG as error:
            raise RecordingError(str(error)) from None


def _nanoseconds(seconds: float) -> int:
    """Whole ones; 0 for a time that no device has."""
    return round(seconds * _NS) if 0 <= seconds < _LONGEST else 0

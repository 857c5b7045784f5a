"""Records as a form, which many of them share, and the numbers that it has places for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import groupby
from typing import Any, Final

from .records import Bytes

MOST_PARTS: Final = 1 << 20
_RUN = 3  # numbers of a run: the first one, the step, how many


class Strings:
    """Texts by number, each once, in the order in which they came."""

    def __init__(self) -> None:
        self.new: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a text."""
        if text not in self._numbers:
            self._numbers[text] = len(self._numbers)
            self.new.append(text)
        return self._numbers[text]


def form_of(value: Any, numbers: list[int], strings: Strings) -> Any:
    """What is left of a record when its numbers are taken out, which go to `numbers`.

    In the form stands 0 for each, and "" for a text, whose number is taken. Real numbers, truth
    values and names of fields are the form's own.
    """
    if isinstance(value, Bytes):
        runs = _runs(value.parts)
        numbers += (value.length, *runs)
        return {"length": 0, "runs": [0] * len(runs)}
    if is_dataclass(value):
        return {
            each.name: form_of(getattr(value, each.name), numbers, strings)
            for each in fields(value)
        }
    if isinstance(value, dict):
        return {name: form_of(each, numbers, strings) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [form_of(each, numbers, strings) for each in value]
    if isinstance(value, str):
        numbers.append(strings.number(value))
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        numbers.append(value)
        return 0
    return value


def places_of(form: Any) -> int:
    """How many numbers a form has places for."""
    if isinstance(form, dict):
        return sum(map(places_of, form.values()))
    if isinstance(form, list):
        return sum(map(places_of, form))
    return int(isinstance(form, str | int) and not isinstance(form, bool))


def filled(form: Any, numbers: Iterator[int], strings: Sequence[str]) -> Any:
    """The record, as plain data. Raises ValueError for numbers that cannot be."""
    if isinstance(form, dict):
        made = {name: filled(each, numbers, strings) for name, each in form.items()}
        return {"length": made["length"], "parts": _parts(made["runs"])} if "runs" in made else made
    if isinstance(form, list):
        return [filled(each, numbers, strings) for each in form]
    if isinstance(form, bool) or not isinstance(form, str | int):
        return form
    number = next(numbers)
    if isinstance(form, int):
        return number
    if not 0 <= number < len(strings):
        raise ValueError(f"there is no text {number}")
    return strings[number]


def _runs(parts: Sequence[int]) -> list[int]:
    """Numbers of parts as runs of equal and of successive ones."""
    found: list[int] = []
    for number, same in groupby(parts):
        count = sum(1 for _ in same)
        if count > 1 or not found or found[-2] == 0 or found[-3] + found[-1] != number:
            found += (number, int(count == 1), count)
        else:
            found[-1] += 1
    return found


def _parts(runs: Any) -> list[int]:
    if not isinstance(runs, list) or len(runs) % _RUN:
        raise ValueError("parts are not in runs")
    found: list[int] = []
    for first, step, count in zip(runs[::_RUN], runs[1::_RUN], runs[2::_RUN], strict=True):
        if first < 0 or step not in (0, 1) or not 0 <= count <= MOST_PARTS - len(found):
            raise ValueError(f"a run of {count} parts from part {first} on")
        found += range(first, first + count) if step else [first] * count
    return found

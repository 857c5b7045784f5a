"""Columns and forms give back what they were made of, in few bytes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.hal.recordings.columns import END, LEAST, packed, unpacked
from assay.hal.recordings.forms import Strings, filled, form_of, places_of

NUMBERS = st.integers(LEAST, END - 1) | st.integers(-300, 300)


@given(NUMBERS, st.lists(NUMBERS, min_size=1) | st.lists(st.integers(0, 1 << 20), min_size=9))
def test_columns_are_read_as_they_were(first: int, numbers: list[int]) -> None:
    assert unpacked(first, packed(first, numbers), len(numbers)) == numbers


def test_numbers_that_go_on_evenly_take_no_bytes_and_others_what_they_need() -> None:
    assert packed(3, list(range(7, 4007, 4))) == [4]
    assert packed(3, [9] * 1000) == [6, 0]
    draw = random.Random(1)
    column = packed(0, [draw.randrange(1 << 15) for _ in range(1000)])
    assert isinstance(column, bytes) and len(column) == 2000


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([], "0 numbers has not 3 rows"),
        ([1, 2, 3, 4], "4 numbers has not 3 rows"),
        (b"", "0 bytes has not 3 rows"),
        (b"1234", "4 bytes has not 3 rows"),
        (bytes(27), "27 bytes has not 3 rows"),
    ],
)
def test_columns_of_other_lengths_are_refused(column: list[int] | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unpacked(0, column, 3)


def test_forms_keep_what_is_no_number_and_no_text() -> None:
    record = {"a": [1, True, None, 2.0, -3], "b": {"c": "text", "d": ""}, "e": []}
    numbers: list[int] = []
    strings = Strings()
    form = form_of(record, numbers, strings)
    assert form == {"a": [0, True, None, 2.0, 0], "b": {"c": "", "d": ""}, "e": []}
    assert (numbers, strings.new) == ([1, -3, 0, 1], ["text", ""])
    assert places_of(form) == len(numbers)
    assert filled(form, iter(numbers), strings.new) == record
    with pytest.raises(ValueError, match="there is no text 7"):
        filled(form, iter([1, -3, 7, 1]), strings.new)

"""Notes of a compiler in their file form."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.hal.status import StatusError
from assay.hal.torq.notes_json import dumps, loads
from assay.hw.torq.notes import NO_NOTES, Notes, Operand, SliceRun, Symbol, TaskNote

_TEXT = st.text(st.characters(categories=("L", "N")), max_size=9)
_MEMORY = st.sampled_from(["LRAM", "XRAM"])
_PIECE = st.tuples(st.integers(0, 1 << 31), st.integers(1, 99)).map(lambda p: (p[0], p[0] + p[1]))
_OPERANDS = st.builds(
    Operand,
    agent=_TEXT,
    tensor=_TEXT,
    memory=_MEMORY,
    ranges=st.lists(_PIECE, max_size=3).map(lambda pieces: tuple(sorted(pieces))),
    exact=st.booleans(),
    tags=st.lists(st.integers(0, 7), max_size=3).map(tuple),
    unmoved=st.lists(_PIECE, max_size=2).map(lambda pieces: tuple(sorted(pieces))),
)
_TASKS = st.builds(
    TaskNote,
    operation=_TEXT,
    source=_TEXT,
    registers=st.sampled_from([(), ((0x88, 7),), ((0x80, 1), (0x84, 2), (0x90, 3))]),
    operands=st.lists(_OPERANDS, max_size=3).map(tuple),
)
_SYMBOLS = st.tuples(_TEXT, _MEMORY, _PIECE).map(
    lambda s: Symbol(name=s[0], memory=s[1], start=s[2][0], stop=s[2][1])
)
NOTES = st.builds(
    Notes,
    symbols=st.lists(_SYMBOLS, max_size=3).map(tuple),
    padding=st.lists(st.tuples(_MEMORY, _PIECE).map(lambda g: (g[0], *g[1])), max_size=3).map(
        tuple
    ),
    slice_programs=st.dictionaries(
        st.integers(0, 1 << 19), st.lists(_TASKS, max_size=3).map(tuple), max_size=3
    ).map(MappingProxyType),
    slice_runs=st.lists(
        st.builds(
            SliceRun,
            unit=st.sampled_from(["SLC0", "SLC1"]),
            address=st.integers(0, 1 << 19),
            tasks=st.lists(_TASKS, max_size=2).map(tuple),
        ),
        max_size=3,
    ).map(tuple),
    transfers=st.lists(_TASKS, max_size=3).map(tuple),
    places=st.lists(_SYMBOLS, max_size=3).map(tuple),
)


@given(NOTES)
def test_notes_survive_their_file_form(notes: Notes) -> None:
    assert loads(dumps(notes), "notes") == notes


def test_what_is_left_out_is_empty() -> None:
    assert loads(b"{}", "notes") == NO_NOTES
    (task,) = loads(b'{"transfers": [{}]}', "notes").transfers
    assert task == TaskNote()


@pytest.mark.parametrize(
    ("notes", "message"),
    [
        ("[]", "the whole is no object"),
        ("{", "damaged"),
        ("\xff", "damaged"),
        ("[" * 10_000, "damaged"),
        ('{"symbols": [["LRAM", 0, 4]]}', "a symbol is no list of 4"),
        ('{"symbols": [["LRAM", 4, 4, "x"]]}', "a range from 4 to 4"),
        ('{"symbols": [["LRAM", 0, 4, "\\u001b[2J"]]}', "no text that can be printed"),
        ('{"padding": [["ROM", 0, 4]]}', "memory 'ROM'; there are LRAM, XRAM"),
        ('{"padding": [["LRAM", 0, true]]}', "True is no whole number"),
        ('{"slice_programs": {"code": []}}', "invalid literal"),
        ('{"transfers": [{"operands": [{"ranges": [[0, 99999999999]]}]}]}', "a range from 0 to"),
        ('{"transfers": [{"operands": [{"ranges": [[0, 4, 8, 0]]}]}]}', "there 0 times"),
        ('{"transfers": [{"operands": [{"ranges": [[0, 4, 4194304, 2048]]}]}]}', "a range from"),
        (
            '{"transfers": [{"operands": [{"ranges": [[0, 4, 0, 9999999999]]}]}]}',
            "4,194,304",
        ),
    ],
)
def test_damaged_notes_are_refused_with_the_reason(notes: str, message: str) -> None:
    with pytest.raises(StatusError, match=r"x\.torq: its notes are damaged") as failed:
        loads(notes.encode("latin-1"), "x.torq")
    assert message in str(failed.value)


def test_addresses_may_be_hexadecimal_text() -> None:
    notes = loads(json.dumps({"symbols": [["LRAM", "0x10", "0x20", "x"]]}).encode(), "notes")
    assert notes.symbols == (Symbol(name="x", memory="LRAM", start=16, stop=32),)


def test_what_repeats_is_written_once() -> None:
    ranges = tuple((start, start + 8) for start in range(0x1000, 0x9000, 16))
    operand = Operand(agent="DEDR", tensor="x", memory="LRAM", ranges=ranges)
    registers = tuple((address, 0) for address in range(0, 0x80, 4))
    notes = Notes(transfers=(TaskNote(operands=(operand,), registers=registers),))
    text = dumps(notes)
    assert loads(text, "notes") == notes
    assert b"[[4096,4104,16,2048]]" in text
    assert len(text) < 400

"""A page holds the whole trace: what is read out of it is what was written."""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from assay.traces import Trace
from assay.traces.events.build import build
from assay.traces.events.errors import TraceFileError
from assay.traces.files import read_content, read_trace, write_trace
from assay.traces.viewer.html_write import page
from tests.support import timelines
from tests.support.html_payload import payload
from tests.support.traces import told, traces


@settings(max_examples=60, deadline=None)
@given(traces())
def test_a_page_says_what_the_trace_said(trace: Trace) -> None:

    found = build(read_content(page(trace).encode(), "page.html"))
    assert told(found) == told(trace)
    assert (found.kinds, found.causes, found.tracks) == (trace.kinds, trace.causes, trace.tracks)
    assert (found.title, found.clock, found.complete) == (trace.title, trace.clock, trace.complete)


def test_a_page_is_read_from_its_file(tmp_path: Path) -> None:
    trace = timelines.npu()
    write_trace(trace, tmp_path / "npu.html")
    assert told(read_trace(tmp_path / "npu.html")) == told(trace)


def damaged(text: str, change: Any) -> bytes:
    """A page whose header was changed."""
    header, data = payload(text)
    change(header)
    head = json.dumps(header).encode()
    packed = gzip.compress(struct.pack("<I", len(head)) + head + data)
    return re.sub(
        r'(data-version="1">)[^<]*', lambda m: m[1] + base64.b64encode(packed).decode(), text
    ).encode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda head: head.pop("names"), "KeyError('names')"),
        (lambda head: head["events_columns"]["kind"].update(at=1 << 40), "lies outside"),
        (lambda head: head["events_columns"]["name"].update(count=1), "another length"),
        (lambda head: head["kinds"].pop(), "a kind that it has not"),
        (lambda head: head["kinds"][0].pop("schema"), "make it anew"),
        (lambda head: head["tracks"].clear(), "track"),
        (lambda head: head.update(events=10**9), "its header"),
    ],
)
def test_a_damaged_page_is_refused_in_words(tmp_path: Path, change: Any, message: str) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(damaged(page(timelines.npu()), change))
    with pytest.raises(TraceFileError, match=re.escape(message)):
        read_trace(file)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (r'data-version="1"', 'data-version="7"', "version 7 of a trace"),
        (r'(data-version="1">).{40}', r"\1", "damaged"),
        (r'(data-version="1">)', r"\1?", "damaged"),
    ],
)
def test_a_page_that_was_changed_by_hand_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    file = tmp_path / "page.html"
    file.write_text(re.sub(old, new, page(timelines.npu())))
    with pytest.raises(TraceFileError, match=message):
        read_trace(file)

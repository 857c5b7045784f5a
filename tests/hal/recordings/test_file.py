"""Recordings give back what was written; files that are none, or are damaged, are refused."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

from assay.hal.recordings import (
    Bound,
    Bytes,
    DispatchRecord,
    KernelRecord,
    LibraryRecord,
    MemoryRecord,
    Recording,
    RecordingError,
    RecordingWriter,
)
from assay.hal.recordings.records import PART
from tests.support.recorded import INFO, SIZE

DATA = np.random.default_rng(1).integers(0, 255, 3 * PART + 5, np.uint8).tobytes()


def write(path: Path, data: bytes = DATA, dispatches: int = 2) -> None:
    with RecordingWriter(path, INFO, "program") as writer:
        source = writer.add_bytes(b"kernel void k() {}")
        library = writer.add_library(LibraryRecord(data=source, compiled=False))
        kernel = writer.add_kernel(KernelRecord(library=library, name="k"))
        memory = MemoryRecord(label="x", before=writer.add_bytes(data), after=None)
        for _ in range(dispatches):
            writer.add_dispatch(
                DispatchRecord(
                    kernel=kernel,
                    grid=SIZE,
                    in_threads=True,
                    threadgroup=SIZE,
                    memories=(memory,),
                    bound=(Bound(index=0, memory=0, offset=4),),
                )
            )


def rewritten(source: Path, target: Path, name: str, data: bytes) -> Path:
    """A recording with another entry `name`."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.namelist():
            new.writestr(entry, data if entry == name else old.read(entry))
    return target


def textured(**change: object) -> dict[str, object]:
    """A memory that is a texture, as JSON."""
    made = {
        "type": 2,
        "format": 10,
        "texel": 1,
        "size": [2, 2, 1],
        "slices": 1,
        "levels": 1,
        "usage": 1,
        "swizzle": [2, 3, 4, 5],
    }
    before = {"length": 4, "parts": [0]}
    return {"label": "t", "before": before, "after": None, "texture": {**made, **change}}


def read_all(path: Path) -> list[bytearray]:
    with Recording(path) as recording:
        return [
            recording.contents(memory.before)
            for each in recording.dispatches()
            for memory in each.memories
        ]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write(tmp_path / "a")
    assert read_all(tmp_path / "a") == [DATA, DATA]


def test_equal_parts_are_there_once(tmp_path: Path) -> None:
    write(tmp_path / "a", b"\x07" * (100 * PART))
    with zipfile.ZipFile(tmp_path / "a") as archive:
        assert sum(name.startswith("bytes/") for name in archive.namelist()) == 2  # and the source


def test_the_same_recording_is_the_same_file(tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_was_recorded_before_an_error_is_kept(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), RecordingWriter(tmp_path / "a", INFO, "p") as writer:
        writer.leave_out("reason")
        raise KeyboardInterrupt
    with Recording(tmp_path / "a") as recording:
        assert recording.header.left_out == {"reason": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_what_comes_after_the_end_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "a")
    writer = RecordingWriter(tmp_path / "b", INFO, "program")
    with Recording(tmp_path / "a") as recording:
        (dispatch, _) = recording.dispatches()
    writer.close()
    writer.add_bytes(DATA)
    writer.add_dispatch(dispatch)
    writer.leave_out("reason")
    writer.close()
    assert (writer.dispatches, writer.left_out) == (0, {})


@pytest.mark.parametrize("data", [b"", b"hello", b"\x89PNG\r\n", b"PK\x05\x06" + bytes(18)])
def test_foreign_files_are_refused_by_name(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(RecordingError, match=r"a: .*(no recording|without recording\.json)"):
        read_all(tmp_path / "a")


def test_files_that_are_cut_short_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "a")
    whole = (tmp_path / "a").read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 97)):
        (tmp_path / "a").write_bytes(whole[:length])
        with pytest.raises(RecordingError, match=r"cut short|no recording"):
            read_all(tmp_path / "a")


def test_damaged_files_are_refused_or_read_equal(tmp_path: Path) -> None:
    write(tmp_path / "a", DATA[:500])
    whole = (tmp_path / "a").read_bytes()
    draw = random.Random(3)
    refused = 0
    for _ in range(600):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 3)):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        (tmp_path / "b").write_bytes(data)
        try:
            assert read_all(tmp_path / "b") == [DATA[:500]] * 2
        except RecordingError as error:
            refused += 1
            assert str(tmp_path / "b") in str(error)
    assert refused > 300


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "gputrace"}, "of the format 'gputrace'"),
        ({"version": 99}, "of version 99, and this Assay reads 2: update it"),
        ({"kernels": [{"library": 7, "name": "k"}]}, "'k' is of a library that is not there"),
        ({"kernels": [{"library": -1, "name": "k"}]}, "Expected `int` >= 0"),
        ({"device": "M1"}, "Expected `object`, got `str`"),
    ],
)
def test_what_a_header_cannot_say_is_told(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    write(tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        header = {**json.loads(archive.read("recording.json")), **change}
    text = json.dumps(header).encode()
    path = rewritten(tmp_path / "a", tmp_path / "b", "recording.json", text)
    with pytest.raises(RecordingError, match=message):
        read_all(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": 3}, "line 1: there is no kernel 3"),
        ({"bound": [{"index": 0, "memory": 9, "offset": 0}]}, "there is no memory 9"),
        ({"bound": [{"index": 0, "memory": 0, "offset": 1 << 40}]}, "of a memory of"),
        (
            {
                "memories": [
                    {"label": "", "before": {"length": 1 << 50, "parts": [0]}, "after": None}
                ]
            },
            "have 1 parts",
        ),
        (
            {"memories": [{"label": "", "before": {"length": 9, "parts": [0]}, "after": None}]},
            "instead of 9",
        ),
        (
            {"memories": [{"label": "", "before": {"length": 4, "parts": [77]}, "after": None}]},
            "bytes/77 is missing",
        ),
        ({"grid": [1, 2]}, "Expected `array` of length 3"),
        ({"textures": [{"index": 0, "memory": 0}]}, "memory 0 is no texture"),
        ({"textures": [{"index": 0, "memory": 5}]}, "memory 5 is no texture"),
        ({"memories": [textured(size=[3, 1, 1])]}, "texture 't' is of another size"),
        ({"memories": [textured(levels=1 << 40)]}, "texture 't' is of another size"),
        ({"memories": [textured(texel=0)]}, "texture 't' is of another size"),
        ({"memories": [textured()]}, "memory 0 is a texture, not a buffer"),
    ],
)
def test_what_a_dispatch_cannot_say_is_told(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    write(tmp_path / "a", dispatches=1)
    with zipfile.ZipFile(tmp_path / "a") as archive:
        line = {**json.loads(archive.read("dispatches.jsonl")), **change}
    text = json.dumps(line).encode()
    path = rewritten(tmp_path / "a", tmp_path / "b", "dispatches.jsonl", text)
    with pytest.raises(RecordingError, match=message):
        read_all(path)


def test_contents_that_are_too_long_for_their_parts_take_no_memory(tmp_path: Path) -> None:
    write(tmp_path / "a")
    with Recording(tmp_path / "a") as recording, pytest.raises(RecordingError, match="parts"):
        recording.contents(Bytes(length=1 << 61, parts=(0,)))

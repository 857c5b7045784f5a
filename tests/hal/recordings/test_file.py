"""Recordings give back what was written; files that are none, or are damaged, are refused."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from assay.hal.recordings.partial import partials_of
from assay.hal.recordings.records import PART
from tests.support.recorded import INFO, SIZE
from tests.support.recording_files import Plain, put_together, taken_apart

DATA = np.random.default_rng(1).integers(0, 255, 3 * PART + 5, np.uint8).tobytes()


def write(path: Path, data: bytes = DATA, dispatches: int = 2) -> None:
    with RecordingWriter(path, INFO, "program") as writer:
        fill(writer, data, dispatches)


def fill(writer: RecordingWriter, data: bytes = DATA, dispatches: int = 1) -> None:
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
    assert len(taken_apart(tmp_path / "a").parts) == 2  # and the source


def test_the_same_recording_is_the_same_file(tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_was_recorded_before_an_error_is_kept(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), RecordingWriter(tmp_path / "a", INFO, "p") as writer:
        fill(writer)
        writer.leave_out("reason")
        raise KeyboardInterrupt
    with Recording(tmp_path / "a") as recording:
        assert recording.header.left_out == {"reason": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_without_a_dispatch_there_is_no_file_and_an_older_one_stays(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "a", INFO, "program") as writer:
        fill(writer, dispatches=0)
        writer.leave_out("reason")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a").write_text("older")
    RecordingWriter(tmp_path / "a", INFO, "program").close()
    assert (tmp_path / "a").read_text() == "older"
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


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


def archive(name: str) -> bytes:
    """A ZIP archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr(name, "{}")
    return made.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it is no recording"),
        (b"hello", "it is no recording"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "it is no recording"),
        (b"PK\x05\x06" + bytes(18), "it is a ZIP archive, so no recording"),
        (b"PK\x03\x04" + bytes(18), "it is no recording, but a damaged ZIP archive"),
        (archive("a.txt"), "it is a ZIP archive, so no recording"),
        (archive("recording.json"), "it is of version 2 or older, and this Assay reads 3: record"),
    ],
)
def test_foreign_and_old_files_are_refused_by_name(
    tmp_path: Path, data: bytes, message: str
) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(RecordingError, match=f"a: {message}"):
        read_all(tmp_path / "a")


def test_files_that_are_cut_short_are_refused_or_incomplete(tmp_path: Path) -> None:
    write(tmp_path / "a")
    whole = (tmp_path / "a").read_bytes()
    refused = 0
    for length in range(0, len(whole), max(1, len(whole) // 397)):
        (tmp_path / "a").write_bytes(whole[:length])
        try:
            with Recording(tmp_path / "a") as recording:
                assert not recording.is_complete
                assert len(list(recording.dispatches())) == recording.count
        except RecordingError as error:
            assert "cut short" in str(error) or "no recording" in str(error)
            refused += 1
    assert refused >= 1


def test_damaged_files_are_refused_or_read_equal(tmp_path: Path) -> None:
    write(tmp_path / "a", DATA[:500])
    whole = (tmp_path / "a").read_bytes()
    draw = random.Random(3)
    refused = 0
    for _ in range(2000):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 3)):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        (tmp_path / "b").write_bytes(data)
        try:
            assert read_all(tmp_path / "b") == [DATA[:500]] * 2
        except RecordingError as error:
            refused += 1
            assert str(tmp_path / "b") in str(error)
    assert refused > 1990  # three bits may be flipped back


Edit = Callable[[Plain], object]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda plain: setattr(plain, "version", 99), "of version 99, and this Assay reads 3"),
        (lambda plain: setattr(plain, "version", 1), "of version 1 or older, and this Assay"),
        (lambda plain: setattr(plain, "said", 7), "it has 2 dispatches instead of 7"),
        (lambda plain: plain.kernels[0].update(library=7), "'k' is of a library that is not there"),
        (lambda plain: plain.kernels[0].update(linked=[7]), "'k' links what is not there"),
        (lambda plain: plain.kernels[0].update(library=-1), "Expected `int` >= 0"),
        (lambda plain: plain.head.update(device="M1"), "Expected `object`, got `str`"),
        (lambda plain: plain.parts.insert(0, b""), "a part has no length that parts have"),
        (lambda plain: plain.parts.append(bytes(PART + 1)), "a part has no length that parts have"),
    ],
)
def test_what_a_header_cannot_say_is_told(tmp_path: Path, edit: Edit, message: str) -> None:
    write(tmp_path / "a")
    plain = taken_apart(tmp_path / "a")
    edit(plain)
    with pytest.raises(RecordingError, match=message):
        read_all(put_together(plain, tmp_path / "b"))


def test_a_file_that_goes_on_behind_its_end_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a")
    with (tmp_path / "a").open("ab") as file:
        file.write(b"more")
    with pytest.raises(RecordingError, match="it goes on behind its end"):
        read_all(tmp_path / "a")


def held(length: int, *parts: int) -> dict[str, object]:
    """A change of memory, as JSON."""
    before = {"length": length, "parts": list(parts)}
    return {"memories": [{"label": "", "before": before, "after": None}]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": 3}, "dispatch 0: there is no kernel 3"),
        ({"bound": [{"index": 0, "memory": 9, "offset": 0}]}, "there is no memory 9"),
        ({"bound": [{"index": 0, "memory": 0, "offset": 1 << 40}]}, "of a memory of"),
        (held(1 << 50, 0), "have 1 parts"),
        (held(9, 0), "instead of 9"),
        (held(4, 77), "part 77 is missing"),
        ({"grid": [1, 2]}, "Expected `array` of length 3"),
        ({"grid": [1, 2, -3]}, "Expected `int` >= 0"),
        ({"grid": [1, 2, 1 << 62]}, "Expected `int` <"),
        ({"textures": [{"index": 0, "memory": 0}]}, "memory 0 is no texture"),
        ({"textures": [{"index": 0, "memory": 5}]}, "memory 5 is no texture"),
        ({"memories": [textured(size=[3, 1, 1])]}, "texture 't' is of another size"),
        ({"memories": [textured(levels=1 << 40)]}, "texture 't' is of another size"),
        ({"memories": [textured(texel=0)]}, "texture 't' is of another size"),
        ({"memories": [textured()]}, "memory 0 is a texture, not a buffer"),
        (
            {"inline": [{"index": 0, "value": {"length": 9, "runs": [0, 1, 1 << 40]}}]},
            "a run of 1099511627776 parts from part 0 on",
        ),
        ({"inline": [{"index": 0, "value": {"length": 9, "runs": [0, 1]}}]}, "not in runs"),
    ],
)
def test_what_a_dispatch_cannot_say_is_told(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    write(tmp_path / "a", dispatches=1)
    plain = taken_apart(tmp_path / "a")
    plain.dispatches[0].update(change)
    with pytest.raises(RecordingError, match=message):
        read_all(put_together(plain, tmp_path / "b"))


def test_contents_that_are_too_long_for_their_parts_take_no_memory(tmp_path: Path) -> None:
    write(tmp_path / "a")
    with Recording(tmp_path / "a") as recording, pytest.raises(RecordingError, match="parts"):
        recording.contents(Bytes(length=1 << 61, parts=(0,)))


PARTS = st.lists(st.sampled_from(range(6)), max_size=12)


@given(PARTS)
def test_contents_of_any_order_of_parts_are_read(parts: list[int]) -> None:
    pieces = [bytes([number]) * PART for number in range(6)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a"
        data = b"".join(pieces[number] for number in parts) + b"the end"
        write(path, data)
        assert read_all(path) == [data, data]


def test_addresses_of_all_64_bits_are_read(tmp_path: Path) -> None:
    write(tmp_path / "a")
    with Recording(tmp_path / "a") as recording:
        (dispatch, _) = recording.dispatches()
    made = [
        replace(dispatch, memories=(replace(dispatch.memories[0], address=address),))
        for address in (0, 0xFFFF << 48, 1 << 63, (1 << 62) - 1, 5, 1 << 62)
    ]
    with RecordingWriter(tmp_path / "b", INFO, "program") as writer:
        writer.add_library(recording.header.libraries[0])
        writer.add_kernel(recording.header.kernels[0])
        for each in made:
            writer.add_dispatch(each)
    with Recording(tmp_path / "b") as recording:
        assert list(recording.dispatches()) == made


def test_what_was_flushed_is_there_while_it_is_recorded(tmp_path: Path) -> None:
    write(tmp_path / "a", b"early")  # and the source
    with Recording(tmp_path / "a") as recording:
        kernel, library = recording.header.kernels[0], recording.header.libraries[0]
        (dispatch, _) = recording.dispatches()
    with RecordingWriter(tmp_path / "b", INFO, "program", flush=1e6) as writer:
        for data in (b"kernel void k() {}", b"early", b"later"):
            writer.add_bytes(data)
        writer.add_library(library)
        writer.add_kernel(kernel)
        for count in (1, 2, 3):
            writer.add_dispatch(dispatch)
            writer.flush()
            with Recording(writer.partial) as recording:
                assert [recording.is_complete, recording.count] == [False, count]
                assert list(recording.dispatches()) == [dispatch] * count
            assert bytes(read_all(writer.partial)[-1]) == b"early"
        assert writer.partial.name == "b.partial.assay-recording"
    assert partials_of(tmp_path / "b") == []
    with Recording(tmp_path / "b") as recording:
        assert [recording.is_complete, recording.count] == [True, 3]


def test_what_is_recorded_is_flushed_in_time(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "a", INFO, "program", flush=0.01) as writer:
        writer.leave_out("reason")
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            with Recording(writer.partial) as recording:
                if recording.header.left_out:
                    break
        assert recording.header.left_out == {"reason": 1}


FORKING = """
import os, sys
from pathlib import Path
from assay.hal.recordings import RecordingWriter
from tests.hal.recordings.test_file import INFO, fill
with RecordingWriter(Path(sys.argv[1]), INFO, "program") as writer:
    fill(writer)
    writer.leave_out("before")
    child = os.fork()
    if not child:
        writer.leave_out("in the child")
        writer.close()
        os._exit(0)
    os.waitpid(child, 0)
    writer.leave_out("after")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_that_was_forked_writes_nothing(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING, tmp_path / "a"], cwd=root, check=True
    )
    with Recording(tmp_path / "a") as recording:
        assert recording.header.left_out == {"before": 1, "after": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "a.assay-recording"
    with RecordingWriter(path, INFO, "one") as one, RecordingWriter(path, INFO, "two") as two:
        names = [each.partial.name for each in (one, two)]
        assert names == ["a.partial.assay-recording", "a.partial-2.assay-recording"]
        assert partials_of(path) == [one.partial, two.partial]
        fill(two)
    with Recording(path) as recording:
        assert recording.header.program == "two"  # whose file stays, as `one` has no dispatch

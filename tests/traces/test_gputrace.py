"""Captures of Xcode's, written here as public descriptions have them: none of a Mac was here."""

from __future__ import annotations

import plistlib
import random
import struct
from pathlib import Path

import pytest

from assay.traces.events.errors import TraceFileError
from assay.traces.files import read_trace
from assay.traces.formats.gputrace import read_gputrace

ADD, SCALE = 0x1000, 0x2000  # functions
PIPELINES = {0x1111: ADD, 0x2222: SCALE}
FIRST, SECOND = 0xAAAA, 0xBBBB  # encoders


def named(address: int, name: str) -> bytes:
    return b"\x09\x10\0\0CS\0\0" + struct.pack("<Q", address) + name.encode() + b"\0" * 5


def made(pipeline: int, function: int) -> bytes:
    code = b"Ctt\0" + struct.pack("<QQ", 0xD, function)
    return code + bytes(0x20 - len(code)) + struct.pack("<Q", pipeline)


def set_pipeline(encoder: int, pipeline: int) -> bytes:
    return b"\x0e\x02\0\0Ct\0\0" + struct.pack("<QQ", encoder, pipeline)


def dispatch(encoder: int, *sizes: int) -> bytes:
    return b"\x68\0\0\0C@3ul@3ul\0\0\0" + struct.pack("<Q6Q", encoder, *sizes)


CAPTURE = b"".join(
    [
        b"MTSP" + bytes(56),
        named(SECOND, "a label"),
        set_pipeline(FIRST, 0x1111),
        dispatch(FIRST, 64, 2, 1, 32, 1, 1),
        set_pipeline(FIRST, 0x2222),
        dispatch(FIRST, 128, 1, 1, 64, 1, 1),
        dispatch(SECOND, 1, 1, 1, 8, 1, 1),
    ]
)
RESOURCES = b"MTSP" + b"".join(
    [named(ADD, "add"), named(SCALE, "scale")] + [made(*each) for each in PIPELINES.items()]
)


def profile(*ends: int) -> bytes:
    """What Xcode archives, dispatches ending at these microseconds."""
    names = ["", "add", "scale"]
    functions = b"".join(bytes(28) + struct.pack("<I", n) + bytes(16) for n in (1, 2))
    pipelines = b"".join(bytes(16) + struct.pack("<I", n) + bytes(20) for n in (0, 1))
    commands = b"".join(
        struct.pack("<IIIIQQ", n, 0, 0, n % 2, end, n // 2) for n, end in enumerate(ends)
    )
    uid = plistlib.UID
    root = {
        "strings": uid(2),
        "functionInfoData": uid(3),
        "functionInfoSize": 48,
        "pipelineStateInfoData": uid(4),
        "pipelineStateInfoSize": 40,
        "gpuCommandInfoData": uid(5),
        "gpuCommandInfoSize": 32,
    }
    data = [{"NS.data": each} for each in (functions, pipelines, commands)]
    array = {"NS.objects": [uid(6 + n) for n in range(len(names))]}
    objects = ["$null", root, array, *data, *names]
    return plistlib.dumps({"$objects": objects}, fmt=plistlib.FMT_BINARY)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "run.gputrace"
    folder.mkdir()
    (folder / "capture").write_bytes(CAPTURE)
    (folder / "device-resources-0x1").write_bytes(RESOURCES)
    return folder


def profiled(bundle: Path, data: bytes) -> Path:
    inside = bundle / "run.gpuprofiler_raw"
    inside.mkdir()
    (inside / "streamData").write_bytes(data)
    return bundle


def slices(bundle: Path) -> list[tuple[str, int, int]]:
    trace = read_trace(bundle)
    made = trace.slices
    found = zip(made.name, made.begin, made.duration, strict=True)
    return sorted(((trace.names[n], int(at), int(ns)) for n, at, ns in found), key=lambda s: s[1])


def test_dispatches_have_their_kernels_grids_and_encoders(bundle: Path) -> None:
    assert slices(bundle) == [("add", 0, 1000), ("scale", 1000, 1000), ("a label", 2000, 1000)]
    trace = read_trace(bundle)
    assert trace.slice_arguments(0) == {"grid": "64 x 2 x 1", "group": "32 x 1 x 1"}
    assert [track.name for track in trace.tracks] == ["GPU capture", "encoder 0", "encoder 1"]
    assert trace.notes == (
        "the capture has no times (profile it in Xcode): each dispatch is shown 1 us",
    )


def test_a_profile_gives_each_dispatch_its_time(bundle: Path) -> None:
    profiled(bundle, profile(5, 12, 40))
    assert slices(bundle) == [("add", 0, 5000), ("scale", 5000, 7000), ("add", 12000, 28000)]
    assert read_trace(bundle).notes == ()


def test_a_profile_of_other_dispatches_is_told(bundle: Path) -> None:
    profiled(bundle, profile(5))
    assert read_trace(bundle).notes == ("the capture has 3 dispatches and its profile 1",)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"no list", "no archive that can be read"),
        (plistlib.dumps({"$objects": ["$null"]}), "no archive that can be read"),
        (plistlib.dumps({"$objects": ["$null", {}]}), "functionInfoData is missing"),
        (profile(9, 3), "dispatch 1 ends before the one in front of it"),
    ],
)
def test_damaged_profiles_are_refused_with_what_is_wrong(
    data: bytes, message: str, bundle: Path
) -> None:
    with pytest.raises(TraceFileError, match=message):
        read_gputrace(profiled(bundle, data))


def test_folders_that_are_no_captures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match="is a folder without a file `capture`"):
        read_trace(tmp_path)
    (tmp_path / "capture").write_bytes(b"PK..")
    with pytest.raises(TraceFileError, match="expected b'MTSP'"):
        read_trace(tmp_path)
    (tmp_path / "capture").write_bytes(b"MTSP")
    with pytest.raises(TraceFileError, match="holds no dispatches"):
        read_trace(tmp_path)


def test_damaged_captures_are_read_or_refused_and_nothing_else(bundle: Path) -> None:
    draw = random.Random(11)
    profiled(bundle, profile(5, 12, 40))
    stream = bundle / "run.gpuprofiler_raw" / "streamData"
    whole = [(path, path.read_bytes()) for path in (bundle / "capture", stream)]
    for _ in range(400):
        for path, data in whole:
            changed = bytearray(data[: draw.choice((len(data), draw.randrange(len(data))))])
            for _ in range(draw.choice((0, 1, 4)) if changed else 0):
                changed[draw.randrange(len(changed))] = draw.randrange(256)
            path.write_bytes(changed)
        try:
            read_trace(bundle)
        except TraceFileError:
            continue

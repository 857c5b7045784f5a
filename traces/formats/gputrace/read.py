"""A capture as a timeline: with the times of a profile where it has one, else in order alone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ...events.clock import Clock
from ...events.content import Content
from ...events.errors import TraceFileError
from ...events.schema import Form, Role
from ...record.gather import Event, Gatherer
from ...record.recorder import Recorder
from .calls import MAGIC, Call, calls_of
from .profile import ProfileError, Timed, timed_of

SUFFIX: Final = ".gputrace"
_PROFILES: Final = "*.gpuprofiler_raw/streamData"
_LARGEST: Final = 1 << 30
"""Bytes of one of its files; contents of buffers, which may be larger, are not read."""
_NS_PER_US: Final = 1_000


def read_gputrace(folder: Path) -> Content:
    """The dispatches of a capture. Raises TraceFileError, OSError."""
    calls = _calls(folder)
    profile = next(iter(sorted(folder.glob(_PROFILES))), None)
    gatherer = Gatherer(recorder=Recorder(Clock.nanoseconds("recording")))
    notes = []
    if profile is not None:
        timed = _timed(profile)
        fits = len(timed) == len(calls)
        for number, each in enumerate(timed):
            gatherer.events.append(_measured(gatherer, each, calls[number] if fits else None))
        if calls and not fits:
            notes.append(f"the capture has {len(calls)} dispatches and its profile {len(timed)}")
    else:
        gatherer.events += [_ordered(gatherer, n, each) for n, each in enumerate(calls)]
        notes.append("the capture has no times (profile it in Xcode): each dispatch is shown 1 us")
    if not gatherer.events:
        raise TraceFileError(str(folder), None, "holds no dispatches of compute encoders")
    gatherer.emit()
    content = gatherer.recorder.content()
    content.notes = [*gatherer.notes, *notes]
    return content


def _calls(folder: Path) -> list[Call]:
    capture = folder / "capture"
    if not capture.is_file():
        raise TraceFileError(
            str(folder), None, "is a folder without a file `capture`, so no .gputrace"
        )
    data = _bytes(capture)
    if not data.startswith(MAGIC):
        raise TraceFileError(str(capture), 0, f"begins with {data[:4]!r}; expected {MAGIC!r}")
    return calls_of(data, [_bytes(each) for each in sorted(folder.glob("device-resources-*"))])


def _timed(profile: Path) -> list[Timed]:
    try:
        return timed_of(_bytes(profile))
    except ProfileError as error:
        raise TraceFileError(str(profile), None, str(error)) from None


def _bytes(path: Path) -> bytes:
    size = path.stat().st_size
    if size > _LARGEST:
        raise TraceFileError(str(path), None, f"has {size} bytes; at most {_LARGEST} are read")
    return path.read_bytes()


def _measured(gatherer: Gatherer, timed: Timed, call: Call | None) -> Event:
    begin, duration = timed.begin * _NS_PER_US, (timed.end - timed.begin) * _NS_PER_US
    return _event(gatherer, timed.kernel, timed.encoder, begin, duration, call)


def _ordered(gatherer: Gatherer, number: int, call: Call) -> Event:
    name = call.kernel or "dispatch"
    return _event(gatherer, name, call.encoder, number * _NS_PER_US, _NS_PER_US, call)


def _event(
    gatherer: Gatherer, name: str, encoder: int, begin: int, duration: int, call: Call | None
) -> Event:
    root = gatherer.recorder.track("GPU capture")
    sizes = {} if call is None else {"grid": _text(call.grid), "group": _text(call.threadgroup)}
    return Event(
        form=Form.SLICE,
        track=gatherer.recorder.track(f"encoder {encoder}", root, Role.FOREIGN),
        name=name,
        begin=begin,
        duration=duration,
        category="dispatch",
        arguments=dict(sizes),
        cause="",
    )


def _text(sizes: tuple[int, int, int]) -> str:
    return " x ".join(map(str, sizes))

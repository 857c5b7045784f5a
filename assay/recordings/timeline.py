"""A recording as a timeline, and beside it what the model says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.hal.recordings import Recording, RecordingError
from assay.traces import Clock, Recorder, Role, Trace
from assay.traces.events import kinds as k
from assay.traces.record.merge import merged

if TYPE_CHECKING:
    from ..prediction.result import TimeResult

_NS = 1e9
_LONGEST = 1e9  # seconds of a run; traces have 64 bits of nanoseconds


def measured(recording: Recording) -> Trace:
    """The dispatches of a recording when the recorded device ran them. Raises RecordingError."""
    header = recording.header
    device = header.device.name
    if header.device.kind != "native":  # its times are those of this machine, not of any GPU
        device += f" ({header.device.kind})"
    recorder = Recorder(Clock.nanoseconds(), title=f"{header.program} on {device}")
    track = recorder.track(device, role=Role.QUEUE)
    start: float | None = None
    for number, record in enumerate(recording.dispatches()):
        if not record.seconds:
            continue
        start = record.begin if start is None else start
        if not (0 <= record.begin - start <= _LONGEST and record.seconds <= _LONGEST):
            raise RecordingError(
                f"{recording.path}: dispatch {number} is said to have run from {record.begin:g} s "
                f"to {record.end:g} s, and the first one from {start:g} s; the file is damaged"
            )
        width, height, depth = record.threadgroup
        grid = [
            -(-size // max(each, 1)) if record.in_threads else size
            for size, each in zip(record.grid, record.threadgroup, strict=True)
        ]
        recorder.slice(
            k.DISPATCH,
            track,
            header.kernels[record.kernel].name,
            round((record.begin - start) * _NS),
            max(1, round(record.seconds * _NS)),
            grid_x=grid[0],
            grid_y=grid[1],
            grid_z=grid[2],
            threads=width * height * depth,
        )
    return recorder.finish()


def side_by_side(recorded: Trace, times: TimeResult | None) -> Trace:
    """The recorded run, above what was predicted if it was."""
    if times is None:
        return recorded
    return merged([recorded, times.trace()], ["recorded", "predicted"])

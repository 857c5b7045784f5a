"""One dispatch or copy as a slice of a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.hal.metal.timed import Copied, Dispatched
from assay.traces.events import kinds as k

if TYPE_CHECKING:
    from assay.traces import Recorder


def write_work(
    recorder: Recorder, track: int, item: Dispatched | Copied, begin: int, duration: int
) -> None:
    """Write what a pass did from `begin` on, in cycles."""
    if isinstance(item, Copied):
        recorder.slice(k.TRANSFER, track, item.name, begin, duration, bytes=item.bytes)
        return
    x, y, z = item.grid
    width, height, depth = item.threadgroup
    time = item.prediction.time
    recorder.slice(
        k.DISPATCH,
        track,
        item.kernel,
        begin,
        duration,
        grid_x=x,
        grid_y=y,
        grid_z=z,
        threads=width * height * depth,
        occupancy=time.occupancy.simdgroups,
        limiter=time.occupancy.limiter,
        flops=round(time.flops),
        bytes=round(time.bytes.get("dram", 0.0)),
    )

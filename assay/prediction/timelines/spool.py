"""A timeline that grows while a program runs, for when the process is killed.

When things run is known only at the end. So dispatches stand one after the other here, each as long
as it takes alone, and what queues wait for is missing.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from assay.hal.metal.timed import Copied, Dispatched
from assay.hw.apple.system import overheads
from assay.sim.clock import ClockDomain, ticks_of
from assay.traces import Clock, Recorder, Role

from ..result import DispatchResult
from .core_timeline import CoreWriter
from .work_slices import write_work

if TYPE_CHECKING:
    from assay.hw.apple.facts.chips import Chip

_MOST_ROWS = 5_000  # slices of a core for each kernel
_NS = 1e-9
_PERIOD_S = 0.05  # between looks for what is to reach the file


class Spool:
    """Writes dispatches to a `.assay-trace` file, at most a moment after they are predicted.

    A file that cannot be written any more ends without a word: the run is worth more.

    Args:
        path: the file. Raises OSError if it cannot be made.
        chip: the GPU.
        program: what the timeline calls the program.
    """

    def __init__(self, path: Path, chip: Chip, program: str) -> None:
        self._chip = chip
        self._costs = overheads(chip)
        self._clock = ClockDomain(chip.name, round(chip.clock))
        self._recorder: Recorder | None = Recorder(
            Clock.cycles(f"{chip.name} GPU", round(chip.clock)),
            title=f"{program}, cut short: each dispatch alone, one after the other",
            file=path,
        )
        self._recorder.flush()
        self._core: CoreWriter | None = None
        self._ends: dict[int, int] = {}  # in ticks, by queue
        self._groups: dict[int, int] = {}  # of the last dispatch, by queue
        self._shown: set[int] = set()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._flusher = threading.Thread(target=self._flush_often, name="spool", daemon=True)
        self._flusher.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._ended.set()
        self._flusher.join()
        with self._lock:
            self._close()

    def took(self, queue: int, item: Dispatched | Copied) -> None:
        """Write what is next on a queue."""
        with self._lock:
            recorder = self._recorder
            if recorder is None:
                return
            try:
                self._write(recorder, queue, item)
            except OSError:
                self._close()

    def _flush_often(self) -> None:
        """What was written reaches the file soon, also while a dispatch takes long."""
        while not self._ended.wait(_PERIOD_S):
            with self._lock:
                try:
                    if self._recorder is not None:
                        self._recorder.flush()
                except OSError:
                    self._close()

    def _close(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            with suppress(OSError):
                recorder.close(complete=False)

    def _write(self, recorder: Recorder, queue: int, item: Dispatched | Copied) -> None:
        begin = self._ends.get(queue, 0) + self._overhead(queue, item)
        end = self._ends[queue] = begin + ticks_of(self._seconds(item))
        first, last = self._clock.cycle(begin), self._clock.cycle(end)
        parent = recorder.track(f"queue {queue}", role=Role.QUEUE)
        track = recorder.track("dispatches", parent, Role.COMMAND_BUFFER)
        write_work(recorder, track, item, first, last - first)
        if isinstance(item, Dispatched) and id(item.prediction) not in self._shown:
            # Predictions stay alive with the log that they are in.
            self._shown.add(id(item.prediction))
            self._show(recorder, item, (first, last))

    def _overhead(self, queue: int, item: Dispatched | Copied) -> int:
        """Ticks before a piece of work begins."""
        if isinstance(item, Copied):
            return 0
        waits = self._groups.get(queue, item.group) != item.group
        self._groups[queue] = item.group
        return ticks_of((self._costs.dispatch + waits * self._costs.barrier) * _NS)

    def _seconds(self, item: Dispatched | Copied) -> float:
        if isinstance(item, Copied):
            return item.bytes / (self._chip.bandwidth * self._chip.sustained)
        return item.prediction.time.seconds

    def _show(self, recorder: Recorder, item: Dispatched, span: tuple[int, int]) -> None:
        """Write what a core does."""
        time = item.prediction.time
        if time.timeline is None:
            return
        if self._core is None:
            gpu = recorder.track("GPU")
            self._core = CoreWriter(recorder, recorder.track("core 0", gpu, Role.CORE))
        dispatch = DispatchResult(
            number=0,
            kernel=item.kernel,
            file=item.file,
            line=item.line,
            grid=item.grid,
            threadgroup=item.threadgroup,
            time=time,
            begin=0.0,
            end=0.0,
            same_as=0,
            sources=item.sources,
        )
        self._core.write(dispatch, item.prediction, span, _MOST_ROWS)

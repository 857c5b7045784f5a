"""What a replay found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from assay.hal.recordings import DeviceInfo

from .compared import Difference

if TYPE_CHECKING:
    from assay.traces import Trace

    from ..reports.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedDispatch:
    """One dispatch of a recording, as it ran here.

    Attributes:
        number: its place in the recording, from 0 on.
        kernel: its name.
        file, line: where the kernel is, as far as that is known.
        grid: what was dispatched, for people.
        label: what the program calls it.
        buffers: how many buffers were compared.
        differences: those with other bits.
        problem: why it could not be run or compared here; "" for nothing.
        measured: seconds on the recorded device; 0 if it does not tell.
        predicted: seconds that the model says; None if it was not asked.
    """

    number: int
    kernel: str
    file: str
    line: int
    grid: str
    label: str
    buffers: int
    differences: tuple[Difference, ...]
    problem: str
    measured: float
    predicted: float | None

    @property
    def verdict(self) -> str:
        """ "equal", "close" (within tolerance), "different" or "not replayed"."""
        if self.problem:
            return "not replayed"
        if any(each.bad for each in self.differences):
            return "different"
        return "close" if self.differences else "equal"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """A recording that was replayed.

    Attributes:
        recording: the file's name.
        program: what was recorded.
        device: the device that made it.
        dispatches: in the order of the recording.
        left_out: dispatches that the recording does not have, by the reason.
        is_complete: whether the recording has its end; if not, its process was killed, or the file
            is cut short, and the dispatches are those that were written until then.
        report: what checks found; None if none were asked for.
        chip: the GPU that times are predicted for; "" for none.
        trace: both runs on one axis of time, if that was asked for.
    """

    recording: str
    program: str
    device: DeviceInfo
    dispatches: tuple[ReplayedDispatch, ...]
    left_out: Mapping[str, int]
    is_complete: bool = True
    report: Report | None = field(default=None, repr=False)
    chip: str = ""
    trace: Trace | None = field(default=None, repr=False)

    @property
    def different(self) -> tuple[ReplayedDispatch, ...]:
        """Dispatches with results out of tolerance."""
        return tuple(each for each in self.dispatches if each.verdict == "different")

    @property
    def not_replayed(self) -> tuple[ReplayedDispatch, ...]:
        """Dispatches that could not be run here."""
        return tuple(each for each in self.dispatches if each.problem)

    @property
    def passed(self) -> bool:
        """Whether all of it is there and ran here, within tolerance and without findings."""
        found = self.report is not None and bool(self.report.errors)
        is_whole = self.is_complete and bool(self.dispatches) and not self.not_replayed
        return is_whole and not (self.different or found)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data."""
        from ..reports.machine_formats import report_json

        return {
            "recording": self.recording,
            "program": self.program,
            "device": asdict(self.device),
            "chip": self.chip or None,
            "passed": self.passed,
            "complete": self.is_complete,
            "left_out": dict(self.left_out),
            "dispatches": [{**asdict(d), "verdict": d.verdict} for d in self.dispatches],
            "checks": None if self.report is None else report_json(self.report),
        }

    def __str__(self) -> str:
        from .text import result_text

        return result_text(self)

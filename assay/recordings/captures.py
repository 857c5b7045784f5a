"""Captures of IREE's tools, run again on the emulated device: checked, timed, results compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.hal.captures import Capture, CaptureError, Execution, HostRead
from assay.hal.metal import api
from assay.hal.metal.driver import MetalDriver
from assay.hal.status import StatusError

from ..elements import Array
from .compared import Difference, difference
from .tolerances import Tolerances

if TYPE_CHECKING:
    from assay.traces import Trace

    from ..prediction.result import TimeResult
    from ..reports.report import Report

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureResult:
    """A capture that was run again.

    Attributes:
        capture: the file's name.
        dispatches: how many its queues were given.
        results: what the host read of memory after the device had run, as bytes.
        compared: how many of them were compared with references.
        differences: those with other bits than their reference.
        report: what checks found; None if none were asked for.
        chip: the GPU that times are predicted for; "" for none.
        times: what the model predicts; None if it was not asked, or cannot tell.
    """

    capture: str
    dispatches: int
    results: tuple[bytes, ...] = field(repr=False)
    compared: int
    differences: tuple[Difference, ...]
    report: Report | None = field(default=None, repr=False)
    chip: str = ""
    times: TimeResult | None = field(default=None, repr=False)

    @property
    def trace(self) -> Trace | None:
        """What was predicted, for the viewer; None if it was not asked."""
        return None if self.times is None else self.times.trace()

    @property
    def passed(self) -> bool:
        """Whether results are within tolerance and checks found nothing."""
        found = self.report is not None and bool(self.report.errors)
        return not found and not any(each.bad for each in self.differences)

    def to_json(self) -> dict[str, Any]:
        """Everything but the results' bytes as plain data."""
        from ..reports.machine_formats import report_json

        return {
            "capture": self.capture,
            "passed": self.passed,
            "dispatches": self.dispatches,
            "results": [len(each) for each in self.results],
            "compared": self.compared,
            "differences": [asdict(each) for each in self.differences],
            "chip": self.chip or None,
            "predicted": None if self.times is None else self.times.seconds,
            "checks": None if self.report is None else report_json(self.report),
        }

    def __str__(self) -> str:
        from .capture_text import capture_text

        return capture_text(self)


def run_capture(path: Path, device: str = "emulated", say: Say = lambda text: None) -> Execution:
    """Do the calls of a capture on a Metal device, "emulated" or "native".

    Raises:
        CaptureError: for a file that is no capture, is damaged, or cannot be done again.
        StatusError: what the device had to say.
        NoSuchMetal: if the device is not here.
        OSError: if the file cannot be read.
    """
    with Capture(path) as capture:
        execution = Execution(MetalDriver(api.load(device)).open())
        execution.run(capture, say)
    return execution


def replay_capture(
    path: Path | str,
    *,
    references: Sequence[Array] = (),
    tolerances: Tolerances | None = None,
    checks: str | Iterable[str] | None = "all",
    chip: str = "",
    timeline: bool = False,
    say: Say = lambda text: None,
) -> CaptureResult:
    """Run a capture again on the emulated device.

    Args:
        path: what a tool of IREE's wrote with `--device_replay_output`.
        references: the results of the run that was captured, in order, as its `--output=@FILE.npy`
            keeps them; a capture has none itself.
        tolerances: how far results may be from them; `result 0` and so on are their names.
        checks: what to look for meanwhile, as `assay.check` takes it; None for nothing.
        chip: the GPU that times are predicted for; "" for none.
        timeline: whether `times` keeps what a timeline needs.
        say: told what is going on.

    Raises:
        CaptureError: for a file that is no capture, is damaged, or cannot be done again; for
            references that do not fit.
        OSError: if the file cannot be read.
        SpecError: for a chip that is not known.
        ValueError: for a name that is no check.
    """
    path = Path(path)
    report = None
    with ExitStack() as stack:
        seen = None
        if chip:
            from ..prediction import timing

            seen = stack.enter_context(timing(chip, program=path.name, timeline=timeline))
        if checks is not None:
            from ..checks.programs import checked, chosen_checks
            from ..reports.report import Report

            report = stack.enter_context(checked(Report(chosen_checks(checks))))
        try:
            execution = run_capture(path, say=say)
        except StatusError as error:
            raise CaptureError(f"{path}: {error}") from None
    limits = tolerances or Tolerances()
    return CaptureResult(
        capture=path.name,
        dispatches=execution.dispatches,
        results=tuple(each.data for each in execution.reads),
        compared=len(references),
        differences=tuple(_differences(path, execution.reads, references, limits)),
        report=report,
        chip=chip,
        times=seen.result(partial=True) if seen is not None else None,
    )


def _differences(
    path: Path, reads: Sequence[HostRead], references: Sequence[Array], tolerances: Tolerances
) -> Iterable[Difference]:
    """What differs of each result from its reference."""
    if not references:
        return
    lengths = [each.nbytes for each in references]
    if lengths != [len(each.data) for each in reads]:
        there = ", ".join(f"{len(each.data):,}" for each in reads) or "none"
        given = ", ".join(f"{each:,}" for each in lengths)
        raise CaptureError(
            f"{path}: the host read results of {there} bytes; the references have {given}"
        )
    for number, (read, expected) in enumerate(zip(reads, references, strict=True)):
        name = f"result {number}"
        here = np.frombuffer(read.data, np.uint8)
        flat = np.frombuffer(np.ascontiguousarray(expected).tobytes(), np.uint8)
        found = difference(name, here, flat, expected.dtype, tolerances.of(name))
        if found is not None:
            yield found

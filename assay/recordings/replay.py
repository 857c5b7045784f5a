"""Replays recordings on the emulated device: every output compared, checked, and timed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.compiler.msl import KernelFunction
from assay.hal.recordings import DispatchRecord, Recording
from assay.hal.recordings.texels import place_of
from assay.hw.apple.facts.chips import chip as chip_named
from assay.hw.apple.facts.chips import chips

from ..launches.grid import grid_text
from .compared import difference
from .errors import CannotReplay
from .machine import Machine, Ran
from .naming import argument_of, is_only_read
from .places import writers
from .result import ReplayedDispatch, ReplayResult
from .tolerances import Tolerances

if TYPE_CHECKING:
    from ..prediction import Timing
    from ..prediction.result import TimeResult
    from ..reports.report import Report

Say = Callable[[str], None]
_EXPLAINED = 20  # dispatches that differ whose lines are looked for


def replay(
    path: Path | str,
    *,
    tolerances: Tolerances | None = None,
    checks: str | Iterable[str] | None = "all",
    chip: str | None = None,
    timeline: bool = False,
    say: Say = lambda text: None,
) -> ReplayResult:
    """Run what a recording has, each dispatch from what was recorded before it, and compare.

    Args:
        path: the recording.
        tolerances: how far results may be from the recorded ones; every bit must be equal if not
            given, but for those of NaN.
        checks: what to look for meanwhile, as `assay.check` takes it; None for nothing.
        chip: the GPU that times are predicted for, as well; "" for none; the one that was
            recorded, where its name is known, if not given.
        timeline: whether to keep both runs for `ReplayResult.trace`.
        say: told what is going on.

    Raises:
        RecordingError: for a file that is no recording or is damaged.
        OSError: if it cannot be read.
        SpecError: for a chip that is not known.
        ValueError: for a name that is no check.
    """
    with Recording(Path(path)) as recording:
        return _Replay(recording, tolerances or Tolerances(), say).run(checks, chip, timeline)


class _Replay:
    """One replay."""

    def __init__(self, recording: Recording, tolerances: Tolerances, say: Say) -> None:
        self._recording = recording
        self._tolerances = tolerances
        self._say = say
        self._machine = Machine(recording)

    def run(
        self, checks: str | Iterable[str] | None, chip: str | None, timeline: bool
    ) -> ReplayResult:
        """Replay all dispatches."""
        header = self._recording.header
        key = _chip_of(header.device.name) if chip is None else chip
        report = None if checks is None else _report(checks)
        with ExitStack() as stack:
            seen = _timed(stack, key, header.program, timeline)
            if report is not None:
                from ..checks.programs import checked

                stack.enter_context(checked(report))
            done = list(self._dispatches())
        done = list(self._explained(done))
        times = seen.results(partial=True)[0] if seen is not None else None
        predicted = done if times is None else list(_with_times(done, times))
        return ReplayResult(
            recording=self._recording.path.name,
            program=header.program,
            device=header.device,
            dispatches=tuple(predicted),
            left_out=header.left_out,
            is_complete=self._recording.is_complete,
            report=report,
            chip=key,
            trace=self._trace(times) if timeline else None,
        )

    def _dispatches(self) -> Iterator[ReplayedDispatch]:
        for number, record in enumerate(self._recording.dispatches()):
            name = self._recording.header.kernels[record.kernel].name
            self._say(f"dispatch {number}: {name}")
            try:
                ran = self._machine.run(record)
            except CannotReplay as reason:
                yield _replayed(number, name, record, problem=str(reason))
                continue
            yield self._compared(number, name, record, ran)

    def _compared(
        self, number: int, name: str, record: DispatchRecord, ran: Ran
    ) -> ReplayedDispatch:
        if bool(ran.error) != bool(record.error):
            who = "the recorded device" if record.error else "the emulated device"
            problem = f"{who} failed, and the other did not: {record.error or ran.error}"
            return _replayed(number, name, record, kernel=ran.kernel, problem=problem)
        limits = self._tolerances.of(name)
        encoded = {each.memory for each in record.encoded}
        found, compared = [], 0
        for memory, here in enumerate(ran.memories):
            if memory in encoded:
                continue  # the device alone knows what its argument buffers hold
            each = record.memories[memory]
            if self._changed_by_the_host(record, ran, memory):
                continue
            compared += 1
            recorded = np.frombuffer(self._recording.contents(each.after or each.before), np.uint8)
            called, element = argument_of(record, ran.kernel, memory)
            differs = difference(
                called or each.label or f"#{memory}", here, recorded, element, limits
            )
            if differs is not None:
                texel = "" if each.texture is None else place_of(each.texture, differs.byte)
                found.append(replace(differs, memory=memory, texel=texel))
        result = _replayed(number, name, record, kernel=ran.kernel)
        return replace(result, buffers=compared, differences=tuple(found))

    def _changed_by_the_host(self, record: DispatchRecord, ran: Ran, memory: int) -> bool:
        """Whether another than the kernel wrote a buffer while it ran, such as the next frame's."""
        each = record.memories[memory]
        if each.after is None or not is_only_read(record, ran.kernel, memory):
            return False
        before = np.frombuffer(self._recording.contents(each.before), np.uint8)
        return bool(np.array_equal(ran.memories[memory], before))

    def _explained(self, done: Sequence[ReplayedDispatch]) -> Iterator[ReplayedDispatch]:
        """The dispatches; of the first that differ with the lines that write what does."""
        wanted = {each.number for each in done if each.verdict == "different"}
        wanted = set(sorted(wanted)[:_EXPLAINED])
        records = self._recording.dispatches() if wanted else ()
        known = {number: each for number, each in enumerate(records) if number in wanted}
        for each in done:
            record = known.get(each.number)
            if record is None:
                yield each
                continue
            self._say(f"dispatch {each.number}: which lines write what differs")
            explained = [
                replace(one, places=writers(self._machine, record, one.memory, one.byte))
                for one in each.differences
            ]
            yield replace(each, differences=tuple(explained))

    def _trace(self, times: TimeResult | None) -> Any:
        from .timeline import measured, side_by_side

        return side_by_side(measured(self._recording), times)


def _replayed(
    number: int,
    name: str,
    record: DispatchRecord,
    *,
    kernel: KernelFunction | None = None,
    problem: str = "",
) -> ReplayedDispatch:
    grid = record.grid
    text = grid_text(
        grid if record.in_threads else None,
        None if record.in_threads else grid,
        record.threadgroup,
    )
    return ReplayedDispatch(
        number=number,
        kernel=name,
        file=kernel.file if kernel is not None else "",
        line=kernel.line if kernel is not None else 0,
        grid=text,
        label=record.label,
        buffers=0,
        differences=(),
        problem=problem,
        measured=record.seconds,
        predicted=None,
    )


def _report(checks: str | Iterable[str]) -> Report:
    from ..checks.programs import chosen_checks
    from ..reports.report import Report

    return Report(chosen_checks(checks))


def _chip_of(name: str) -> str:
    """The key of the first chip, with all cores, that Metal calls so; "" if none is."""
    return next((key for key, each in chips().items() if each.name == name), "")


def _timed(stack: ExitStack, key: str, program: str, timeline: bool) -> Timing | None:
    if not key:
        return None
    from ..prediction import timing

    chip_named(key)
    return stack.enter_context(timing(key, program=program, timeline=timeline))


def _with_times(
    replayed: Iterable[ReplayedDispatch], times: TimeResult
) -> Iterator[ReplayedDispatch]:
    """The dispatches with their predicted times; what could not be timed has none."""
    left = iter(times.dispatches)
    found = next(left, None)
    for each in replayed:
        if found is not None and not each.problem and found.kernel == each.kernel:
            yield replace(each, predicted=found.seconds)
            found = next(left, None)
        else:
            yield each

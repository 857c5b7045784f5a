"""`assay replay`: runs a recording on the emulated device and compares."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..failures import FAILED, USAGE, CommandError, errors_end_with
from ..options.shared import Json, check_trace_name

if TYPE_CHECKING:
    from ...recordings import CaptureResult, ReplayResult
    from ...recordings.tolerances import Tolerances


RecordingFile = Annotated[
    Path,
    typer.Argument(metavar="RECORDING", help="A recording of assay record, or an .ireereplay."),
]
ToleranceFile = Annotated[
    Path | None,
    typer.Option(
        "--tolerances",
        help="A .toml file: [bold]ulp[/bold], [bold]rtol[/bold] and [bold]atol[/bold] in "
        "[bold][default][/bold] and [bold][kernels.NAME][/bold].",
    ),
]
Check = Annotated[
    str, typer.Option("--check", help="What to look for meanwhile, or [bold]none[/bold].")
]
Chip = Annotated[
    str | None,
    typer.Option(
        "--chip",
        help="The GPU that times are predicted for, or [bold]none[/bold]; the recorded one if "
        "not given.",
    ),
]
References = Annotated[
    list[str] | None,
    typer.Option(
        "--reference",
        help="Of an .ireereplay: the results of that run, [bold]@FILE.npy[/bold] as "
        "[bold]iree-run-module --output[/bold] wrote it.",
    ),
]
BothRuns = Annotated[
    Path | None,
    typer.Option("--trace", help="Write both runs on one axis of time: .html, .pftrace or .json."),
]


def replay_command(
    recording: RecordingFile,
    tolerances: ToleranceFile = None,
    check: Check = "all",
    chip: Chip = None,
    trace: BothRuns = None,
    reference: References = None,
    json: Json = False,
) -> None:
    """Run each dispatch of a recording here, from what was recorded before it, and compare.

    Every bit of every buffer must be as it was recorded, but for those of NaN, unless --tolerances
    says more. Ends with exit code 1 when something is not, or checks find something, and with 2
    when a dispatch cannot be run here, or the recording is incomplete because it was killed.

    An .ireereplay, which IREE's tools write with --device_replay_output, has no results of its own:
    --reference gives them.

    [bold]Examples[/bold]

      assay replay program.assay-recording

      assay replay program.assay-recording --tolerances tolerances.toml --json

      assay replay program.assay-recording --chip m2-pro --trace both.html

      assay replay model.ireereplay --reference @out.npy --chip m2
    """
    from assay.hal.captures import SUFFIX

    from ..terminal import print_json, want_json

    want_json(json)
    errors_end_with(USAGE)  # 1 is for results that differ
    if trace is not None:
        check_trace_name(trace)
    if not recording.is_file():
        raise CommandError(f"{recording}: {_no_file(recording)}", code=USAGE)
    limits = _limits(tolerances)
    if recording.suffix == SUFFIX:
        result: CaptureResult | ReplayResult = _captured(
            recording, reference or [], limits, check, chip, timeline=trace is not None
        )
    elif reference:
        raise CommandError("--reference is for an .ireereplay; recordings have results", code=USAGE)
    else:
        result = _replayed(recording, limits, check, chip, timeline=trace is not None)
    _note_unused(tolerances, limits, result)
    if trace is not None:
        _write(result, trace)
    if json:
        print_json(result.to_json())
    else:
        typer.echo(str(result))
    if not json:
        _need_all(recording, result)
    if not result.passed:
        raise typer.Exit(_code(result))


def _need_all(recording: Path, result: "CaptureResult | ReplayResult") -> None:
    """Refuse to pass what has nothing in it, or not all. Raises CommandError."""
    from assay.hal.recordings import INCOMPLETE

    from ...recordings import ReplayResult

    if not isinstance(result, ReplayResult):
        return
    if not result.dispatches:
        what = "there is no dispatch in it to compare"
        raise CommandError(f"{recording}: {what if result.is_complete else INCOMPLETE}", code=USAGE)
    if not result.is_complete:
        raise CommandError(f"{recording}: {INCOMPLETE}", code=_code(result))


def _no_file(path: Path) -> str:
    """Why nothing can be replayed."""
    from assay.hal.recordings import partials_of

    if path.is_dir():
        return "this is a folder"
    left = partials_of(path)
    if not left:
        return "there is no such file"
    return f"there is no such file; {left[-1]} is what was recorded until its process was killed"


def _code(result: "CaptureResult | ReplayResult") -> int:
    from ...recordings import ReplayResult

    if not isinstance(result, ReplayResult) or result.different:
        return FAILED
    is_whole = result.is_complete and result.dispatches and not result.not_replayed
    return FAILED if is_whole else USAGE


def _write(result: "CaptureResult | ReplayResult", path: Path) -> None:
    from assay.traces.files import write_trace

    made = result.trace
    if made is not None:
        write_trace(made, path)


def _limits(tolerances: Path | None) -> "Tolerances":
    from ...recordings.tolerances import Tolerances, read_tolerances

    return Tolerances() if tolerances is None else read_tolerances(tolerances)


def _note_unused(
    file: Path | None, limits: "Tolerances", result: "CaptureResult | ReplayResult"
) -> None:
    """Tell of patterns that fit nothing, which may be misspelled."""
    from assay.sim.names import listed

    from ...recordings import ReplayResult
    from ..terminal import note

    if isinstance(result, ReplayResult):
        names, what = {each.kernel for each in result.dispatches}, "kernel of the recording"
    else:
        names = {f"result {number}" for number in range(len(result.results))}
        what = "result of the capture"
    if file is not None and (unused := limits.unused(names)):
        note(f"{file}: no {what} is called {listed(unused)}")


def _captured(
    capture: Path,
    reference: list[str],
    tolerances: "Tolerances",
    check: str,
    chip: str | None,
    *,
    timeline: bool,
) -> "CaptureResult":
    import numpy as np

    from ...recordings import replay_capture
    from ...text_values import parse_inputs
    from ..terminal import progress

    if timeline and chip in (None, "none"):
        raise CommandError("--trace of an .ireereplay needs --chip", code=USAGE)
    _check_names(check, chip)
    with progress() as say:
        return replay_capture(
            capture,
            references=[np.asarray(value) for value in parse_inputs(reference)],
            tolerances=tolerances,
            checks=None if check == "none" else check,
            chip="" if chip in (None, "none") else chip,
            timeline=timeline,
            say=say,
        )


def _replayed(
    recording: Path, tolerances: "Tolerances", check: str, chip: str | None, *, timeline: bool
) -> "ReplayResult":
    from ...recordings import replay
    from ..terminal import progress

    _check_names(check, chip)
    with progress() as say:
        return replay(
            recording,
            tolerances=tolerances,
            checks=None if check == "none" else check,
            chip="" if chip == "none" else chip,
            timeline=timeline,
            say=say,
        )


def _check_names(check: str, chip: str | None) -> None:
    """Refuse names of no check and no chip. Raises CommandError, with the option."""
    from assay.hw.apple.facts.chips import chip as chip_named
    from assay.hw.facts import SpecError

    from ...checks.programs import chosen_checks

    if check != "none":
        try:
            chosen_checks(check)
        except ValueError as error:
            raise CommandError(f"--check {check}: {error}", code=USAGE) from None
    if chip not in (None, "none"):
        try:
            chip_named(chip)
        except SpecError as error:
            raise CommandError(f"--chip {chip}: {error}", code=USAGE) from None

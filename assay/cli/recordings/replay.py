"""`assay replay`: runs a recording on the emulated device and compares."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..failures import FAILED, USAGE, CommandError, errors_end_with
from ..options.shared import Json, check_trace_name

if TYPE_CHECKING:
    from ...recordings import ReplayResult


RecordingFile = Annotated[
    Path, typer.Argument(metavar="RECORDING", help="A file that assay record made.")
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
    json: Json = False,
) -> None:
    """Run each dispatch of a recording here, from what was recorded before it, and compare.

    Every bit of every buffer must be as it was recorded, but for those of NaN, unless --tolerances
    says more. Ends with exit code 1 when something is not, or checks find something, and with 2
    when a dispatch cannot be run here.

    [bold]Examples[/bold]

      assay replay program.assay-recording

      assay replay program.assay-recording --tolerances tolerances.toml --json

      assay replay program.assay-recording --chip m2-pro --trace both.html
    """
    from ..terminal import print_json, want_json

    want_json(json)
    errors_end_with(USAGE)  # 1 is for results that differ
    if trace is not None:
        check_trace_name(trace)
    if not recording.is_file():
        raise CommandError(f"{recording}: there is no such file", code=USAGE)
    result = _replayed(recording, tolerances, check, chip, timeline=trace is not None)
    if trace is not None and result.trace is not None:
        from assay.traces.files import write_trace

        write_trace(result.trace, trace)
    if json:
        print_json(result.to_json())
    else:
        typer.echo(str(result))
    if not result.passed:
        raise typer.Exit(USAGE if result.not_replayed and not result.different else FAILED)


def _replayed(
    recording: Path, tolerances: Path | None, check: str, chip: str | None, *, timeline: bool
) -> "ReplayResult":
    from ...recordings import replay
    from ...recordings.tolerances import Tolerances, read_tolerances
    from ..terminal import progress

    with progress() as say:
        limits = Tolerances() if tolerances is None else read_tolerances(tolerances)
        try:
            return replay(
                recording,
                tolerances=limits,
                checks=None if check == "none" else check,
                chip="" if chip == "none" else chip,
                timeline=timeline,
                say=say,
            )
        except ValueError as error:
            raise CommandError(f"--check {check}: {error}", code=USAGE) from None

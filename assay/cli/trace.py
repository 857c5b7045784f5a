"""`assay trace`: what is in traces, how they differ, and other formats of them."""

from pathlib import Path
from typing import Annotated

import typer

from .failures import FAILED, USAGE, CommandError
from .options.shared import Json
from .options.trace import TraceFile, TraceFiles, open_trace, open_traces, ticks

trace_app = typer.Typer(
    help="Summarise, compare and convert traces.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@trace_app.command("summary")
def summary_command(
    file: TraceFile,
    begin: Annotated[
        str | None,
        typer.Option("--from", help="First tick, or a time such as [bold]1.5us[/bold]."),
    ] = None,
    end: Annotated[str | None, typer.Option("--to", help="Where the range ends.")] = None,
    track: Annotated[
        str | None,
        typer.Option("--track", help="Only tracks whose path begins with this or matches it (*)."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Rows of each table; JSON has all.")
    ] = 20,
    json: Json = False,
) -> None:
    """Say where the time of a trace went.

    For each track how much of a range it worked, waited and for what, and had nothing to do; the
    slices by name; what lies on the critical path; peaks of memories; means of counters.

    [bold]Examples[/bold]

      assay trace summary run.pftrace

      assay trace summary run.pftrace --from 10us --to 20us --track 'gpu.core*'
    """
    from assay.traces.events.summary import summarise

    from .terminal import print_json, want_json
    from .trace_tables import show_summary

    want_json(json)
    trace = open_trace(file)
    summary = summarise(
        trace,
        begin=ticks("--from", begin, trace.clock),
        end=ticks("--to", end, trace.clock),
        track=track,
    )
    if json:
        print_json(summary.json())
    else:
        show_summary(summary, trace.clock, limit)


@trace_app.command("diff")
def diff_command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE FILE...", help="Traces; all are compared with the first."),
    ],
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Rows of each table; JSON has all.")
    ] = 20,
    json: Json = False,
) -> None:
    """Say how traces differ: in tracks, in slices by name, and where they begin to.

    Tracks are matched by their paths. Ends with exit code 1 when anything differs.

    [bold]Examples[/bold]

      assay trace diff before.pftrace after.pftrace
    """
    from assay.traces.events.compare import compare_traces

    from .terminal import print_json, want_json
    from .trace_tables import show_difference

    want_json(json)
    if len(files) < 2:
        raise CommandError("one trace alone cannot differ; give two or more", code=USAGE)
    difference = compare_traces([open_trace(file) for file in files])
    if json:
        print_json({"files": [str(file) for file in files], **difference.json()})
    else:
        show_difference(difference, [str(file) for file in files], limit)
    if not difference.equal:
        raise typer.Exit(FAILED)


@trace_app.command("export")
def export_command(
    files: TraceFiles,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Where to; the name says the format: .pftrace, .json, .html, .assay-trace, "
            "all but .html also with .gz.",
        ),
    ],
    json: Json = False,
) -> None:
    """Write a trace in another format; several become one, side by side.

    [bold]Examples[/bold]

      assay trace export crashed.assay-trace -o run.pftrace

      assay trace export predicted.pftrace recording.json -o both.html
    """
    from assay.traces.events.words import counted
    from assay.traces.files import check_suffix, write_trace

    from .terminal import print_json, want_json

    want_json(json)
    check_suffix(output)
    trace = open_traces(files)
    write_trace(trace, output)
    size = output.stat().st_size
    if json:
        print_json({"output": str(output), "events": trace.events, "bytes": size})
    else:
        typer.echo(f"{output}: {counted(trace.events, 'event')}, {size:,} bytes")

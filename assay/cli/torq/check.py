"""`assay check` of a Torq executable: hazards of its NPU programs."""

from pathlib import Path

import typer

from ..failures import FAILED, USAGE, CommandError
from .run import TorqOptions, check_torq, first


def check_executable(
    options: TorqOptions,
    inputs: list[str],
    *,
    unread: bool,
    format_name: str,
    output: Path | None,
) -> None:
    """Runs it and reports; ends with exit code 1 when there are findings."""
    from ...reports.torq_findings import FORMATS, TorqFindings, text
    from ...text_values import InputError, parse_inputs
    from ..terminal import progress

    try:
        values = parse_inputs(inputs)
    except InputError as error:
        raise CommandError(str(error), code=USAGE) from None
    with progress() as say:
        say(first(f"checking {options.path}"))
        name, findings = check_torq(options, values, unread=unread)
    report = TorqFindings(file=str(options.path), name=name, findings=findings)
    written = FORMATS[format_name](report)
    if output is not None:
        output.write_text(written, encoding="utf-8")
        written = text(report)
    typer.echo(written, nl=False)
    if findings:
        raise typer.Exit(FAILED)

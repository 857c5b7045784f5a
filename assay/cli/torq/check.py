"""`assay check` of a Torq executable: hazards of its NPU programs."""

from pathlib import Path

import typer

from ..checks.output import write_report
from ..failures import FAILED, USAGE, CommandError
from ..options.files import keep_inputs
from .run import TorqOptions, first, open_torq, usage_errors


def check_executable(
    options: TorqOptions,
    inputs: list[str],
    check: str,
    suppress: list[str],
    *,
    format_name: str,
    output: Path | None,
) -> None:
    """Runs it and reports; ends with exit code 1 when there are findings."""
    from ...checks import CheckInputError, Report, parse_suppression
    from ...checks.npu import check_function, npu_checks
    from ...text_values import InputError, parse_inputs
    from ..terminal import progress

    keep_inputs(output, options.path)
    try:
        values = parse_inputs(inputs)
        checks = npu_checks(check)
        report = Report(checks, suppressions=[parse_suppression(text) for text in suppress])
    except (InputError, CheckInputError) as error:
        raise CommandError(str(error), code=USAGE) from None
    except ValueError as error:
        raise CommandError(f"--check {check}: {error}", code=USAGE) from None
    with progress() as say, usage_errors():
        chosen = open_torq(options, say)
        say(first(f"checking {options.path}"))
        check_function(chosen, values, report, file=str(options.path))
    write_report(report, format_name, output)
    if report.errors:
        raise typer.Exit(FAILED)

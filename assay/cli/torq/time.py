"""`assay time` of a Torq executable: cycles of the NPU's units, and what they waited for."""

from pathlib import Path

import typer

from .run import TorqOptions, first, open_torq, timed_torq


def time_executable(
    options: TorqOptions, inputs: list[str], trace: Path | None, *, json: bool
) -> None:
    """Runs it and prints where the time went; inputs that are not given are zeros."""
    from ...text_values import parse_inputs
    from ..terminal import print_json, progress

    values = parse_inputs(inputs)
    with progress() as say:
        function = open_torq(options, say)
        say(first(f"running {options.path} on the NPU"))
        result = timed_torq(function, values, trace)
    if trace is not None:
        result.save_trace(trace)
    if json:
        print_json(result.to_json())
    else:
        typer.echo(str(result))

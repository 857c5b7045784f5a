"""`assay time` of Assay modules, and the timeline of `assay run`: all devices on one board."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..failures import USAGE, CommandError

if TYPE_CHECKING:
    from ...assay_module import AssayModule
    from ...prediction.modules.result import ModuleTime


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsOptions:
    """How many runs of an Assay module, and how many of them at a time."""

    runs: Annotated[
        int | None,
        typer.Option("--runs", min=1, help="For .assay modules: how many runs follow each other."),
    ] = None
    in_flight: Annotated[
        int | None,
        typer.Option(
            "--in-flight",
            min=1,
            help="For .assay modules: how many runs at a time; as many as a run has parts if left "
            "out, 2 to 4.",
        ),
    ] = None


def time_assay(
    path: Path,
    inputs: list[str] | None,
    device: str,
    chip: str,
    runs: RunsOptions,
    trace: Path | None,
    *,
    json: bool,
) -> None:
    """Prints how long runs of a module take, and writes their timeline."""
    from ...assay_module import load_assay
    from ...text_values import parse_inputs
    from ..terminal import print_json, progress

    values = parse_inputs(inputs or [])
    with progress() as say:
        say("loading")
        found = timed(load_assay(path, device), values, chip=chip, runs=runs, say=say)
    if json:
        print_json(found.to_json())
    else:
        typer.echo(found)
    if trace is not None:
        found.save_trace(trace)


def timed(
    module: "AssayModule",
    values: Sequence[Any],
    *,
    chip: str,
    runs: RunsOptions,
    say: Callable[[str], None],
) -> "ModuleTime":
    """How long runs take. Raises CommandError for what was asked for in a wrong way."""
    import numpy as np

    from assay.hw.facts import SpecError

    from ...prediction.errors import TimeInputError
    from ...prediction.modules.timed import time_module

    names = module.context.inputs
    if values and len(values) != len(names):
        raise CommandError(
            f"it takes {len(names)} inputs ({', '.join(names)}), {len(values)} given", code=USAGE
        )
    pairs = zip(names, values, strict=False)
    arrays = [np.asarray(module.context.cast(name, value)) for name, value in pairs]
    try:
        return time_module(
            module, arrays, chip=chip, runs=runs.runs or 1, in_flight=runs.in_flight, say=say
        )
    except SpecError as error:
        raise CommandError(f"--chip: {error}", code=USAGE) from None
    except TimeInputError as error:
        raise CommandError(str(error)) from None

"""Assay modules on the command line: what `assay run` and `assay inspect` do with them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..failures import USAGE, CommandError
from .time import RunsOptions, timed

if TYPE_CHECKING:
    from ...elements import Value


def is_assay_file(path: Path) -> bool:
    """Whether a file is an Assay module, or says so by its name."""
    from assay.hal.module.records import is_assay

    if path.suffix == ".assay" or not path.is_file():
        return path.suffix == ".assay"
    with path.open("rb") as file:
        return is_assay(file.read(12))


def run_assay(
    path: Path, inputs: list[str], device: str, trace: Path | None, chip: str
) -> "tuple[str, list[Value]]":
    """(the device model that ran, its results); the inputs' shapes decide which one it is.

    `trace` is where a timeline of the run goes, with all devices on one board and `chip` for GPU.
    """
    from ...assay_module import load_assay
    from ...text_values import parse_inputs
    from ..terminal import progress

    values = parse_inputs(inputs)
    with progress() as say:
        say("loading")
        module = load_assay(path, device)
        context = module.new_context()
        if len(values) != len(context.inputs):
            shapes = context.context.opened.shapes.listed()
            raise CommandError(
                f"{path} takes {len(context.inputs)} inputs ({', '.join(context.inputs)}), "
                f"{len(values)} given; of shapes {shapes}",
                code=USAGE,
            )
        say("running")
        results = context.invoke(values)
        if trace is not None:
            timed(module, values, chip=chip, runs=RunsOptions(), say=say).save_trace(trace)
    return context.active, results


def inspect_assay(path: Path, *, every: bool, text: bool, json: bool) -> None:
    """Prints what is in an Assay module."""
    from assay.hal.module.file import read_file
    from assay.hal.module.listing import listing
    from assay.hal.module.text import to_text

    from ..terminal import print_json

    file = read_file(path)
    for number in range(len(file.segments)):
        file.segment(number)
    if json:
        print_json(_json(file.module))
        return
    for line in to_text(file) if text else listing(file, whole=every):
        typer.echo(line)


def _json(module: Any) -> dict[str, Any]:
    from dataclasses import asdict, replace

    listed = asdict(replace(module, segments=(), models=()))
    listed["segments"] = [
        {"offset": each.offset, "size": each.size, "sha256": each.sha256.hex()}
        for each in module.segments
    ]
    listed["models"] = [_model(model) for model in module.models]
    return listed


def _model(model: Any) -> dict[str, Any]:
    """A device model, with the kinds of its instructions."""
    from dataclasses import asdict

    listed = asdict(model)
    listed["regions"] = [
        [{"kind": type(item).__name__, **asdict(item)} for item in region.instructions]
        for region in model.regions
    ]
    return listed

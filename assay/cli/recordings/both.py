"""`assay diff --against emulated`: a program recorded on a device, and replayed here at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..failures import FAILED, USAGE, CommandError
from .record import libraries_of, runner_of

if TYPE_CHECKING:
    from ...compare import Tolerance
    from ...recordings import ReplayResult
    from ..diff_sides import Wanted

AGAINST = "emulated"
_SUFFIX = ".py"


def show_both(
    program: Path,
    function: str | None,
    device: str,
    wanted: Wanted,
    apart: Tolerance,
    *,
    json: bool,
) -> None:
    """Run a program on a device, each of its dispatches here, too, and say how they compare.

    Ends with exit code 1 when results are out of tolerance, with 2 when a dispatch cannot be run.
    """
    from ..terminal import print_json

    result = _replayed(program, function, device, wanted, apart)
    if json:
        print_json(result.to_json())
    else:
        typer.echo(str(result))
    if not result.passed:
        raise typer.Exit(FAILED if result.different else USAGE)


def _replayed(
    program: Path, function: str | None, device: str, wanted: Wanted, apart: Tolerance
) -> ReplayResult:
    from assay.sim.native.work_folder import work_folder

    from ...recordings import Limits, Tolerances, recording, replay
    from ..terminal import progress

    limits = Limits(rtol=apart.relative, atol=apart.absolute, any_nan=True)
    with work_folder() as folder:
        file = folder / f"{program.name}.assay-recording"
        run = runner_of(
            str(program),
            None,
            function,
            wanted.inputs,
            wanted.parameters,
            wanted.iree,
            is_module=False,
        )
        libraries = libraries_of(str(program), None, device, is_module=False)
        with recording(file, device, program=program.name, libraries=libraries) as metal:
            code = run(device)
        if code:
            raise CommandError(f"{program} ended with exit code {code}", code=USAGE)
        if not metal.recorded()[0]:
            raise CommandError(f"{program} dispatched nothing that could be recorded", code=USAGE)
        with progress() as say:
            return replay(file, tolerances=Tolerances(default=limits), checks=None, say=say)

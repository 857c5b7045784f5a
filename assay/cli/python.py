"""`assay python`: runs a script whose `import Metal` gives the emulated device."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from .failures import FAILED, USAGE, CommandError
from .options import DEVICES, Device


def python_command(
    script: Annotated[Path, typer.Argument(metavar="SCRIPT", help="A Python file.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGUMENTS]...", help="Its arguments.")
    ] = None,
    device: Device = "emulated",
) -> None:
    """Run a PyObjC script unchanged: its [bold]import Metal[/bold] gives the emulated device.

    Options of the script come behind [bold]--[/bold]. An error in the script is shown as Python
    shows it.

    [bold]Examples[/bold]

      assay python saxpy.py

      assay python render.py -- --size 512
    """
    import runpy

    from assay.hal.metal import api

    if device not in DEVICES:
        raise CommandError(f"--device {device}: expected {' or '.join(DEVICES)}", code=USAGE)
    if not script.is_file():
        raise CommandError(f"{script}: there is no such file")
    sys.modules["Metal"] = api.load(device)
    sys.argv = [str(script), *(arguments or [])]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except Exception as error:
        _show(error, script)
        raise typer.Exit(FAILED) from None


def _show(error: Exception, script: Path) -> None:
    """Prints the script's traceback, beginning in the script."""
    import traceback

    place = error.__traceback__
    while place is not None and place.tb_frame.f_code.co_filename != str(script):
        place = place.tb_next
    traceback.print_exception(type(error), error, place)

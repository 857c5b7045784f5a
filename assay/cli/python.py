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
    if device not in DEVICES:
        raise CommandError(f"--device {device}: expected {' or '.join(DEVICES)}", code=USAGE)
    code = run_script(script, arguments or [], device)
    if code:
        raise typer.Exit(code)


def run_script(script: Path, arguments: list[str], device: str) -> int:
    """Run a script with the chosen Metal; the exit code that it ends with."""
    import runpy

    from assay.hal.metal import api

    if not script.is_file():
        raise CommandError(f"{script}: there is no such file")
    sys.modules["Metal"] = api.load(device)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
            return FAILED
        return end.code or 0
    except Exception as error:
        _show(error, script)
        return FAILED
    return 0


def _show(error: Exception, script: Path) -> None:
    """Prints the script's traceback, beginning in the script."""
    import traceback

    place = error.__traceback__
    while place is not None and place.tb_frame.f_code.co_filename != str(script):
        place = place.tb_next
    traceback.print_exception(type(error), error, place)

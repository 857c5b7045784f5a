"""`assay python`: runs a script whose `import Metal` gives the emulated device."""

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
    patch: Annotated[
        list[str] | None,
        typer.Option(
            "--patch",
            metavar="LIBRARY",
            help="Replace mx.fast.metal_kernel ([bold]mlx[/bold]) or torch.mps.compile_shader "
            "([bold]torch[/bold]), too.",
        ),
    ] = None,
) -> None:
    """Run a PyObjC script unchanged: its [bold]import Metal[/bold] gives the emulated device.

    Options of the script come behind [bold]--[/bold]. An error in the script is shown as Python
    shows it.

    [bold]Examples[/bold]

      assay python saxpy.py

      assay python render.py -- --size 512
    """
    from assay.scripts import PATCHES, PatchError, install, run_script

    if device not in DEVICES:
        raise CommandError(f"--device {device}: expected {' or '.join(DEVICES)}", code=USAGE)
    if not script.is_file():
        raise CommandError(f"{script}: there is no such file")
    for name in patch or ():
        if name not in PATCHES:
            raise CommandError(f"--patch {name}: expected {' or '.join(PATCHES)}", code=USAGE)
    try:
        install(device, patch or ())
    except PatchError as error:
        raise CommandError(str(error)) from None
    if run_script(script, arguments or []):
        raise typer.Exit(FAILED)

"""`assay python`: runs a script whose `import Metal` gives the emulated device."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from .failures import USAGE, CommandError
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
            "([bold]torch[/bold]), too, or make the emulated device the default of "
            "[bold]tinygrad[/bold].",
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
    if device not in DEVICES:
        raise CommandError(f"--device {device}: expected {' or '.join(DEVICES)}", code=USAGE)
    code = run_script(script, arguments or [], device, patch or [])
    if code:
        raise typer.Exit(code)


def run_script(script: Path, arguments: list[str], device: str, patches: Sequence[str] = ()) -> int:
    """Run a script with the chosen Metal; the exit code that it ends with."""
    from assay import scripts

    if not script.is_file():
        raise CommandError(f"{script}: there is no such file")
    for name in patches:
        if name not in scripts.PATCHES:
            known = " or ".join(scripts.PATCHES)
            raise CommandError(f"--patch {name}: expected {known}", code=USAGE)
    try:
        scripts.install(device, patches)
    except scripts.PatchError as error:
        raise CommandError(str(error)) from None
    return scripts.run_script(script, arguments)

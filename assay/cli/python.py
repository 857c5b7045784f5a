"""`assay python`: runs a script whose `import Metal` gives the emulated device."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .failures import USAGE, CommandError
from .options.shared import DEVICES, Device, check_trace_name
from .terminal import note

if TYPE_CHECKING:
    from ..prediction import Timing
    from ..scripts import Ending


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
            "[bold]tinygrad[/bold]. Not needed for what the script itself imports.",
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            help="Write a timeline of the script as --chip would run it: .html, .pftrace or .json.",
        ),
    ] = None,
    chip: Annotated[str, typer.Option("--chip", help="The GPU of the timeline.")] = "m1",
) -> None:
    """Run a PyObjC script unchanged: its [bold]import Metal[/bold] gives the emulated device.

    Options of the script come behind [bold]--[/bold]. An error in the script is shown as Python
    shows it.

    [bold]Examples[/bold]

      assay python saxpy.py

      assay python render.py -- --size 512

      assay python saxpy.py --trace saxpy.html --chip m4-max
    """
    if device not in DEVICES:
        raise CommandError(f"--device {device}: expected {' or '.join(DEVICES)}", code=USAGE)
    if trace is not None:
        check_trace_name(trace)
        if device != "emulated":
            raise CommandError("--trace is for --device emulated", code=USAGE)
    ready = prepared(script, arguments or [], device, patch or [])
    code = (ready() if trace is None else run_timed(ready, script, chip, trace)[0]).code
    if code:
        raise typer.Exit(code)


def run_timed(
    ready: "Callable[[], Ending]",
    script: Path,
    chip: str,
    trace: Path | None,
    compare: Sequence[str] = (),
    stopped: "Callable[[Timing], None] | None" = None,
) -> "tuple[Ending, Timing]":
    """Run a script and time what it dispatches, on `compare` too; how it ended, what was seen.

    Its timeline goes to `trace`, if that is given, also if it fails half-way. If somebody stops it,
    `stopped` is given what was seen until then.
    """
    from assay.hw.facts import SpecError

    from ..prediction import timing
    from .crash_trace import kept_timeline
    from .spools import spool_beside

    def save(path: Path) -> None:
        seen.result(partial=True).save_trace(path)

    with spool_beside(trace) if trace is not None else nullcontext() as spool:
        try:
            with (
                timing(
                    chip,
                    program=script.name,
                    timeline=trace is not None,
                    spool=spool,
                    compare=compare,
                ) as seen,
                kept_timeline(trace, save),
            ):
                ending = ready()
        except SpecError as error:
            raise CommandError(f"--chip: {error}", code=USAGE) from None
        except (KeyboardInterrupt, SystemExit):
            if stopped is not None:
                stopped(seen)
            raise
        for failure in seen.failures:
            note(f"not timed: {failure}")
        if not seen.dispatches and not seen.npu:
            note(f"{script} dispatched nothing{'; the timeline is empty' if trace else ''}")
        if trace is not None:
            save(trace)
    return ending, seen


def run_script(
    script: Path, arguments: list[str], device: str, patches: Sequence[str] = ()
) -> "Ending":
    """Run a script with the chosen Metal; how it ended."""
    return prepared(script, arguments, device, patches)()


def prepared(
    script: Path, arguments: list[str], device: str, patches: Sequence[str] = ()
) -> "Callable[[], Ending]":
    """What runs a script with the chosen Metal and tells how it ended.

    Without `patches`, the libraries that the script imports are patched.
    """
    from .. import scripts

    if not patches and device == "emulated":
        patches = scripts.imported_libraries(script)
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
    return partial(scripts.script_ending, script, arguments)

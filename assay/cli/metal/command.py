"""`assay metal`: compiles MSL and links what it compiled, by the options of `xcrun metal`."""

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..failures import FAILED

# As click takes them: what it does not know comes to the command, in its order. It would find a -h
# in -fno-fast-math.
SETTINGS = {"ignore_unknown_options": True, "help_option_names": ["--help"]}

_TOLD = {"warning": "warning", "error": "(?:fatal )?error"}


def metal_command(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="[OPTIONS]... FILES...",
            help="Options and files as for [bold]xcrun metal[/bold] and [bold]metallib[/bold].",
            show_default=False,
        ),
    ],
) -> None:
    """Compile and link MSL in the place of [bold]xcrun metal[/bold] and [bold]metallib[/bold].

    What it writes is for Assay and not for Macs: it is opened wherever Assay opens a .metallib,
    and Metal on a Mac refuses it. Errors and warnings are told as clang tells them, and chosen by
    -Wall, -Wextra, -Wno-NAME, -Werror and -w; after errors the exit code is 1.

    -c compiles each source to an .air; without it all files become one library. -o says where
    to, -I DIR and -D NAME=VALUE are as usual, -std=metal3.1 and -fno-fast-math choose the
    language. -MMD -MF FILE writes what make wants to know. Others of Apple's options, such as -O2,
    -g, -target and -mmacosx-version-min, are taken and change nothing.

    [bold]Examples[/bold]

      assay metal -c kernels.metal -o kernels.air

      assay metal kernels.air more.air -o default.metallib

      assay metal kernels.metal -I include -D BLOCK=32 -o default.metallib
    """
    from assay.compiler.metallib.building import build, preprocessed_text
    from assay.compiler.metallib.command_line import parsed
    from assay.compiler.msl import CompileError

    from ... import __version__

    if "--version" in arguments:
        typer.echo(f"assay metal {__version__}, which writes libraries for Assay and not for Macs")
        return
    try:
        invocation = parsed(arguments)
        if invocation.preprocess_only:
            _print(preprocessed_text(invocation), invocation.output)
        else:
            build(invocation, __version__, _tell)
    except CompileError as error:
        _tell(str(error))
        raise typer.Exit(FAILED) from None


def _print(text: str, output: str) -> None:
    """Write preprocessed text to stdout or a file."""
    if output and output != "-":
        from assay.compiler.metallib.building import write_file

        write_file(Path(output), text.encode())
    else:
        typer.echo(text, nl=False)


def _tell(message: str) -> None:
    """Print errors and warnings as clang does, with how many there are."""
    if message.startswith("error: "):
        message = f"assay metal: {message}"
    # `fatal error`, of an include that is missing, is an error too.
    counts = {kind: len(re.findall(rf": {told}: ", message)) for kind, told in _TOLD.items()}
    said = [f"{n} {kind}{'' if n == 1 else 's'}" for kind, n in counts.items() if n]
    total = f"{' and '.join(said)} generated.\n" if said else ""
    sys.stderr.write(f"{message.rstrip()}\n{total}")

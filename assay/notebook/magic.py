"""`%%assay`: a cell of MSL, run under checks on arrays of the notebook, and timed."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from .show import show_report, show_time

_USAGE = "%%assay [NAME ...] [options]"
_HELP = """The cell's kernel runs once under checks, with --time too. NAMEs are variables of the
notebook, one for each argument of the kernel in order: arrays and CPU tensors are buffers, which
the kernel changes in place; numbers and lists are constants, dictionaries members of structs; None
is assumed."""


class MagicError(Exception):
    """The line of the cell is not what it can be; the message says what it can."""


class _Parser(argparse.ArgumentParser):
    """Raises instead of ending the process."""

    def error(self, message: str) -> Any:
        raise MagicError(f"{message}; {_USAGE}; %%assay --help has more")

    def exit(self, status: int = 0, message: str | None = None) -> Any:
        raise MagicError(message or "")


def register(shell: Any) -> None:
    """Add the cell magic to a shell of IPython."""

    def assay(line: str, cell: str) -> None:
        """Run a kernel; `%%assay --help` says how."""
        try:
            run_cell(line, cell, shell.user_ns)
        except _shown_errors() as error:
            print(f"error: {error}")

    shell.register_magic_function(assay, magic_kind="cell", magic_name="assay")


def run_cell(line: str, cell: str, variables: Mapping[str, Any]) -> None:
    """Check the cell's kernel with the line's arrays, time it if asked for, and show both.

    What is timed is a run on what the arrays held before.

    Raises:
        MagicError: for a line that cannot be read, and variables that are not there.
        CheckInputError, CompileError: as `check_kernel` does.
        SpecError: for a chip that is not known.
    """
    from assay.hw.apple.facts.chips import chip

    from ..checks import check_kernel

    chosen = _chosen(line)
    if chosen is None:
        return
    if chosen.time is not None:
        chip(chosen.time)  # known before the kernel changes anything
    kernel = chosen.kernel or _only_kernel(cell)
    values = [_value(name, variables) for name in chosen.names]
    before = [copy(value) if chosen.time is not None else value for value in values]
    sizes = {"threads": chosen.threads, "threadgroup": chosen.threadgroup}
    show_report(check_kernel(cell, kernel, *values, checks=chosen.check, **sizes))
    if chosen.time is not None:
        show_time(cell, kernel, before, chosen)


def _chosen(line: str) -> argparse.Namespace | None:
    """What the line says; None if it asked for help, which is printed."""
    parser = _Parser(prog="%%assay", usage=_USAGE, description=_HELP, add_help=False)
    parser.add_argument("names", nargs="*", metavar="NAME", help="variables, in order")
    parser.add_argument("--help", action="store_true", help="say this")
    parser.add_argument("--kernel", "-k", help="which kernel, if there are several")
    parser.add_argument("--threads", type=_size, help="the grid, such as 1024 or 64,64")
    parser.add_argument("--threadgroup", type=_size, help="a threadgroup, such as 256")
    parser.add_argument("--check", default="all", help="checks, such as race,init")
    parser.add_argument("--time", metavar="CHIP", help="predict its time on a GPU, such as m4-max")
    parser.add_argument("--timeline", action="store_true", help="with --time: show the timeline")
    try:
        chosen = parser.parse_args(shlex.split(line))
    except ValueError as error:
        raise MagicError(f"{line}: {error}") from None
    if chosen.help:
        print(parser.format_help())
        return None
    if chosen.timeline and chosen.time is None:
        raise MagicError(
            "--timeline is of a predicted time: add --time CHIP, such as --time m4-max"
        )
    return chosen


def _size(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: expected numbers such as 64,64") from None


def _only_kernel(cell: str) -> str:
    """The kernel of a source that has one. Raises MagicError."""
    from assay.compiler.msl import compile_library

    names = compile_library(cell).function_names
    if len(names) != 1:
        raise MagicError(
            f"the cell has {'several kernels' if names else 'no kernel'}"
            + (f"; --kernel chooses one of {', '.join(names)}" if names else "")
        )
    return names[0]


def _value(name: str, variables: Mapping[str, Any]) -> Any:
    """A variable as `check_kernel` takes it. Raises MagicError."""
    if name == "None":
        return None
    if name not in variables:
        raise MagicError(f"there is no variable {name} in this notebook")
    value = variables[name]
    if type(value).__module__.partition(".")[0] == "torch":
        try:
            return value.detach().numpy()  # the same memory
        except (TypeError, RuntimeError) as error:
            raise MagicError(f"{name}: {str(error).splitlines()[0]}") from None
    return value


def _shown_errors() -> tuple[type[Exception], ...]:
    """Errors whose message is all that helps; others are shown with their traceback."""
    from assay.compiler.msl import CompileError
    from assay.hw.facts import SpecError

    from ..checks import CheckInputError
    from ..prediction import TimeInputError

    return (MagicError, CompileError, CheckInputError, TimeInputError, SpecError)


__all__: Sequence[str] = ("MagicError", "register", "run_cell")

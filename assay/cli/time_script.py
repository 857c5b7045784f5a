"""`assay time SCRIPT`: how long all takes that a Python script runs on the emulated GPU."""

import contextlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .crash_trace import signals_as_exits, stopped_by
from .failures import USAGE, CommandError
from .options.groups import given_options
from .options.shared import only_emulated
from .options.time import TimeOptions
from .python import prepared, run_timed
from .terminal import print_error, print_json, show
from .time_kernels import chips_of, usage_errors
from .time_output import write_results

if TYPE_CHECKING:
    from ..prediction import Timing


def refuse_for_script(functions: list[str], device: str, *groups: object) -> None:
    """Raise CommandError for options that mean nothing for a script."""
    given = [*(["--function"] if functions else []), *given_options(*groups)]
    for option in given:
        if option not in ("--trace", "--plot", "--lines", "--compare"):
            raise CommandError(f"{option} is not for scripts", code=USAGE)
    if only_emulated(device) != "emulated":
        raise CommandError("--device is not for scripts: they choose theirs", code=USAGE)


def time_script(
    script: Path, arguments: list[str], chip: str, how: TimeOptions, *, json: bool
) -> None:
    """Run a script once with drop-ins for the libraries it imports; print what it dispatched.

    If JSON was asked for, what it prints goes to stderr. Ends with the script's exit code, or with
    1 if something could not be timed.
    """
    with usage_errors():
        names = [each.key for each in chips_of(chip, how.compare)[1:]]
    ready = prepared(script, arguments, "emulated")
    kept: list[Timing] = []
    try:
        with (
            contextlib.redirect_stdout(sys.stderr) if json else contextlib.nullcontext(),
            signals_as_exits(),
        ):
            ending, seen = run_timed(ready, script, chip, how.trace, names, kept.append)
    except (KeyboardInterrupt, SystemExit) as end:
        for each in kept:
            _show(each, how, json=json)
        print_error(f"{script}: {stopped_by(end)}; the times are of what it had dispatched")
        raise
    _show(seen, how, json=json)
    if ending.code or seen.failures:
        raise typer.Exit(ending.code or 1)


def _show(seen: "Timing", how: TimeOptions, *, json: bool) -> None:
    results, on_npus = seen.results(partial=True), seen.npu
    result = results[0]
    if not on_npus:
        write_results(results, replace(how, trace=None), json=json)
    elif json:
        print_json({"gpu": result.to_json(), "npu": [each.to_json() for each in on_npus]})
    else:
        show(*([result] if result.dispatches else []), *map(str, on_npus))

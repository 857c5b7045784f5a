"""Runs a program whose `import Metal` gives the emulated device."""

from __future__ import annotations

import importlib.util
import runpy
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

_FAILED = 1
# What PyObjC's modules are stood in for by, where they are not installed.
STAND_INS = {
    "Foundation": "assay.metal.foundation",
    "Cocoa": "assay.metal.foundation",
    "objc": "assay.metal.objc",
    "libdispatch": "assay.metal.libdispatch",
}
# Libraries that can be made to run their Metal kernels here, and what they are called to pip.
PATCHES = {"mlx": "mlx[cpu]", "tinygrad": "assay[tinygrad]", "torch": "torch"}


class PatchError(Exception):
    """A library cannot be patched; the message says why and what to do."""


def install(device: str, patches: Sequence[str] = ()) -> None:
    """Make `import Metal` give `device`, with what goes with it, and patch these libraries.

    Raises NoSuchMetal, PatchError.
    """
    from assay.hal.metal import api

    sys.modules["Metal"] = api.load(device)
    if device != "emulated":
        if patches:
            raise PatchError("--patch: kernels run on the emulated device; leave --device out")
        return
    for name in patches:
        if importlib.util.find_spec(name) is None:
            raise PatchError(
                f"--patch {name}: it is not installed; pip install '{PATCHES[name]}' does that"
            )
        try:
            import_module(f"assay.{name}").install()
        except ImportError as error:
            raise PatchError(f"--patch {name}: {error}") from error
    for name, stand_in in STAND_INS.items():
        if name not in sys.modules and importlib.util.find_spec(name) is None:
            sys.modules[name] = import_module(stand_in)


def run_script(script: Path, arguments: Sequence[str]) -> int:
    """Run a Python file as `python SCRIPT ARGUMENTS` would; the exit code that it ends with."""
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    return _to_the_end(lambda: runpy.run_path(str(script), run_name="__main__"), str(script))


def run_module(name: str, arguments: Sequence[str]) -> int:
    """Run a module as `python -m NAME ARGUMENTS` would; the exit code that it ends with."""
    sys.argv = [name, *arguments]
    sys.path.insert(0, "")
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None:
        print(f"error: there is no module {name!r}", file=sys.stderr)
        return _FAILED
    return _to_the_end(
        lambda: runpy.run_module(name, run_name="__main__", alter_sys=True), spec.origin
    )


def _to_the_end(run: Callable[[], object], file: str) -> int:
    """Run a program; its exit code. An exception is shown as Python shows it."""
    try:
        run()
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
            return _FAILED
        return end.code or 0
    except Exception as error:
        _show(error, file)
        return _FAILED
    return 0


def _show(error: Exception, file: str) -> None:
    """Prints the program's traceback, beginning in its own file if it got so far."""
    place = error.__traceback__
    while place is not None and place.tb_frame.f_code.co_filename != file:
        place = place.tb_next
    traceback.print_exception(type(error), error, place)

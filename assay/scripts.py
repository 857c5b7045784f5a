"""Runs a program whose `import Metal` gives the emulated device."""

from __future__ import annotations

import ast
import importlib.util
import runpy
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import TracebackType

from .tracebacks import ends_in_caller, without_our_end

_FAILED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a program ended: its exit code, whether it raised, and what to say if not well."""

    code: int
    raised: bool = False
    reason: str = ""


# What PyObjC's modules are stood in for by, where they are not installed.
STAND_INS = {
    "Foundation": "assay.metal.foundation",
    "Cocoa": "assay.metal.foundation",
    "objc": "assay.metal.objc",
    "libdispatch": "assay.metal.libdispatch",
}
# Libraries that can be made to run their Metal kernels here, and what they are called to pip.
PATCHES = {"mlx": "mlx[cpu]", "tinygrad": "assay-emulator[tinygrad]", "torch": "torch"}


def imported_libraries(script: Path) -> tuple[str, ...]:
    """The libraries of `PATCHES` that a script imports anywhere in its text, if installed."""
    try:
        tree = ast.parse(script.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ()  # running it tells
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").partition(".")[0])
    return tuple(
        name for name in PATCHES if name in names and importlib.util.find_spec(name) is not None
    )


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
    try:
        patch(*patches)
    except PatchError as error:
        raise PatchError(f"--patch {error}") from error
    for name, stand_in in STAND_INS.items():
        if name not in sys.modules and importlib.util.find_spec(name) is None:
            sys.modules[name] = import_module(stand_in)


@ends_in_caller
def patch(*libraries: str) -> None:
    """Let libraries run their Metal kernels on the emulated device, in this process from now on.

    "torch": `torch.mps.compile_shader`, and tensors for the device "mps" are on the CPU; "mlx":
    `mx.fast.metal_kernel`; "tinygrad": its default device.

    Raises:
        PatchError: for a library that is not known or not installed.
    """
    for name in libraries:
        if name not in PATCHES:
            raise PatchError(f"{name}: it cannot be patched; {', '.join(PATCHES)} can")
        if importlib.util.find_spec(name) is None:
            raise PatchError(
                f"{name}: it is not installed; pip install '{PATCHES[name]}' does that"
            )
        try:
            import_module(f"assay.{name}").install()
        except ImportError as error:
            raise PatchError(f"{name}: {error}") from error


def run_script(script: Path, arguments: Sequence[str]) -> int:
    """Run a Python file as `python SCRIPT ARGUMENTS` would; the exit code that it ends with."""
    return script_ending(script, arguments).code


def script_ending(script: Path, arguments: Sequence[str]) -> Ending:
    """Run a Python file as `python SCRIPT ARGUMENTS` would; how it ended."""
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
    ).code


def _to_the_end(run: Callable[[], object], file: str) -> Ending:
    """Run a program. An exception is shown as Python shows it."""
    try:
        run()
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
            return Ending(code=_FAILED, reason=f"it ended with the message {str(end.code)!r}")
        code = end.code or 0
        return Ending(code=code, reason=f"it ended with exit code {code}" if code else "")
    except Exception as error:
        place = without_our_end(_in_program(error, file))
        traceback.print_exception(type(error), error, place)
        where = "" if place is None else f" in line {place.tb_lineno}"
        what = traceback.format_exception_only(error)[-1].strip()
        return Ending(code=_FAILED, raised=True, reason=f"it raised an exception{where}: {what}")
    return Ending(code=0)


def _in_program(error: Exception, file: str) -> TracebackType | None:
    """The part of a traceback that begins in the program's own file; None if it never got there."""
    place = error.__traceback__
    while place is not None and place.tb_frame.f_code.co_filename != file:
        place = place.tb_next
    return place

"""Finds and runs the command-line tools of IREE and of the TFLite converter."""

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .errors import MissingTool, ModelError


def _package_folder(package: str) -> Path | None:
    """Where an installed package lies, without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def iree_compile() -> list[str]:
    """The command that starts `iree-compile`."""
    folder = _package_folder("iree.compiler")
    if folder is None:
        raise MissingTool("IREE's compiler", "iree")
    binary = folder / "_mlir_libs" / "iree-compile"
    if binary.is_file():
        return [str(binary)]
    return [sys.executable, "-m", "iree.compiler.tools.scripts.iree_compile"]


def iree_opt() -> list[str]:
    """The command that starts `iree-opt`."""
    first, *rest = iree_compile()
    if rest:
        return [first, "-m", "iree.compiler.tools.scripts.iree_opt"]
    return [str(Path(first).with_name("iree-opt"))]


def import_onnx() -> list[str]:
    """The command that starts `iree-import-onnx`."""
    if _package_folder("iree.compiler") is None or _package_folder("onnx") is None:
        raise MissingTool("IREE's ONNX importer", "iree")
    return [sys.executable, "-m", "iree.compiler.tools.import_onnx"]


def convert_tflite() -> list[str]:
    """The command that starts the TFLite to TOSA converter."""
    if _package_folder("tosa_converter_for_tflite") is None:
        raise MissingTool("The TFLite converter", "tflite")
    start = "import sys; from tosa_converter_for_tflite.cli import main; sys.exit(main())"
    return [sys.executable, "-c", start]


def run(command: Sequence[str], *, name: str) -> subprocess.CompletedProcess[str]:
    """Runs a tool to its end and returns what it printed.

    The tool is ended when this process is interrupted. A tool that dies of a signal is a
    `ModelError`: its output then explains nothing.
    """
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            list(command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            check=False,
        )
    except OSError as error:
        raise ModelError(f"{name} could not be started: {error}") from None
    if done.returncode < 0:
        died = signal.Signals(-done.returncode).name
        raise ModelError(
            f"{name} crashed ({died}); this is a fault of the tool, not of the model. "
            f"Its last words: {_last_line(done.stderr)}",
            log=done.stderr,
        )
    return done


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "(none)"

"""Brings ONNX and TFLite files into MLIR with the importers that IREE's users use."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from . import diagnostics, opsets, tools
from .errors import ModelError
from .formats import ModelFormat
from .spelling import respelt


def to_mlir(
    source: Path,
    kind: ModelFormat,
    work: Path,
    say: Callable[[str], None],
    *,
    locations: bool = False,
) -> tuple[Path, tuple[str, ...]]:
    """A file that `iree-compile` reads, and notes on what was done to get it.

    With `locations`, operators of TFLite models keep the names of their tensors.
    """
    if kind == "onnx":
        say(f"importing {source.name}")
        return _onnx(source, work / "model.mlir")
    if kind == "tflite":
        say(f"converting {source.name}")
        return _tflite(source, work / "model.mlirbc", locations=locations), ()
    return _mlir(source, work / "model.mlir")


def _mlir(source: Path, output: Path) -> tuple[Path, tuple[str, ...]]:
    """The file itself, unless its spelling is another release's."""
    try:
        text = source.read_bytes().decode()
    except UnicodeDecodeError:  # bytecode
        return source, ()
    new = respelt(text)
    if new == text:
        return source, ()
    output.write_text(new)
    return output, ("TOSA operators were read in the spelling of another release of MLIR",)


def _onnx(source: Path, output: Path) -> tuple[Path, tuple[str, ...]]:
    command = [*tools.import_onnx(), str(source), "-o", str(output)]
    newer = [*command, "--opset-version", str(opsets.OLDEST_READ)]
    note = f"the ONNX model was brought to opset {opsets.OLDEST_READ} to import it"
    ways: list[tuple[list[str], tuple[str, ...]]] = [(command, ()), (newer, (note,))]
    if opsets.is_older(source):
        ways.reverse()
    failed = None
    for way, notes in ways:
        done = tools.run(way, name="iree-import-onnx")
        if _succeeded(done, output):
            return output, notes
        failed = failed or done
    assert failed is not None
    raise _failure(source, "ONNX", failed)


def _tflite(source: Path, output: Path, *, locations: bool) -> Path:
    # The text form does not parse in IREE 3.13; the bytecode does.
    command = [*tools.convert_tflite(), str(source), "--bytecode", "-o", str(output)]
    command += ["--emit-debug-info"] if locations else []
    done = tools.run(command, name="tosa-converter-for-tflite")
    if not _succeeded(done, output):
        raise _failure(source, "TFLite", done)
    return output


def _succeeded(done: subprocess.CompletedProcess[str], output: Path) -> bool:
    return done.returncode == 0 and output.is_file() and output.stat().st_size > 0


def _failure(source: Path, kind: str, done: subprocess.CompletedProcess[str]) -> ModelError:
    log = done.stderr or done.stdout
    return ModelError(
        f"{source}: this cannot be imported as {kind}:\n{diagnostics.summary(log)}", log=log
    )

"""Model files of any format to one xDSL module."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from assay.sim.native.work_folder import work_folder

from ..models import importers
from ..models.errors import ModelError
from ..models.formats import is_module, model_format, read_head
from .bodies import check_bodies
from .mlir import new_context, read_module
from .onnx.convert import converted
from .tflite_check import check_tflite

Progress = Callable[[str], None]


def import_model(
    path: str | Path, context: Context | None = None, progress: Progress | None = None
) -> ModuleOp:
    """The module in a `.tflite`, `.onnx`, `.mlir` or `.mlirbc` file; ONNX comes as TOSA.

    Operators keep the names and places that they have in the file. Raises ModelError, whose
    subclass GraphRefused lists everything that is wrong.
    """
    source = Path(path)
    say = progress or (lambda text: None)
    if is_module(read_head(source)):
        raise ModelError(f"{source}: this is a compiled module; the NPU's compiler needs the model")
    kind = model_format(source)
    if kind == "onnx":
        say(f"converting {source.name}")
        return converted(source, context or new_context()).module
    if kind == "tflite":
        check_tflite(source.read_bytes(), str(source))
    with work_folder() as work:
        mlir, _ = importers.to_mlir(source, kind, work, say, locations=True)
        module = read_module(mlir.read_bytes(), str(source), context)
    check_bodies(module, str(source))
    return module

"""Tells model files and compiled modules apart, by content first and by name else."""

from pathlib import Path
from typing import Literal

from .errors import ModelError

ModelFormat = Literal["mlir", "onnx", "tflite"]

MODULE_SUFFIX = ".vmfb"
ASSAY_SUFFIX = ".assay"
SUFFIXES: dict[str, ModelFormat] = {
    ".mlir": "mlir",
    ".mlirbc": "mlir",
    ".onnx": "onnx",
    ".tflite": "tflite",
}
_KERNELS = (".metal", ".msl")
_COMPILED = (".metallib", ".dylib", ".air")

_ZIP = b"PK\x03\x04"
_IREE = b"IREE"
_MLIR_BYTECODE = b"ML\xefR"
_TFLITE = b"TFL3"


def is_module(head: bytes) -> bool:
    """Whether a file that starts with `head` (at least 64 bytes) is a compiled `.vmfb`.

    A `.vmfb` is a ZIP archive whose first entry is a FlatBuffer with the identifier IREE, or
    that FlatBuffer alone after a 4-byte size.
    """
    return head.startswith(_ZIP) or head[8:12] == _IREE or head[4:8] == _IREE


def read_head(path: Path, length: int = 64) -> bytes:
    """The first bytes of a file; what stands in the way of reading it becomes a `ModelError`."""
    try:
        with path.open("rb") as file:
            return file.read(length)
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise ModelError(f"{path}: this is a folder; give a file in it") from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None


def model_format(path: Path) -> ModelFormat:
    """Which importer reads `path`, or a `ModelError` that lists what can be read."""
    head = read_head(path)
    if not head:
        raise ModelError(f"{path}: the file is empty")
    if head.startswith(_MLIR_BYTECODE):
        return "mlir"
    if head[4:8] == _TFLITE:
        return "tflite"
    try:
        return SUFFIXES[path.suffix.lower()]
    except KeyError:
        if path.suffix.lower() in _KERNELS:
            raise ModelError(
                f"{path}: these are kernels, not a model; `assay check {path}` runs them, "
                f"`assay inspect {path}` shows what is in them"
            ) from None
        if path.suffix.lower() in _COMPILED:
            raise ModelError(
                f"{path}: these are compiled kernels, not a model; `assay check {path}` runs them, "
                "`assay time` says how long they take, `assay inspect` what is in them"
            ) from None
        if path.suffix.lower() == ASSAY_SUFFIX:
            raise ModelError(
                f"{path}: this is an Assay module, built already; `assay run`, `inspect`, "
                "`check`, `diff` and `time` take it"
            ) from None
        known = ", ".join(SUFFIXES)
        raise ModelError(
            f"{path}: this is not a model that can be compiled; expected one of {known}"
        ) from None

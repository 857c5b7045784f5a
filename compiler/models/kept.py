"""Modules that IREE made, kept on disk: a model that did not change is compiled once."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from assay.sim.native.disk_cache import DiskCache, digest
from assay.sim.native.llvm_host import host_target

from .formats import ModelFormat

_CACHE = DiskCache("models")
_FORM: Final = "1"
"""Of the entries, and of what this package does around IREE's tools; goes up when either does."""
_TOOLS: Final[dict[ModelFormat, tuple[str, ...]]] = {
    "mlir": (),
    "onnx": ("onnx",),
    "tflite": ("tosa-converter-for-tflite",),
}
_COMPILER: Final = "iree-base-compiler"
# What makes the compiler print or write beside its result: kept, it would do so only once.
_SHOWS: Final = re.compile(r"dump|print|trace|timing|statistics|debug|verify-diagnostics")
_PLAIN_FLAG: Final = re.compile(r"--?[A-Za-z0-9-]+(=[\w.,:+-]*)?")
# Marks of files beside the model: tensors of ONNX, objects that executables of MLIR link.
_FILES_BESIDE: Final[dict[ModelFormat, bytes]] = {
    "onnx": b"\x0a\x08location",
    "mlir": b"executable.object",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """What a compilation left."""

    data: bytes
    """The `.vmfb`."""
    notes: tuple[str, ...]
    flags: tuple[str, ...]


def key_of(
    source: Path, kind: ModelFormat, target: str, flags: Sequence[str], extra: Sequence[str]
) -> str | None:
    """What decides the module that `source` becomes; None when more than we can see does.

    `flags` are all that the compiler gets first, `extra` those of them that the user gave: a flag
    that names a file, or makes the compiler show something, takes part in no key, nor does a model
    that refers to other files.
    """
    data = source.read_bytes()
    mark = _FILES_BESIDE.get(kind)
    if (mark is not None and mark in data) or not all(map(_is_plain, extra)):
        return None
    tools = {package: _version(package) for package in (_COMPILER, *_TOOLS[kind])}
    if None in tools.values():
        return None  # A build of somebody's own, of which nothing says when it changes.
    # The CPU's kernels are made for this very processor.
    host = () if target == "metal" else host_target()
    return digest(_FORM, kind, target, json.dumps([flags, tools, host]), data)


def find(key: str | None) -> Kept | None:
    """The module kept under a key."""
    raw = None if key is None else _CACHE.get(key)
    if raw is None:
        return None
    size = int.from_bytes(raw[:4], "little")
    said = json.loads(raw[4 : 4 + size])
    return Kept(raw[4 + size :], tuple(said["notes"]), tuple(said["flags"]))


def keep(key: str | None, made: Kept) -> None:
    """Keep a module, as far as the disk allows."""
    if key is None:
        return
    said = json.dumps({"notes": made.notes, "flags": made.flags}).encode()
    _CACHE.put(key, len(said).to_bytes(4, "little") + said + made.data)


def _is_plain(flag: str) -> bool:
    _, _, value = flag.partition("=")
    return bool(
        _PLAIN_FLAG.fullmatch(flag) and not _SHOWS.search(flag) and not Path(value or "-").exists()
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

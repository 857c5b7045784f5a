"""Reads `.safetensors` files: a header in JSON, then tensors, row by row.

Layout: https://github.com/huggingface/safetensors, README.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.formats import format_of

from .stored import Bytes, Stored, StoredFile, mapped

_TYPES: Final = {"F32": ("f32", 4), "F16": ("f16", 2), "BF16": ("bf16", 2)}
_LONGEST: Final = 100_000_000  # of a header, as the format's own library has it


def read_safetensors(path: Path) -> StoredFile:
    """The file's tensors, with `config.json` beside it as metadata. Raises FoundryError."""
    data = mapped(path)
    length = int.from_bytes(data[:8].tobytes(), "little")
    if data.size < 8 or length > min(data.size - 8, _LONGEST):
        raise FoundryError("model-file", f"{path} is no .safetensors file: its header does not fit")
    header = _json(path, data[8 : 8 + length].tobytes())
    header.pop("__metadata__", None)
    body = data[8 + length :]
    tensors = {name: _stored(path, name, about, body) for name, about in header.items()}
    return StoredFile(path, data, _config(path), tensors)


def _stored(path: Path, name: str, about: Any, body: Bytes) -> Stored:
    try:
        kind, shape = about["dtype"], tuple(map(int, about["shape"]))
        begin, end = map(int, about["data_offsets"])
    except (KeyError, TypeError, ValueError):
        raise FoundryError("model-file", f"{path} is damaged: {name} is {about!r}") from None
    if kind not in _TYPES:
        raise FoundryError(
            "model-file", f"{path}: {name} has the type {kind}; read are {', '.join(_TYPES)}"
        )
    format_name, size = _TYPES[kind]
    count = size
    for each in shape:
        count *= each
    if not 0 <= begin <= end <= body.size or end - begin != count or min(shape, default=1) < 1:
        raise FoundryError("model-file", f"{path} is damaged: {name} {shape} does not fit in it")
    return Stored(name, format_of(format_name), shape or (1,), body[begin:end])


def _config(path: Path) -> dict[str, Any]:
    config = path.with_name("config.json")
    try:
        text = config.read_bytes()
    except OSError as error:
        raise FoundryError(
            "model-file", f"{config}, which says what {path.name} is, cannot be read: {error}"
        ) from None
    return _json(config, text)


def _json(path: Path, text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FoundryError("model-file", f"{path}: no JSON: {error}") from None
    if not isinstance(found, dict):
        raise FoundryError("model-file", f"{path}: no object of JSON")
    return found

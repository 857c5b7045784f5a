"""ONNX models of older opsets than IREE reads, which are brought to one that it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

OLDEST_READ: Final = 17
"""The operators of older opsets have no rule in IREE, or not all of them. Source: the notes of
`iree-import-onnx`, which asks for this opset and above."""


def is_older(source: Path) -> bool:
    """Whether a file is an ONNX model that needs it; False if it cannot be read."""
    import onnx
    from google.protobuf.message import DecodeError

    try:
        proto = onnx.load(str(source), load_external_data=False)
    except (DecodeError, UnicodeDecodeError, OSError, ValueError):
        return False  # the importer says what is wrong with it
    return _opset(proto) < OLDEST_READ


def brought(onnx: Any, proto: Any) -> Any:
    """The model at `OLDEST_READ`; itself if it is not older, or ONNX has no way there."""
    if _opset(proto) >= OLDEST_READ:
        return proto
    try:
        made = onnx.version_converter.convert_version(proto, OLDEST_READ)
    except (onnx.version_converter.ConvertError, RuntimeError, ValueError):
        return proto  # whoever reads its operators names those that nobody knows
    if not proto.graph.value_info:
        del made.graph.value_info[:]  # what the converter inferred, the file does not say
    return made


def _opset(proto: Any) -> int:
    found: list[int] = [entry.version for entry in proto.opset_import if not entry.domain]
    return min(found, default=OLDEST_READ)

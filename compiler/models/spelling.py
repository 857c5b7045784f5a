"""TOSA in the spelling of other releases of MLIR.

Releases differ in how operators with attributes are written: some put all into braces behind the
operands, which is what many files and tools still have; those behind IREE 3.13 write attributes
without braces, and refuse the others. The generic form, `"tosa.name"(operands) {attributes}`, is
read by all.
"""

from __future__ import annotations

import re

_OPERATOR = re.compile(
    r"(?<![\w\".])(?P<name>tosa\.[a-z0-9_]+)\s+(?P<operands>(?:%[\w$.#-]+\s*,?\s*)*)"
    r"(?P<attributes>\{[^{}]*\})\s*:\s*(?=\()"
)
_ENUMS = {"rounding_mode": "rounding_mode", "nan_mode": "nan_mode", "mode": "resize_mode"}
"""Attributes that are words, and the types that these have."""
_ENUM = re.compile(rf"\b(?P<key>{'|'.join(_ENUMS)})\s*=\s*\"?(?P<word>[A-Z][A-Z_]*)\"?")


def respelt(text: str) -> str:
    """The text with operators that have attributes in braces in the generic form; lines stay."""
    return _OPERATOR.sub(_generic, text)


def _generic(found: re.Match[str]) -> str:
    attributes = _ENUM.sub(_enum, found["attributes"])
    return f'"{found["name"]}"({found["operands"].rstrip()}) {attributes} : '


def _enum(found: re.Match[str]) -> str:
    return f"{found['key']} = #tosa.{_ENUMS[found['key']]}<{found['word']}>"

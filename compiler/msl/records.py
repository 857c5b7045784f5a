"""Compiled results as bytes, for the cache on disk."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from .arguments import Argument, ArgumentBufferMember, StructField
from .rewrite.function_constants import FunctionConstant
from .rewrite.kernels import EntryPoint, Parameter
from .rewrite.members import Member


def pack(description: dict[str, Any], payload: bytes) -> bytes:
    """A JSON description followed by raw bytes."""
    text = json.dumps(description).encode()
    return len(text).to_bytes(8, "little") + text + payload


def unpack(raw: bytes) -> tuple[dict[str, Any], bytes]:
    """The two parts that `pack` joined."""
    length = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def described(
    entries: tuple[EntryPoint, ...], constants: tuple[FunctionConstant, ...]
) -> dict[str, Any]:
    """What a library offers, as JSON takes it."""
    return {
        "entries": [asdict(entry) for entry in entries],
        "constants": [asdict(constant) for constant in constants],
    }


def entries_of(description: dict[str, Any]) -> tuple[EntryPoint, ...]:
    """The entry points in a library's description."""
    return tuple(_entry(dict(record)) for record in description["entries"])


def constants_of(description: dict[str, Any]) -> tuple[FunctionConstant, ...]:
    """The function constants in a library's description."""
    return tuple(FunctionConstant(**record) for record in description["constants"])


def _entry(record: dict[str, Any]) -> EntryPoint:
    record["parameters"] = tuple(_parameter(dict(p)) for p in record["parameters"])
    return EntryPoint(**record)


def _parameter(record: dict[str, Any]) -> Parameter:
    record["members"] = tuple(Member(**member) for member in record["members"])
    return Parameter(**record)


def arguments_of(records: list[dict[str, Any]]) -> tuple[Argument, ...]:
    """Arguments out of their records."""
    found: list[Argument] = []
    for record in records:
        members = tuple(ArgumentBufferMember(**member) for member in record["members"])
        fields = tuple(StructField(**each) for each in record["fields"])
        found.append(Argument(**{**record, "members": members, "fields": fields}))
    return tuple(found)

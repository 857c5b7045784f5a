"""Safetensors files: a JSON header of names, dtypes, shapes and byte ranges, then the bytes.

Format: https://github.com/huggingface/safetensors#format.
"""

from __future__ import annotations

import json

from .ranges import Cursor, Found

_LONGEST_HEADER = 100 << 20


def read_safetensors(data: memoryview, name: str) -> dict[str, Found]:
    """Keys and places."""
    cursor = Cursor(data, name)
    size = cursor.number("Q")
    if size > _LONGEST_HEADER:
        raise cursor.damaged(f"its header claims {size} bytes")
    try:
        header = json.loads(bytes(cursor.take(size)))
    except (ValueError, RecursionError) as error:
        raise cursor.damaged(f"its header is not JSON ({error})") from error
    base = cursor.position
    if not isinstance(header, dict):
        raise cursor.damaged("its header is not an object")
    found: dict[str, Found] = {}
    for key, entry in header.items():
        if key == "__metadata__":
            continue
        offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
        if not (isinstance(offsets, list) and list(map(type, offsets)) == [int, int]):
            raise cursor.damaged(f"'{key}' has no data_offsets of two numbers")
        found[key] = (base + offsets[0], offsets[1] - offsets[0])
    return found

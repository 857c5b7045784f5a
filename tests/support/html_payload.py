"""Reads the trace out of an HTML timeline, column by column: the plain counterpart of the page."""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct
from typing import Any, cast

import numpy as np

_FIXED = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "f32": "<f4", "f64": "<f8", "i64": "<i8"}


def payload(page: str) -> tuple[dict[str, Any], bytes]:
    """Header and columns of a page."""
    found = re.search(r'id="payload" data-version="1">([^<]*)</script>', page)
    assert found is not None
    data = gzip.decompress(base64.b64decode(found[1], validate=True))
    (length,) = struct.unpack_from("<I", data)
    return cast(dict[str, Any], json.loads(data[4 : 4 + length])), data[4 + length :]


def column(data: bytes, entry: dict[str, Any]) -> list[float | None]:
    """The numbers of a column, None where there are none."""
    part = data[entry["at"] : entry["at"] + entry["size"]]
    if entry["as"] == "leb128":
        values: list[Any] = _leb128(part)
    else:
        values = np.frombuffer(part, _FIXED[entry["as"]]).tolist()
    assert len(values) == entry["count"]
    return [_unfold(value) for value in values] if entry.get("zigzag") else values


def _leb128(data: bytes) -> list[int]:
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    assert shift == 0
    return values


def _unfold(value: int) -> int | None:
    if value == 0:
        return None
    value -= 1
    return value >> 1 if value % 2 == 0 else -((value + 1) >> 1)

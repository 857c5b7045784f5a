"""GGUF files. Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md."""

from __future__ import annotations

import math

from .ranges import Cursor, Found

_VALUE_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING, _ARRAY, _U32 = 8, 9, 4
_ALIGNMENT_KEY = "general.alignment"

# Tensor type -> (elements per block, bytes per block); the numbers are ggml's block structs.
_BLOCKS = {
    0: (1, 4),
    1: (1, 2),
    2: (32, 18),
    3: (32, 20),
    6: (32, 22),
    7: (32, 24),
    8: (32, 34),
    9: (32, 36),
    10: (256, 84),
    11: (256, 110),
    12: (256, 144),
    13: (256, 176),
    14: (256, 210),
    15: (256, 292),
    24: (1, 1),
    25: (1, 2),
    26: (1, 4),
    27: (1, 8),
    28: (1, 8),
    30: (1, 2),
}


def read_gguf(data: memoryview, name: str) -> dict[str, Found]:
    """Keys and places."""
    cursor = Cursor(data, name)
    if bytes(cursor.take(4)) != b"GGUF":
        raise cursor.damaged("it does not start with b'GGUF'")
    version = cursor.number("I")
    if version not in (2, 3):
        raise cursor.damaged(f"GGUF version {version}; 2 and 3 are known")
    tensors, pairs = cursor.number("Q"), cursor.number("Q")
    alignment = 32
    for _ in range(pairs):
        key = _text(cursor)
        kind = cursor.number("I")
        if key == _ALIGNMENT_KEY and kind == _U32:
            alignment = cursor.number("I")
        else:
            _skip_value(cursor, kind)
    if alignment == 0 or alignment & (alignment - 1):
        raise cursor.damaged(f"an alignment of {alignment}")
    if tensors > len(data):
        raise cursor.damaged(f"{tensors} tensors in {len(data)} bytes")
    places = [_tensor(cursor) for _ in range(tensors)]
    base = -(-cursor.position // alignment) * alignment
    return {key: (base + offset, length) for key, offset, length in places}


def _tensor(cursor: Cursor) -> tuple[str, int, int]:
    key = _text(cursor)
    rank = cursor.number("I")
    if rank > 64:
        raise cursor.damaged(f"tensor '{key}' has {rank} dimensions")
    elements = math.prod(cursor.number("Q") for _ in range(rank))
    kind = cursor.number("I")
    if kind not in _BLOCKS:
        raise cursor.damaged(f"tensor '{key}' has the unknown type {kind}")
    per_block, block_size = _BLOCKS[kind]
    return key, cursor.number("Q"), elements // per_block * block_size


def _text(cursor: Cursor) -> str:
    return str(cursor.take(cursor.number("Q")), "utf-8", "replace")


def _skip_value(cursor: Cursor, kind: int) -> None:
    if kind == _STRING:
        cursor.take(cursor.number("Q"))
    elif kind in _VALUE_SIZES:
        cursor.take(_VALUE_SIZES[kind])
    elif kind == _ARRAY:
        item = cursor.number("I")
        count = cursor.number("Q")
        if item in _VALUE_SIZES:
            cursor.take(count * _VALUE_SIZES[item])
        elif item == _STRING:
            for _ in range(count):
                cursor.take(cursor.number("Q"))
        else:
            raise cursor.damaged(f"an array of values of type {item}")
    else:
        raise cursor.damaged(f"a value of the unknown type {kind}")

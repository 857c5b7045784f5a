"""Formats that kernels write: what a simdgroup does to store 32 numbers of a row.

Codes are those of the formats' `pack`, which are ggml's reference quantisers.
"""

from __future__ import annotations

from typing import Final

from ..errors import FoundryError
from ..formats import Format

_HEAD: Final = """\
// Stores the number of each lane of a whole simdgroup: those of a row from column `first` on.
struct Store {
    static void store32(device uchar* to, uint columns, uint row, uint first, uint lane,
                        float value) {
"""
_TAIL: Final = """\
    }
};
"""
_PLAIN: Final = """\
        if (first + lane < columns) {
            reinterpret_cast<device %s*>(to)[ulong(row) * columns + first + lane] = %s(value);
        }
"""
_BODIES: Final = {
    "f32": _PLAIN % ("float", "float"),
    "f16": _PLAIN % ("half", "half"),
    "bf16": _PLAIN % ("bfloat", "bfloat"),
    "q8_0": """\
        device uchar* block = to + (ulong(row) * (columns / 32) + first / 32) * 34;
        const float d = simd_max(fabs(value)) / 127.0f;
        const float inverse = d == 0 ? 0.0f : 1.0f / d;
        if (lane == 0) {
            *reinterpret_cast<device half*>(block) = half(d);
        }
        block[2 + lane] = as_type<uchar>(char(round(value * inverse)));
""",
    "q4_0": """\
        device uchar* block = to + (ulong(row) * (columns / 32) + first / 32) * 18;
        const float most = simd_max(fabs(value));
        const ushort there = ushort(simd_min(fabs(value) == most ? lane : 31u));
        const float d = simd_shuffle(value, there) / -8.0f;
        const float inverse = d == 0 ? 0.0f : 1.0f / d;
        const uint code = uint(clamp(int(value * inverse + 8.5f), 0, 15));
        const uint other = simd_shuffle_xor(code, ushort(16));
        if (lane == 0) {
            *reinterpret_cast<device half*>(block) = half(d);
        }
        if (lane < 16) {
            block[2 + lane] = uchar(code | other << 4);
        }
""",
}


_BYTES_OF_32: Final = {"f32": 128, "f16": 64, "bf16": 64, "q8_0": 34, "q4_0": 18}


def store_text(weights: Format, columns: int) -> str:
    """The struct `Store` in MSL for rows of so many numbers.

    Raises FoundryError for a format that kernels do not write, or that has no such rows.
    """
    row_bytes(weights, columns)
    return f"{_HEAD}{_BODIES[weights.name]}{_TAIL}"


def row_bytes(weights: Format, columns: int) -> int:
    """Bytes of a row of so many numbers in a format that kernels write. Raises FoundryError."""
    if weights.name not in _BYTES_OF_32:
        raise FoundryError(
            "format-store",
            f"kernels do not write {weights.name}; they write {', '.join(_BYTES_OF_32)}",
        )
    if columns % weights.multiple:
        raise FoundryError(
            "format-shape",
            f"{weights.name} holds {weights.multiple} numbers together; rows of {columns} are no "
            "multiple",
        )
    return columns * _BYTES_OF_32[weights.name] // 32

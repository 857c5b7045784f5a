"""Formats that kernels write: what a simdgroup does to store 32 numbers of a row.

Codes are those of the formats' `pack`, which are ggml's reference quantisers.
"""

from __future__ import annotations

from typing import Final

from ..errors import FoundryError
from ..formats import Format, check_columns

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
    "fp8_e4m3": """\
        if (first + lane < columns) {
            // By bits: compilers may take it that there is no NaN.
            const uint whole = as_type<uint>(value), size = whole & 0x7fffffffu;
            const uint bits =
                size > 0x7f800000u ? 127u : small_float(as_type<float>(size), true);
            to[ulong(row) * columns + first + lane] = uchar(bits | whole >> 31 << 7);
        }
""",
    "mxfp4": """\
        device uchar* block = to + (ulong(row) * (columns / 32) + first / 32) * 17;
        const float most = simd_max(fabs(value));
        // Two less than the power of two of the largest number, which is then from 4 up to 8.
        const int e = most == 0 ? 0 : clamp(int(as_type<uint>(most) >> 23) - 2, 0, 253);
        const uint code = four_bits(value * as_type<float>(uint(254 - e) << 23));
        const uint other = simd_shuffle_xor(code, ushort(16));
        if (lane == 0) {
            block[0] = uchar(e);
        }
        if (lane < 16) {
            block[1 + lane] = uchar(code | other << 4);
        }
""",
    "nvfp4": """\
        device uchar* block = to + (ulong(row) * (columns / 64) + first / 64) * 36;
        const uint group = first % 64 / 16 + lane / 16;
        float most = fabs(value);
        for (ushort step = 1; step < 16; step *= 2) {
            most = max(most, simd_shuffle_xor(most, step));
        }
        const float wanted = most / 6.0f;
        // Below the normal ones at most the largest subnormal, as ggml has it.
        const uint bits = min(small_float(wanted, false), wanted < 0x1p-6f ? 7u : 126u);
        const float step = bits < 8 ? 0x1p-9f : as_type<float>((bits / 8 + 117u) << 23);
        const float scale = step * float(bits < 8 ? bits : bits % 8 + 8);
        const uint code = four_bits(scale == 0 ? 0.0f : value / scale);
        const uint other = simd_shuffle_xor(code, ushort(8));
        if (lane % 16 == 0) {
            block[group] = uchar(bits);
        }
        if (lane % 16 < 8) {
            block[4 + 8 * group + lane % 8] = uchar(code | other << 4);
        }
""",
}

_SMALL_FLOAT: Final = """\
// The bits of the nearest E4M3 to a size, at most 448; ties go to even ones, or up.
static inline uint small_float(float size, bool is_even) {
    const float most = min(size, 448.0f);
    const int power = max(int(as_type<uint>(most) >> 23) - 127, -6);
    const float steps = most * as_type<float>(uint(130 - power) << 23);
    return uint(power + 6) * 8 + uint(is_even ? rint(steps) : floor(steps + 0.5f));
}

"""
_FOUR_BITS: Final = """\
// The nearest E2M1; a tie goes to the smaller one, and what becomes 0 has no sign.
static inline uint four_bits(float value) {
    const float size = fabs(value);
    const uint code = uint(size > 0.25f) + uint(size > 0.75f) + uint(size > 1.25f) +
                      uint(size > 1.75f) + uint(size > 2.5f) + uint(size > 3.5f) +
                      uint(size > 5.0f);
    return value < 0 && code > 0 ? code | 8u : code;
}

"""
_NEEDS: Final = {
    "fp8_e4m3": _SMALL_FLOAT,
    "mxfp4": _FOUR_BITS,
    "nvfp4": _SMALL_FLOAT + _FOUR_BITS,
}
_BYTES_OF_32: Final = {
    "f32": 128,
    "f16": 64,
    "bf16": 64,
    "q8_0": 34,
    "q4_0": 18,
    "fp8_e4m3": 32,
    "mxfp4": 17,
    "nvfp4": 18,
}


def store_text(weights: Format, columns: int) -> str:
    """The struct `Store` in MSL for rows of so many numbers.

    Raises FoundryError for a format that kernels do not write, or that has no such rows.
    """
    row_bytes(weights, columns)
    return f"{_NEEDS.get(weights.name, '')}{_HEAD}{_BODIES[weights.name]}{_TAIL}"


def row_bytes(weights: Format, columns: int) -> int:
    """Bytes of a row of so many numbers in a format that kernels write. Raises FoundryError."""
    if weights.name not in _BYTES_OF_32:
        raise FoundryError(
            "format-store",
            f"kernels do not write {weights.name}; they write {', '.join(_BYTES_OF_32)}",
        )
    check_columns(weights, columns)
    return columns * _BYTES_OF_32[weights.name] // 32

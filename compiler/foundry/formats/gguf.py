"""Q8_0, Q4_0 and Q4_1: blocks of 32 weights of GGUF files.

Layouts and rounding: ggml, `ggml-common.h` and `ggml-quants.c` (its reference quantisers).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .blocks import BlockFormat, Field, Fields
from .packed import Bytes, Weights

_D: Final = Field("d", 2, "scales")


def half_bytes(values: NDArray[np.floating]) -> Bytes:
    """Halves [blocks] as bytes [blocks, 2]."""
    return values.astype("<f2").reshape(-1, 1).view(np.uint8)


def halves(field: Bytes) -> NDArray[np.float32]:
    """Bytes [blocks, 2 n] as float32 [blocks, n]."""
    return np.ascontiguousarray(field).view("<f2").astype(np.float32)


def nibbles(field: Bytes) -> Bytes:
    """Bytes [blocks, n] as codes [blocks, 2 n]: all low halves, then all high ones."""
    return np.concatenate([field & 15, field >> 4], axis=1)


def in_nibbles(codes: Bytes) -> Bytes:
    """Codes [blocks, 2 n] as bytes [blocks, n]: code j low, code j + n high."""
    count = codes.shape[1] // 2
    return (codes[:, :count] | codes[:, count:] << 4).astype(np.uint8)


def _inverse(scale: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.divide(np.float32(1), scale, out=np.zeros_like(scale), where=scale != 0)


def _q8_0(blocks: Weights) -> Fields:
    d = np.abs(blocks).max(axis=1) / np.float32(127)
    scaled = blocks * _inverse(d)[:, None]
    # Half away from zero, as C's roundf.
    rounded = np.copysign(np.floor(np.abs(scaled) + np.float32(0.5)), scaled)
    return {"d": half_bytes(d), "qs": rounded.astype(np.int8).view(np.uint8)}


def _from_q8_0(fields: Fields) -> Weights:
    return halves(fields["d"]) * fields["qs"].view(np.int8).astype(np.float32)


def _q4_0(blocks: Weights) -> Fields:
    at = np.abs(blocks).argmax(axis=1)
    d = blocks[np.arange(len(blocks)), at] / np.float32(-8)
    codes = np.trunc(blocks * _inverse(d)[:, None] + np.float32(8.5)).clip(max=15)
    return {"d": half_bytes(d), "qs": in_nibbles(codes.astype(np.uint8))}


def _from_q4_0(fields: Fields) -> Weights:
    return halves(fields["d"]) * (nibbles(fields["qs"]).astype(np.float32) - 8)


def _q4_1(blocks: Weights) -> Fields:
    low = blocks.min(axis=1)
    d = (blocks.max(axis=1) - low) / np.float32(15)
    scaled = (blocks - low[:, None]) * _inverse(d)[:, None]
    codes = np.trunc(scaled + np.float32(0.5)).clip(max=15)
    return {"d": half_bytes(d), "m": half_bytes(low), "qs": in_nibbles(codes.astype(np.uint8))}


def _from_q4_1(fields: Fields) -> Weights:
    return halves(fields["d"]) * nibbles(fields["qs"]).astype(np.float32) + halves(fields["m"])


Q8_0: Final = BlockFormat(
    name="q8_0",
    multiple=32,
    fields=(_D, Field("qs", 32, "matrix")),
    encode=_q8_0,
    decode=_from_q8_0,
    body="""\
        const float scale = read_half(d(matrix, scales, block));
        const device uchar* codes = qs(matrix, scales, block) + first;
        for (uint i = 0; i < 4; ++i) {  // blocks begin at even bytes
            const char2 two = as_type<char2>(reinterpret_cast<const device ushort*>(codes)[i]);
            w[2 * i] = scale * float(two.x);
            w[2 * i + 1] = scale * float(two.y);
        }
""",
    codes="""\
        const device uchar* codes = qs(matrix, scales, block) + first;
        for (uint i = 0; i < 4; ++i) {
            const char2 two = as_type<char2>(reinterpret_cast<const device ushort*>(codes)[i]);
            w[2 * i] = float(two.x);
            w[2 * i + 1] = float(two.y);
        }
        return float2(read_half(d(matrix, scales, block)), 0.0f);
""",
)

Q4_0: Final = BlockFormat(
    name="q4_0",
    multiple=32,
    fields=(_D, Field("qs", 16, "matrix")),
    encode=_q4_0,
    decode=_from_q4_0,
    body="""\
        const float scale = read_half(d(matrix, scales, block));
        const device uchar* codes = qs(matrix, scales, block) + first % 16;
        const uint shift = first >= 16 ? 4 : 0;
        for (uint i = 0; i < 4; ++i) {  // blocks begin at even bytes
            const uint two = uint(reinterpret_cast<const device ushort*>(codes)[i]) >> shift;
            w[2 * i] = scale * (float(two & 15u) - 8.0f);
            w[2 * i + 1] = scale * (float(two >> 8 & 15u) - 8.0f);
        }
""",
    codes="""\
        const device uchar* codes = qs(matrix, scales, block) + first % 16;
        const uint shift = first >= 16 ? 4 : 0;
        for (uint i = 0; i < 4; ++i) {
            const uint two = uint(reinterpret_cast<const device ushort*>(codes)[i]) >> shift;
            w[2 * i] = float(two & 15u);
            w[2 * i + 1] = float(two >> 8 & 15u);
        }
        const float scale = read_half(d(matrix, scales, block));
        return float2(scale, -8.0f * scale);
""",
    both_codes="""\
        const device uchar* codes = qs(matrix, scales, block) + first;
        for (uint i = 0; i < 4; ++i) {
            const uint two = reinterpret_cast<const device ushort*>(codes)[i];
            w[2 * i] = float(two & 15u);
            w[2 * i + 1] = float(two >> 8 & 15u);
            others[2 * i] = float(two >> 4 & 15u);
            others[2 * i + 1] = float(two >> 12);
        }
        const float scale = read_half(d(matrix, scales, block));
        return float2(scale, -8.0f * scale);
""",
)

Q4_1: Final = BlockFormat(
    name="q4_1",
    multiple=32,
    fields=(_D, Field("m", 2, "scales"), Field("qs", 16, "matrix")),
    encode=_q4_1,
    decode=_from_q4_1,
    body="""\
        const float scale = read_half(d(matrix, scales, block));
        const float least = read_half(m(matrix, scales, block));
        const device uchar* codes = qs(matrix, scales, block) + first % 16;
        for (uint i = 0; i < 8; ++i) {
            w[i] = scale * float(nibble(codes[i], first >= 16)) + least;
        }
""",
)

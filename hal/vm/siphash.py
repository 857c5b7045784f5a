"""SipHash-2-4 with IREE's fixed key, as `buffer.hash` computes it."""

from __future__ import annotations

import struct

_MASK = 0xFFFFFFFFFFFFFFFF


def _rotate(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (64 - bits))) & _MASK


def _rounds(v: list[int], count: int) -> None:
    for _ in range(count):
        v[0] = (v[0] + v[1]) & _MASK
        v[2] = (v[2] + v[3]) & _MASK
        v[1] = _rotate(v[1], 13) ^ v[0]
        v[3] = _rotate(v[3], 16) ^ v[2]
        v[0] = _rotate(v[0], 32)
        v[2] = (v[2] + v[1]) & _MASK
        v[0] = (v[0] + v[3]) & _MASK
        v[1] = _rotate(v[1], 17) ^ v[2]
        v[3] = _rotate(v[3], 21) ^ v[0]
        v[2] = _rotate(v[2], 32)


def siphash(data: bytes) -> int:
    """The hash of the bytes as a signed 64-bit number."""
    key0, key1 = 0x0706050403020100, 0x0F0E0D0C0B0A0908
    v = [
        0x736F6D6570736575 ^ key0,
        0x646F72616E646F6D ^ key1,
        0x6C7967656E657261 ^ key0,
        0x7465646279746573 ^ key1,
    ]
    tail = len(data) % 8
    whole = len(data) - tail
    last = (len(data) & 0xFF) << 56 | int.from_bytes(data[whole:], "little")
    for (word,) in [*struct.iter_unpack("<Q", data[:whole]), (last,)]:
        v[3] ^= word
        _rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xFF
    _rounds(v, 4)
    result = v[0] ^ v[1] ^ v[2] ^ v[3]
    return result - (1 << 64) if result >> 63 else result

"""Block-quantised weights as NumPy records, and what they stand for, element by element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_Q4_0 = np.dtype([("d", "<f2"), ("qs", "u1", 16)])
_Q5_1 = np.dtype([("d", "<f2"), ("m", "<f2"), ("qh", "u1", 4), ("qs", "u1", 16)])
_Q8_0 = np.dtype([("d", "<f2"), ("qs", "i1", 32)])
_Q4_K = np.dtype([("d", "<f2"), ("dmin", "<f2"), ("scales", "u1", 12), ("qs", "u1", 128)])
_Q6_K = np.dtype([("ql", "u1", 128), ("qh", "u1", 64), ("scales", "i1", 16), ("d", "<f2")])


def _q4_0(blocks: np.ndarray) -> np.ndarray:
    nibbles = np.concatenate([blocks["qs"] & 15, blocks["qs"] >> 4], axis=-1)
    values: np.ndarray = _scale(blocks) * (nibbles.astype(np.float64) - 8)
    return values


def _q5_1(blocks: np.ndarray) -> np.ndarray:
    nibbles = np.concatenate([blocks["qs"] & 15, blocks["qs"] >> 4], axis=-1)
    fifth = np.unpackbits(blocks["qh"], axis=-1, bitorder="little")
    quants = nibbles.astype(np.float64) + 16 * fifth
    values: np.ndarray = _scale(blocks) * quants + blocks["m"][..., None].astype(np.float64)
    return values


def _q8_0(blocks: np.ndarray) -> np.ndarray:
    values: np.ndarray = _scale(blocks) * blocks["qs"]
    return values


def _q4_k(blocks: np.ndarray) -> np.ndarray:
    """Eight sub-blocks of 32; their 6-bit scales and minima lie in 12 bytes."""
    packed = blocks["scales"].astype(np.int64)
    first, second, third = packed[..., 0:4], packed[..., 4:8], packed[..., 8:12]
    scales = np.concatenate([first & 63, (third & 15) | (first >> 6 << 4)], axis=-1)
    minima = np.concatenate([second & 63, (third >> 4) | (second >> 6 << 4)], axis=-1)
    pairs = blocks["qs"].reshape(*blocks.shape, 4, 1, 32)
    nibbles = np.concatenate([pairs & 15, pairs >> 4], axis=-2).reshape(*blocks.shape, 8, 32)
    scale = _scale(blocks) * scales
    minimum = blocks["dmin"][..., None].astype(np.float64) * minima
    values: np.ndarray = scale[..., None] * nibbles - minimum[..., None]
    return values


def _q6_k(blocks: np.ndarray) -> np.ndarray:
    """Two halves of 128; in each, four rows of 32 with 2 high bits in common bytes."""
    low = blocks["ql"].reshape(*blocks.shape, 2, 1, 64)
    low = np.concatenate([low & 15, low >> 4], axis=-2).reshape(*blocks.shape, 2, 4, 32)
    high = blocks["qh"].reshape(*blocks.shape, 2, 1, 32)
    shifts = np.array([0, 2, 4, 6], dtype=np.uint8)[:, None]
    quants = (low | (high >> shifts & 3) << 4).astype(np.float64) - 32
    scales = blocks["scales"].repeat(16, axis=-1).reshape(quants.shape)
    values: np.ndarray = _scale(blocks)[..., None, None] * quants * scales
    return values


def _scale(blocks: np.ndarray) -> np.ndarray:
    return blocks["d"][..., None].astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A block's record, the weights in it, and their values."""

    record: np.dtype
    weights: int
    values: Callable[[np.ndarray], np.ndarray]

    def random(self, rng: np.random.Generator, *shape: int) -> np.ndarray:
        """Blocks of random bits with scales near 1/16, so that sums stay small."""
        count = int(np.prod(shape))
        bits = rng.integers(0, 256, (count, self.record.itemsize), dtype=np.uint8)
        blocks = bits.view(self.record).reshape(shape)
        for name in {"d", "m", "dmin"} & set(self.record.names or ()):
            blocks[name] = rng.uniform(-0.1, 0.1, shape).astype(np.float16)
        return blocks

    def decode(self, blocks: np.ndarray) -> np.ndarray:
        """Rows of blocks as rows of float64."""
        return self.values(blocks).reshape(*blocks.shape[:-1], -1)


FORMATS = {
    "q4_0": Format(record=_Q4_0, weights=32, values=_q4_0),
    "q5_1": Format(record=_Q5_1, weights=32, values=_q5_1),
    "q8_0": Format(record=_Q8_0, weights=32, values=_q8_0),
    "q4_K": Format(record=_Q4_K, weights=256, values=_q4_k),
    "q6_K": Format(record=_Q6_K, weights=256, values=_q6_k),
}

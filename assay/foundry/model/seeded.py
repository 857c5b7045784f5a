"""Models with random weights of a seed, written as `.gguf` files: to try things and for tests."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.formats import Format, format_of

from .config import Config
from .gguf import TYPES

_ALIGNMENT: Final = 32
_VERSION: Final = 3
SMALL: Final = Config(
    layers=2,
    width=256,
    hidden=512,
    heads=4,
    kv_heads=2,
    head_size=64,
    vocabulary=512,
    context=256,
    epsilon=2.0**-17,
    rope_base=10000.0,
    pairs=32,
    is_neox=False,
)
"""A decoder that runs in seconds."""


def write_seeded(
    path: Path, config: Config = SMALL, *, weights: str = "q8_0", seed: int = 0
) -> Path:
    """Writes a Llama whose matrices are random, in a format that GGUF has; gives `path`.

    Numbers are normal, scaled so that activations keep their size. Raises FoundryError.
    """
    packing = format_of(weights)
    if weights not in TYPES.values():
        known = ", ".join(TYPES.values())
        raise FoundryError("model-file", f"GGUF has no {weights}; it has {known}")
    random = np.random.default_rng(seed)
    tensors: list[tuple[str, tuple[int, ...], Format]] = []
    for name, shape in _tensors(config):
        tensors.append((name, shape, packing if len(shape) == 2 else format_of("f32")))
    blobs = [_data(random, shape, kind) for _, shape, kind in tensors]
    begins = np.cumsum([0, *(-(-len(each) // _ALIGNMENT) * _ALIGNMENT for each in blobs)])
    metadata = _metadata(config)
    head = b"GGUF" + struct.pack("<IQQ", _VERSION, len(tensors), len(metadata))
    head += b"".join(_string(key) + _value(value) for key, value in metadata.items())
    numbers = {name: number for number, name in TYPES.items()}
    for (name, shape, kind), begin in zip(tensors, begins, strict=False):
        sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
        head += _string(name) + sizes + struct.pack("<IQ", numbers[kind.name], int(begin))
    path.write_bytes(_aligned(head) + b"".join(map(_aligned, blobs)))
    return path


def _tensors(c: Config) -> Iterator[tuple[str, tuple[int, ...]]]:
    q, kv = c.heads * c.head_size, c.kv_heads * c.head_size
    yield "token_embd.weight", (c.vocabulary, c.width)
    for i in range(c.layers):
        yield f"blk.{i}.attn_norm.weight", (c.width,)
        yield f"blk.{i}.attn_q.weight", (q, c.width)
        yield f"blk.{i}.attn_k.weight", (kv, c.width)
        yield f"blk.{i}.attn_v.weight", (kv, c.width)
        yield f"blk.{i}.attn_output.weight", (c.width, q)
        yield f"blk.{i}.ffn_norm.weight", (c.width,)
        yield f"blk.{i}.ffn_gate.weight", (c.hidden, c.width)
        yield f"blk.{i}.ffn_up.weight", (c.hidden, c.width)
        yield f"blk.{i}.ffn_down.weight", (c.width, c.hidden)
    yield "output_norm.weight", (c.width,)
    yield "output.weight", (c.vocabulary, c.width)


def _metadata(c: Config) -> Mapping[str, Any]:
    return {
        "general.architecture": "llama",
        "general.name": "seeded",
        "llama.block_count": c.layers,
        "llama.context_length": c.context,
        "llama.embedding_length": c.width,
        "llama.feed_forward_length": c.hidden,
        "llama.attention.head_count": c.heads,
        "llama.attention.head_count_kv": c.kv_heads,
        "llama.attention.key_length": c.head_size,
        "llama.attention.value_length": c.head_size,
        "llama.attention.layer_norm_rms_epsilon": c.epsilon,
        "llama.rope.dimension_count": 2 * c.pairs,
        "llama.rope.freq_base": c.rope_base,
        "llama.vocab_size": c.vocabulary,
    }


def _data(random: np.random.Generator, shape: tuple[int, ...], kind: Format) -> bytes:
    numbers = random.standard_normal(shape, np.float32)
    if len(shape) == 1:
        return kind.pack(1 + numbers[None] / np.float32(10)).matrix.tobytes()
    return kind.pack(numbers / np.float32(np.sqrt(shape[1]))).matrix.tobytes()


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _string(value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    return struct.pack("<II", 4, value)


def _aligned(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNMENT)

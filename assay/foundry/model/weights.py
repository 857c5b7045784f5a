"""The weights of a decoder by what they are for, from a file of either kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.formats import Format, Packed

from .config import Config, gguf_config, transformers_config
from .gguf import read_gguf
from .safetensors import read_safetensors
from .stored import Bytes, Stored, StoredFile

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Weights [rows, columns] in a format, with a bias [rows] or none."""

    format: Format
    packed: Packed
    bias: Vector | None = None

    @property
    def values(self) -> NDArray[np.float32]:
        """What they stand for."""
        return self.format.unpack(self.packed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One block of the decoder."""

    attention_norm: Vector
    q: Matrix
    k: Matrix
    v: Matrix
    output: Matrix
    norm: Vector
    gate: Matrix
    up: Matrix
    down: Matrix


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """All weights; `file` is what is mapped into memory of the file."""

    config: Config
    embedding: Matrix
    layers: tuple[Layer, ...]
    norm: Vector
    output: Matrix
    rope_factors: Vector | None
    file: Bytes


_GGUF: Final = {
    "attention_norm": "attn_norm",
    "q": "attn_q",
    "k": "attn_k",
    "v": "attn_v",
    "output": "attn_output",
    "norm": "ffn_norm",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
}
_TRANSFORMERS: Final = {
    "attention_norm": "input_layernorm",
    "q": "self_attn.q_proj",
    "k": "self_attn.k_proj",
    "v": "self_attn.v_proj",
    "output": "self_attn.o_proj",
    "norm": "post_attention_layernorm",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}

_DERIVED: Final = (".rotary_emb.inv_freq",)
"""What old files keep though it follows from the configuration."""


def load_weights(path: Path, pack: Format | None = None) -> Weights:
    """Weights of a `.gguf` or `.safetensors` file, where they lie in it.

    With `pack`, those of linear layers are packed into another format, which costs memory.
    Raises FoundryError.
    """
    if path.suffix == ".gguf":
        file = read_gguf(path)
        rows = file.tensor("token_embd.weight").shape[0]
        return _Loader(file, gguf_config(file.metadata, rows), pack).gguf()
    if path.suffix == ".safetensors":
        file = read_safetensors(path)
        return _Loader(file, transformers_config(file.metadata), pack).transformers()
    raise FoundryError("model-file", f"{path}: models are .gguf and .safetensors files")


class _Loader:
    def __init__(self, file: StoredFile, config: Config, pack: Format | None) -> None:
        self._file, self._config, self._pack = file, config, pack
        self._used = {"rope_freqs.weight"}

    def gguf(self) -> Weights:
        """By llama.cpp's names of tensors."""
        factors = self._file.tensors.get("rope_freqs.weight")
        return self._weights(
            "token_embd",
            ({each: f"blk.{i}.{name}" for each, name in _GGUF.items()} for i in self._numbers),
            "output_norm",
            "output",
            None if factors is None else factors.values,
        )

    def transformers(self) -> Weights:
        """By transformers' names."""
        return self._weights(
            "model.embed_tokens",
            (
                {each: f"model.layers.{i}.{name}" for each, name in _TRANSFORMERS.items()}
                for i in self._numbers
            ),
            "model.norm",
            "lm_head",
            None,
        )

    @property
    def _numbers(self) -> range:
        return range(self._config.layers)

    def _weights(
        self,
        embedding: str,
        layers: Iterable[dict[str, str]],
        norm: str,
        output: str,
        factors: Vector | None,
    ) -> Weights:
        c = self._config
        is_tied = f"{output}.weight" not in self._file.tensors
        table = self._matrix(embedding, c.vocabulary, c.width, pack=False)
        last = table if is_tied else self._matrix(output, c.vocabulary, c.width)
        made = tuple(self._layer(names) for names in layers)
        last_norm = self._vector(norm, c.width)
        self._refuse_others()
        return Weights(
            config=c,
            embedding=table,
            layers=made,
            norm=last_norm,
            output=last,
            rope_factors=factors,
            file=self._file.data,
        )

    def _layer(self, names: dict[str, str]) -> Layer:
        c = self._config
        q, kv = c.heads * c.head_size, c.kv_heads * c.head_size
        return Layer(
            attention_norm=self._vector(names["attention_norm"], c.width),
            q=self._matrix(names["q"], q, c.width),
            k=self._matrix(names["k"], kv, c.width),
            v=self._matrix(names["v"], kv, c.width),
            output=self._matrix(names["output"], c.width, q),
            norm=self._vector(names["norm"], c.width),
            gate=self._matrix(names["gate"], c.hidden, c.width),
            up=self._matrix(names["up"], c.hidden, c.width),
            down=self._matrix(names["down"], c.width, c.hidden),
        )

    def _matrix(self, name: str, rows: int, columns: int, *, pack: bool = True) -> Matrix:
        stored = self._tensor(f"{name}.weight")
        self._check(f"{name}.weight", stored.shape, (rows, columns))
        has_bias = f"{name}.bias" in self._file.tensors
        bias = self._vector(name, rows, "bias") if has_bias else None
        if pack and self._pack is not None:
            return Matrix(self._pack, self._pack.pack(stored.values), bias)
        return Matrix(stored.format, stored.packed, bias)

    def _vector(self, name: str, size: int, kind: str = "weight") -> Vector:
        stored = self._tensor(f"{name}.{kind}")
        self._check(f"{name}.{kind}", stored.shape, (size,))
        return stored.values

    def _tensor(self, name: str) -> Stored:
        self._used.add(name)
        return self._file.tensor(name)

    def _refuse_others(self) -> None:
        """A tensor that is not read belongs to a step of the model that would be left out."""
        others = [
            name
            for name in self._file.tensors
            if name not in self._used and not name.endswith(_DERIVED)
        ]
        if others:
            raise FoundryError(
                "model-file",
                f"{self._file.path}: a model with {', '.join(others[:3])} "
                f"({len(others)} tensors that no step of a Llama-like decoder reads)",
            )

    def _check(self, name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
        if shape != expected:
            raise FoundryError(
                "model-file", f"{self._file.path}: {name} is {shape}; its sizes say {expected}"
            )

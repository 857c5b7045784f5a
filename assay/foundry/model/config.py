"""What a decoder is like, from the metadata of its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.compiler.foundry.errors import FoundryError


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Sizes of a Llama-like decoder.

    `pairs` of each head turn by position; `is_neox` tells whether pairs are halves apart. A token
    sees `window` tokens at most, where that is not 0. Heads of the layers `unturned` do not turn.
    """

    layers: int
    width: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    context: int
    epsilon: float
    rope_base: float
    pairs: int
    is_neox: bool
    window: int = 0
    unturned: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        sizes = (self.layers, self.width, self.hidden, self.heads, self.kv_heads, self.head_size)
        if min(*sizes, self.vocabulary, self.context) < 1 or self.heads % self.kv_heads:
            raise FoundryError("model-config", f"sizes that no decoder has: {self}")


_GGUF_ARCHITECTURES: Final = {"llama": False, "qwen2": True, "smollm3": False}
"""Those that are read, and whether the pairs of their heads are halves apart."""
_STEP: Final = 4
"""Of SmolLM3's layers the last of so many takes no positions."""


def gguf_config(metadata: Mapping[str, Any], vocabulary: int) -> Config:
    """Of the metadata of a `.gguf` file. Raises FoundryError for another architecture."""
    name = str(metadata.get("general.architecture", "nothing"))
    if name not in _GGUF_ARCHITECTURES:
        raise FoundryError(
            "model-config", f"the architecture is {name}; read are {', '.join(_GGUF_ARCHITECTURES)}"
        )

    def value(key: str, default: Any = None) -> Any:
        return _value(metadata, f"{name}.{key}", default)

    if value("rope.scaling.type", "none") != "none":
        raise FoundryError("model-config", "positions are scaled, which is not supported")
    heads, width = int(value("attention.head_count")), int(value("embedding_length"))
    head_size = int(value("attention.key_length", width // heads))
    return Config(
        layers=int(value("block_count")),
        width=width,
        hidden=int(value("feed_forward_length")),
        heads=heads,
        kv_heads=int(value("attention.head_count_kv", heads)),
        head_size=head_size,
        vocabulary=vocabulary,
        context=int(value("context_length")),
        epsilon=float(value("attention.layer_norm_rms_epsilon")),
        rope_base=float(value("rope.freq_base", 10000.0)),
        pairs=int(value("rope.dimension_count", head_size)) // 2,
        is_neox=_GGUF_ARCHITECTURES[name],
        window=int(value("attention.sliding_window", 0)),
        # llama.cpp has it in its code.
        unturned=_every(_STEP, int(value("block_count"))) if name == "smollm3" else frozenset(),
    )


def transformers_config(metadata: Mapping[str, Any]) -> Config:
    """Of a `config.json` as transformers writes it. Raises FoundryError for another model."""
    name = str(metadata.get("model_type", "nothing"))
    if name not in ("llama", "mistral", "qwen2", "smollm3"):
        raise FoundryError(
            "model-config", f"the model is {name}; read are llama, mistral, qwen2 and smollm3"
        )
    rope = metadata.get("rope_parameters") or metadata.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind != "default" or metadata.get("hidden_act", "silu") != "silu":
        raise FoundryError(
            "model-config", f"positions scaled by {kind}, or an activation other than silu"
        )

    def value(key: str, default: Any = None) -> Any:
        return _value(metadata, key, default)

    heads, width = int(value("num_attention_heads")), int(value("hidden_size"))
    head_size = int(metadata.get("head_dim") or width // heads)
    return Config(
        layers=int(value("num_hidden_layers")),
        width=width,
        hidden=int(value("intermediate_size")),
        heads=heads,
        kv_heads=int(value("num_key_value_heads", heads)),
        head_size=head_size,
        vocabulary=int(value("vocab_size")),
        context=int(value("max_position_embeddings", 2048)),
        epsilon=float(value("rms_norm_eps", 1e-6)),
        rope_base=float(rope.get("rope_theta", metadata.get("rope_theta", 10000.0))),
        pairs=head_size // 2,
        is_neox=True,
        window=_window(metadata),
        unturned=_unturned(metadata),
    )


def _every(step: int, layers: int) -> frozenset[int]:
    """The last of each `step` layers."""
    return frozenset(range(step - 1, layers, step))


def _unturned(metadata: Mapping[str, Any]) -> frozenset[int]:
    """SmolLM3 lists its layers, those that turn by 1; or says how many lie between those that do
    not."""
    if metadata.get("model_type") != "smollm3":
        return frozenset()
    listed = metadata.get("no_rope_layers")
    if listed is None:
        step = int(_value(metadata, "no_rope_layer_interval", _STEP))
        return _every(step, int(_value(metadata, "num_hidden_layers", None)))
    return frozenset(number for number, turns in enumerate(listed) if not turns)


def _window(metadata: Mapping[str, Any]) -> int:
    """Qwen2's and SmolLM3's are off where nothing turns them on; Mistral's has no switch."""
    is_on = metadata.get("use_sliding_window", metadata.get("model_type") in ("llama", "mistral"))
    return int(metadata.get("sliding_window") or 0) if is_on else 0


def _value(metadata: Mapping[str, Any], key: str, default: Any) -> Any:
    found = metadata.get(key, default)
    if found is None or isinstance(found, list | dict):
        raise FoundryError("model-config", f"the metadata say {found!r} for {key}")
    return found

"""Llama-like decoders: files in, tokens out, by kernels of the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.formats import Format, format_of
from assay.compiler.foundry.library import GREEDY, Sampling, cache_shape, rope_tables

from .kernels import Kernels
from .projections import Projections
from .stream import Placed, Stream
from .weights import Weights, load_weights

if TYPE_CHECKING:
    from ...prediction import TimeResult

CHUNK: Final = 128
"""Tokens of a prompt that are computed at a time, and read weights once in four tiles."""
_RESERVED: Final = 256
"""Tokens that a cache has room for at first."""


class Llama:
    """A decoder of RMSNorm, rotary positions, grouped attention and SwiGLU, with its cache.

    Args:
        weights: of a file, by `load_weights`; `Llama.load(path)` does both.
        element: the type of activations: `float`, `half` or `bfloat`.
        cache: the format of keys and values: `f32`, `f16`, `bf16`, `q8_0`, `q4_0`, `fp8_e4m3`,
            `mxfp4` or `nvfp4`.
        context: how many tokens fit; as many as the model was made for, 4096 at most, if not given.
            All of them must be in the window that a token sees.
        reserve: for how many of them the cache has room at first, 256 unless given; it doubles when
            they are more.
        device: "emulated", or "native" on a Mac.

    Raises:
        FoundryError: for sizes that do not fit the formats.
    """

    def __init__(
        self,
        weights: Weights,
        *,
        element: Any = float,
        cache: str = "f16",
        context: int | None = None,
        reserve: int | None = None,
        device: str = "emulated",
    ) -> None:
        self.weights = weights
        self.config = weights.config
        window = self.config.window or max(self.config.context, context or 0)
        self.context = min(self.config.context, window, 4096) if context is None else context
        if self.context > window:
            raise FoundryError(
                "model-config",
                f"tokens of this model see {window} others, further ones than that are not "
                f"left out here: choose a context of {window} at most, not {self.context}",
            )
        self.capacity = min(self.context, _RESERVED) if reserve is None else reserve
        if not 1 <= self.capacity <= self.context:
            raise FoundryError(
                "model-config",
                f"reserve room for 1 to {self.context} tokens at first, not {reserve}",
            )
        self.position = 0
        self.cache: Format = format_of(cache)
        self._kernels = Kernels(self.config, self.cache, element)
        self._stream = Stream(device)
        self._stream.map(weights.file)
        self._linear = Projections(self._stream, self._kernels)
        c = self.config
        shape = self._cache_shape()
        self._caches = [
            (self._stream.zeros(shape, np.uint8), self._stream.zeros(shape, np.uint8))
            for _ in range(c.layers)
        ]
        tables = rope_tables(
            self.context,
            c.head_size,
            base=c.rope_base,
            pairs=c.pairs,
            factors=weights.rope_factors,
        )
        turning = tuple(map(self._stream.place, tables))
        still = turning
        if c.unturned:
            still = tuple(map(self._stream.place, (np.ones_like(tables[0]), 0 * tables[1])))
        self._tables = [still if number in c.unturned else turning for number in range(c.layers)]

    @classmethod
    def load(cls, path: Path | str, *, weights: str | None = None, **options: Any) -> Llama:
        """A model of a `.gguf` file, or of a `.safetensors` file with `config.json` beside it.

        Weights are used where they lie in the file, unless `weights` names a format into which
        those of linear layers are packed. Raises FoundryError.
        """
        pack = None if weights is None else format_of(weights)
        return cls(load_weights(Path(path), pack), **options)

    def reset(self) -> None:
        """Forgets all tokens."""
        self.position = 0

    def feed(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Logits [vocabulary] of what comes behind the tokens, and all before them.

        Raises FoundryError for tokens that the model does not know, or that do not fit any more.
        """
        logits = self._fed(tokens)
        self._stream.run()
        found: NDArray[np.float32] = logits.numpy()[0].astype(np.float32)
        return found

    def generate(
        self,
        tokens: Sequence[int],
        count: int,
        *,
        sampling: Sampling = GREEDY,
        repetition: float = 1.0,
        recent: int = 64,
    ) -> list[int]:
        """The `count` tokens behind the given ones, chosen on the device.

        With `repetition`, logits of the last `recent` tokens are made smaller by it before. All
        tokens but the last stay in the cache. Raises FoundryError.
        """
        text, made = list(tokens), list(tokens)
        choose = self._kernels.sample(sampling, lambda: len(text) - len(tokens))
        for _ in range(count):
            logits = self._fed(made)
            if repetition != 1:
                last = np.array([text[-recent:]], np.uint32)
                penalise = self._kernels.penalise(repetition)
                self._stream.call(penalise, x=logits, recent=self._stream.place(last))
            chosen = self._stream.call(choose, x=logits)
            self._stream.run()
            made = [int(chosen.numpy()[0])]
            text += made
        return text[len(tokens) :]

    def _fed(self, tokens: Sequence[int]) -> Placed:
        """Logits [1, vocabulary] behind tokens, once the stream has run. Raises FoundryError."""
        given = np.asarray(tokens, np.int64).reshape(-1)
        if not given.size or given.min() < 0 or given.max() >= self.config.vocabulary:
            raise FoundryError(
                "model-tokens", f"tokens are 0 to {self.config.vocabulary - 1}, one or more"
            )
        if self.position + given.size > self.context:
            raise FoundryError(
                "model-tokens",
                f"{given.size} tokens behind {self.position} do not fit in a context of "
                f"{self.context}",
            )
        *chunks, last = np.split(given, range(CHUNK, given.size, CHUNK))
        for chunk in chunks:
            self._step(chunk)
            self._stream.run()
        return self._step(last)

    def time(self, *, chip: str = "m1", position: int | None = None) -> TimeResult:
        """How long it takes a chip to compute the next token, at a position of the context.

        The position is the model's own unless given. Tokens stay as they are.
        """
        from ...prediction import timing

        before = self.position
        self.position = before if position is None else position
        if not 0 <= self.position < self.context:
            self.position = before
            raise FoundryError("model-tokens", f"positions are 0 to {self.context - 1}")
        self._make_room(self.position + 1)
        try:
            with timing(chip, program="decode", results=False) as seen:
                self._step(np.zeros(1, np.int64))
                self._stream.run()
                return seen.result()
        finally:
            self.position = before

    def _cache_shape(self) -> tuple[int, ...]:
        c = self.config
        return cache_shape(self.cache, 1, self.capacity, c.kv_heads, c.head_size)

    def _make_room(self, tokens: int) -> None:
        """Doubles the caches until so many tokens fit."""
        if tokens <= self.capacity:
            return
        while self.capacity < tokens:
            self.capacity = min(2 * self.capacity, self.context)
        shape = self._cache_shape()
        self._caches = [
            (self._stream.grown(keys, shape), self._stream.grown(values, shape))
            for keys, values in self._caches
        ]

    def _step(self, tokens: NDArray[np.int64]) -> Placed:
        """Encodes the computation of tokens; logits [1, vocabulary] behind the last."""
        self._make_room(self.position + tokens.size)
        place, count = self._stream.place, tokens.size
        positions = np.arange(self.position, self.position + count, dtype=np.int32)
        places = {
            "positions": place(positions),
            "sequences": place(np.zeros(count, np.uint32)),
            "where": place(np.array([self.position, 0], np.uint32)),
        }
        linear, weights = self._linear, self.weights
        x = linear.embedded(weights.embedding, tokens)
        for number, layer in enumerate(weights.layers):
            x = linear.added(layer.output, self._attended(number, x, places), x)
            x = linear.added(layer.down, linear.hidden(layer, x), x)
        self.position += count
        return linear.logits(weights.output, weights.norm, x.last())

    def _attended(self, number: int, x: Placed, places: Mapping[str, Placed]) -> Placed:
        """What attention makes of tokens, [tokens, heads * head_size]; they go into the cache."""
        call, kernels, c = self._stream.call, self._kernels, self.config
        count = x.shape[0]
        made = self._linear.qkv(self.weights.layers[number], x)
        q, k, v = (each.reshaped(count, -1, c.head_size) for each in made)
        (keys, values), (cosines, sines) = self._caches[number], self._tables[number]
        turned = call(
            kernels.cache_write(),
            q=q,
            k=k,
            v=v,
            positions=places["positions"],
            sequences=places["sequences"],
            cosines=cosines,
            sines=sines,
            keys=keys,
            values=values,
        )
        if count > 1:
            where = places["where"]
            found = call(kernels.prefill(), q=turned, keys=keys, values=values, where=where)
        else:
            main, merge = kernels.attention(self.position + 1)
            order = {name: places[name] for name in ("positions", "sequences")}
            found = call(main, q=turned, keys=keys, values=values, **order)
            found = found if merge is None else call(merge, parts=found)
        attended: Placed = found.reshaped(count, c.heads * c.head_size)
        return attended

"""The kernels of a decoder, made once for each format and size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from assay.compiler.foundry import library
from assay.compiler.foundry.formats import Format
from assay.compiler.foundry.kernels import bias, dtype_of, residual
from assay.compiler.foundry.library import Ready, Sampling
from assay.compiler.foundry.library.base import scalar_of
from assay.compiler.foundry.library.gemv_fused import usual_rows
from assay.compiler.foundry.pipelines import Pipeline, Tile

from .config import Config
from .weights import Layer, Matrix

_PER_SPLIT: Final = 128
"""Keys for each threadgroup of attention."""
_MOST_SPLITS: Final = 32
"""With 8192 keys of eight heads in Q8_0, 32 are predicted to take 17% less than 16 on an M4 Max,
and as long on an M1."""
_PROMPT: Final = Pipeline(tile=Tile(32, 64, 32), buffers=2)
"""Of products of many tokens; two buffers of floats are 24 KiB."""


class Kernels:
    """Kernels by what a step needs. `element` is the type of activations."""

    def __init__(self, config: Config, cache: Format, element: Any) -> None:
        self._config, self._cache = config, cache
        self.element = scalar_of(element)
        self._residual, self._bias = residual(self.element), bias(self.element)
        self._made: dict[Any, Ready] = {}

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of activations."""
        return dtype_of(self.element)

    def embedding(self, table: Matrix) -> Ready:
        """Rows of the table."""
        c = self._config
        return self._once(library.embedding, table.format, c.vocabulary, c.width, self.element)

    def qkv(self, layer: Layer, tokens: int) -> Ready:
        """RMSNorm, then the three products."""
        parts = (layer.q, layer.k, layer.v)
        return self._once(
            library.fused_gemv,
            tuple(each.format for each in parts),
            tuple(each.packed.rows for each in parts),
            self.element,
            names=("q", "k", "v"),
            biases=tuple(each.bias is not None for each in parts),
            norm=self._config.epsilon,
            **self._shape(tokens, 3),
        )

    def gate_up(self, layer: Layer, tokens: int) -> Ready:
        """RMSNorm, the two products, and silu(gate) * up."""
        parts = (layer.gate, layer.up)
        return self._once(
            library.fused_gemv,
            tuple(each.format for each in parts),
            tuple(each.packed.rows for each in parts),
            self.element,
            names=("gate", "up"),
            biases=tuple(each.bias is not None for each in parts),
            norm=self._config.epsilon,
            combine=library.SWIGLU,
            **self._shape(tokens, 2),
        )

    def linear(self, matrix: Matrix, tokens: int) -> Ready:
        """A product of few tokens, with a residual added."""
        return self._once(
            library.fused_gemv,
            (matrix.format,),
            (matrix.packed.rows,),
            self.element,
            biases=(matrix.bias is not None,),
            epilogue=(self._residual,),
            **self._shape(tokens, 1),
        )

    def norm(self) -> Ready:
        """RMSNorm, of many tokens."""
        return self._once(library.rms_norm, self.element, epsilon=self._config.epsilon)

    def product(self, matrix: Matrix, *, has_residual: bool) -> Ready:
        """A product of many tokens, with its bias and perhaps a residual."""
        more = [self._bias] if matrix.bias is not None else []
        more += [self._residual] if has_residual else []
        return self._once(
            library.gemm,
            matrix.format,
            matrix.packed.rows,
            self.element,
            epilogue=tuple(more),
            pipeline=_PROMPT,
        )

    def swiglu(self) -> Ready:
        """silu(gate) * up, of many tokens."""
        return self._once(library.swiglu, self.element)

    def logits(self, matrix: Matrix) -> Ready:
        """The last norm and product."""
        return self._once(
            library.fused_gemv,
            (matrix.format,),
            (matrix.packed.rows,),
            self.element,
            biases=(matrix.bias is not None,),
            norm=self._config.epsilon,
            **self._shape(1, 1),
        )

    def sample(self, sampling: Sampling, step: Callable[[], int]) -> Ready:
        """Chooses a token; `step` tells which of a text."""
        if sampling.temperature == 0:
            return self._once(library.argmax, self.element)
        return library.sample(self.element, sampling=sampling, step=step)

    def penalise(self, repetition: float) -> Ready:
        """Makes logits of tokens smaller."""
        return self._once(library.penalise, self.element, repetition=repetition)

    def cache_write(self) -> Ready:
        """Turns q and k, and writes into the cache."""
        c = self._config
        return self._once(
            library.cache_write, c.head_size, self._cache, self.element, is_neox=c.is_neox
        )

    def prefill(self) -> Ready:
        """Attention of many tokens."""
        return self._once(library.prefill, self._config.head_size, self._cache, self.element)

    def attention(self, keys: int) -> tuple[Ready, Ready | None]:
        """Attention of one token over so many keys, and what puts its parts together."""
        c = self._config
        group = c.heads // c.kv_heads
        together = max(each for each in (1, 2, 3, 4) if group % each == 0)
        splits = min(max(keys // _PER_SPLIT, 1), _MOST_SPLITS)
        main = self._once(
            library.attention,
            c.head_size,
            self._cache,
            self.element,
            together=together,
            splits=splits,
        )
        if splits == 1:
            return main, None
        return main, self._once(library.attention_merge, c.head_size, self.element)

    @staticmethod
    def _shape(tokens: int, matrices: int) -> dict[str, int]:
        """Vectors and rows of a simdgroup: weights are read once for up to eight tokens."""
        vectors = next(each for each in (1, 2, 4, 8) if each >= min(tokens, 8))
        rows = 4 if matrices == vectors == 1 else usual_rows(matrices, vectors)
        return {"vectors": vectors, "rows_together": rows}

    def _once(self, make: Callable[..., Ready], *args: Any, **options: Any) -> Ready:
        # Formats of affine codes and the like are values; an epilogue is itself.
        key = (make, tuple(map(_name, args)), tuple(map(_name, sorted(options.items()))))
        if key not in self._made:
            self._made[key] = make(*args, **options)
        return self._made[key]


def _name(value: Any) -> Any:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(map(_name, value))
    return getattr(value, "name", value)

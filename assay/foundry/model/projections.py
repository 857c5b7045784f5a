"""The linear layers of a decoder: by GEMV for a few tokens, by GEMM for a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .kernels import Kernels
from .stream import Placed, Stream
from .weights import Layer, Matrix

FEW: Final = 16
"""Tokens for which a GEMV, which reads weights once for eight of them, is as fast as a GEMM: for
2048x2048 weights in Q4_0 the two take 250 and 272 us for 16 tokens on an M1, 498 and 241 us for 32,
as predicted. On an M4 Max the GEMM is faster from eight on."""


class Projections:
    """Encodes products of activations [tokens, columns] with weights, which it places once."""

    def __init__(self, stream: Stream, kernels: Kernels) -> None:
        self._stream, self._kernels = stream, kernels
        self._placed: dict[int, Placed] = {}

    def embedded(self, table: Matrix, tokens: NDArray[np.int64]) -> Placed:
        """Rows of the table."""
        made: Placed = self._stream.call(
            self._kernels.embedding(table),
            tokens=self._stream.place(tokens.astype(np.uint32)),
            **self._matrices({"": table}),
        )
        return made

    def qkv(self, layer: Layer, x: Placed) -> tuple[Placed, ...]:
        """Queries, keys and values of normalised x."""
        parts = {"_q": layer.q, "_k": layer.k, "_v": layer.v}
        if _is_prompt(x):
            normal = self._normal(x, layer.attention_norm)
            return tuple(self._product(each, normal) for each in parts.values())
        made: tuple[Placed, ...] = self._stream.call(
            self._kernels.qkv(layer, x.shape[0]),
            x=x,
            gamma=self._vector(layer.attention_norm),
            **self._matrices(parts),
        )
        return made

    def hidden(self, layer: Layer, x: Placed) -> Placed:
        """silu(gate) * up of normalised x."""
        call, kernels = self._stream.call, self._kernels
        if _is_prompt(x):
            normal = self._normal(x, layer.norm)
            gate, up = (self._product(each, normal) for each in (layer.gate, layer.up))
            made: Placed = call(kernels.swiglu(), gate=gate, up=up)
            return made
        made = call(
            kernels.gate_up(layer, x.shape[0]),
            x=x,
            gamma=self._vector(layer.norm),
            **self._matrices({"_gate": layer.gate, "_up": layer.up}),
        )
        return made

    def added(self, matrix: Matrix, x: Placed, residual: Placed) -> Placed:
        """The product with x, and the residual."""
        if _is_prompt(x):
            return self._product(matrix, x, residual=residual)
        kernel = self._kernels.linear(matrix, x.shape[0])
        made: Placed = self._stream.call(
            kernel, x=x, residual=residual, **self._matrices({"": matrix})
        )
        return made

    def logits(self, matrix: Matrix, norm: NDArray[np.float32], x: Placed) -> Placed:
        """Of one token."""
        made: Placed = self._stream.call(
            self._kernels.logits(matrix),
            x=x,
            gamma=self._vector(norm),
            **self._matrices({"": matrix}),
        )
        return made

    def _normal(self, x: Placed, weight: NDArray[np.float32]) -> Placed:
        made: Placed = self._stream.call(self._kernels.norm(), x=x, weight=self._vector(weight))
        return made

    def _product(self, matrix: Matrix, x: Placed, **residual: Placed) -> Placed:
        kernel = self._kernels.product(matrix, has_residual=bool(residual))
        made: Placed = self._stream.call(kernel, x=x, **residual, **self._matrices({"": matrix}))
        return made

    def _matrices(self, parts: Mapping[str, Matrix]) -> dict[str, Placed]:
        """Arguments for weights, by the endings of their names."""
        found = {}
        for ending, matrix in parts.items():
            found[f"matrix{ending}"] = self._kept(matrix.packed.matrix)
            found[f"scales{ending}"] = self._kept(matrix.packed.scales)
            if matrix.bias is not None:
                found[f"bias{ending}"] = self._vector(matrix.bias)
        return found

    def _vector(self, vector: NDArray[np.float32]) -> Placed:
        return self._kept(vector, self._kernels.dtype)

    def _kept(self, array: NDArray[Any], dtype: Any = None) -> Placed:
        """On the device, put there once."""
        if id(array) not in self._placed:
            self._placed[id(array)] = self._stream.place(
                array if dtype is None else array.astype(dtype)
            )
        return self._placed[id(array)]


def _is_prompt(x: Placed) -> bool:
    return x.shape[0] > FEW

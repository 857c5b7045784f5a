"""The factors of a product: numbers as they lie in arrays, or weights in a format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ..errors import FoundryError
from ..formats import Format, WordColumns
from ..kernels import Argument, Tensor
from ..structs.types import Scalar


class Operands(Protocol):
    """Both factors, as a pipeline loads tiles of them."""

    @property
    def element(self) -> Scalar:
        """Of tiles in threadgroup memory."""

    @property
    def arguments(self) -> Mapping[str, Argument]:
        """Buffers beside those that a policy has."""

    @property
    def weights(self) -> Format | None:
        """The format of the right factor, if it has one."""

    @property
    def turned(self) -> tuple[bool, bool]:
        """Whether the left and the right factor lie transposed."""

    def setup(self) -> tuple[str, ...]:
        """Lines in front of all loads."""

    def load(self, k: str, buffer: str | None, count: str, index: str) -> tuple[str, ...]:
        """Lines that load the tiles from `k` on into a buffer, by `count` threads."""

    def begin(self, k: str, buffer: str | None) -> tuple[str, ...]:
        """Asynchronous copies of the tiles that are copied as they lie, as expressions."""

    def finish(self, k: str, buffer: str | None, count: str, index: str) -> tuple[str, ...]:
        """Lines that load the other tiles."""

    def decode(self, k: str, buffer: str | None, count: str, index: str) -> tuple[str, ...]:
        """Lines that decode what was copied packed, once it is there."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """x [m, k] and a matrix [n, k] of weights in a format, which a policy reads."""

    element: Scalar
    weights: Format
    is_fused: bool = False
    """Then tiles of weights are not loaded."""
    packed_buffers: int = 0
    """Of words that are copied as they are and decoded then; 0 if there are none."""
    turned: tuple[bool, bool] = (False, False)

    def __post_init__(self) -> None:
        if self.packed_buffers and not isinstance(self.weights, WordColumns):
            raise FoundryError(
                "pipeline-form",
                f"{self.weights.name} has no words to be copied packed; fp4_128, nf4_128, u4_128 "
                "and the like have",
            )

    @property
    def arguments(self) -> Mapping[str, Argument]:
        """x alone; matrix and scales are the policy's."""
        return {"x": Tensor(self.element)}

    def setup(self) -> tuple[str, ...]:
        """Words, where they are copied as they are."""
        words = "const device uint* words = reinterpret_cast<const device uint*>(matrix);"
        return (words,) if self.packed_buffers else ()

    def load(self, k: str, buffer: str | None, count: str, index: str) -> tuple[str, ...]:
        """Copies x, decodes weights."""
        copied = (
            f"copy_tile<TILE_M, TILE_K, {count}>(x, {tile_at('a', buffer)}, params->m, params->k, "
            f"row, {k}, {index});"
        )
        return (copied,) if self.is_fused else (copied, self._decoded(k, buffer, count, index))

    def begin(self, k: str, buffer: str | None) -> tuple[str, ...]:
        """A copy of x, and of packed words."""
        to = tile_at("a", buffer)
        of_x = f"begin_tile<TILE_M, TILE_K>(x, {to}, params->m, params->k, row, {k})"
        of_words = (
            f"begin_tile<TILE_K / 8, TILE_N>(words, {self._words(buffer)}, params->k / 8, "
            f"params->n, {k} / 8, column)"
        )
        return (of_x, of_words) if self.packed_buffers else (of_x,)

    def finish(self, k: str, buffer: str | None, count: str, index: str) -> tuple[str, ...]:
        """Decodes weights, unless they are fused or copied."""
        is_later = self.is_fused or self.packed_buffers
        return () if is_later else (self._decoded(k, buffer, count, index),)

    def decode(self, k: str, buffer: str | None, count: str, index: str) -> tuple[str, ...]:
        """Decodes packed words."""
        if not self.packed_buffers:
            return ()
        words, tile = self._words(buffer), tile_at("b", buffer)
        call = f"decode_words<Policy, {count}>({words}, scales, params, {tile}, column, {k}, "
        return (f"{call}{index});",)

    def _decoded(self, k: str, buffer: str | None, count: str, index: str) -> str:
        return (
            f"decode_tile<Policy, {count}>(matrix, scales, params, {tile_at('b', buffer)}, column, "
            f"{k}, {index});"
        )

    def _words(self, buffer: str | None) -> str:
        return tile_at("word", None if self.packed_buffers == 1 else buffer)


@dataclass(frozen=True, slots=True)
class Dense:
    """a [m, k] and b [k, n], or their transposes; of each batch its own, `gid.z` counts them."""

    element: Scalar
    turned: tuple[bool, bool] = (False, False)
    weights: None = None

    @property
    def arguments(self) -> Mapping[str, Argument]:
        """Both."""
        return {"a": Tensor(self.element), "b": Tensor(self.element)}

    def setup(self) -> tuple[str, ...]:
        """Where the matrices of this batch begin."""
        return (
            "a += gid.z * params->a_stride;",
            "b += gid.z * params->b_stride;",
        )

    def load(self, k: str, buffer: str | None, count: str, index: str) -> tuple[str, ...]:
        """Copies both as they lie."""
        return tuple(
            f"copy_tile<{part.rows}, {part.columns}, {count}>({part.arguments}, {index});"
            for part in self._parts(k, buffer)
        )

    def begin(self, k: str, buffer: str | None) -> tuple[str, ...]:
        """Copies of both."""
        return tuple(
            f"begin_tile<{part.rows}, {part.columns}>({part.arguments})"
            for part in self._parts(k, buffer)
        )

    def finish(self, k: str, buffer: str | None, count: str, index: str) -> tuple[str, ...]:
        """None."""
        return ()

    def decode(self, k: str, buffer: str | None, count: str, index: str) -> tuple[str, ...]:
        """None."""
        return ()

    def _parts(self, k: str, buffer: str | None) -> Iterator[_Part]:
        a = ("TILE_M", "params->m", "row"), ("TILE_K", "params->k", k)
        b = ("TILE_K", "params->k", k), ("TILE_N", "params->n", "column")
        for name, sides, is_turned in zip("ab", (a, b), self.turned, strict=True):
            (rows, height, down), (columns, width, along) = sides[::-1] if is_turned else sides
            places = f"{name}, {tile_at(name, buffer)}, {height}, {width}, {down}, {along}"
            yield _Part(rows, columns, places)


class _Part(NamedTuple):
    """A tile of a factor as it lies: its sides, and arguments that tell where it is."""

    rows: str
    columns: str
    arguments: str


def tile_at(name: str, buffer: str | None) -> str:
    """Where a buffer of tiles begins; None where there is one."""
    return f"{name}_tiles" if buffer is None else f"{name}_tiles + {buffer} * {name.upper()}_TILE"

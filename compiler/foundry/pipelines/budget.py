"""Bytes of a pipeline: threadgroup memory, and what is read from device memory for a tile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.hw.apple.facts.limits import limits

from ..errors import FoundryError
from ..structs.types import Scalar
from .pipeline import Pipeline
from .tile import MATRIX, Threads


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a pipeline takes, in bytes.

    Args:
        element: of tiles in threadgroup memory.
        weight_bits: of one weight in device memory, without its scale; None where it is not known.
        stated: quantities of this class by name, for which a text or a plan gives a number.

    Raises:
        FoundryError: `threadgroup-budget` if a threadgroup has not so much memory, or if a stated
            number is not what the declaration comes to.
    """

    pipeline: Pipeline
    element: Scalar
    weight_bits: float | None = None
    stated: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        if self.total > limits().threadgroup_memory:
            raise FoundryError(
                "threadgroup-budget",
                f"tile {self.pipeline.tile}, {self.pipeline.buffers} buffers: {self.a_tiles} bytes "
                f"for x, {self.b_tiles + self.decoded + self.packed} for weights, "
                f"{self.staging} for results, "
                f"{self.total} in all; a threadgroup has {limits().threadgroup_memory}",
            )
        for name, number in (self.stated or {}).items():
            found = getattr(self, name)
            if found != number:
                raise FoundryError(
                    "threadgroup-budget",
                    f"tile {self.pipeline.tile}, {self.pipeline.buffers} buffers: {name} is stated "
                    f"as {number:,} bytes; it comes to {found:,}",
                )

    @property
    def a_tile(self) -> int:
        """One buffer of x."""
        return self.pipeline.tile.a_elements * self.element.size

    @property
    def b_tile(self) -> int:
        """One buffer of weights, as numbers; none if they are decoded when needed."""
        is_fused = self.pipeline.weights == "fused"
        return 0 if is_fused else self.pipeline.tile.b_elements * self.element.size

    @property
    def a_tiles(self) -> int:
        """All buffers of x."""
        return self.pipeline.buffers * self.a_tile

    @property
    def b_tiles(self) -> int:
        """All buffers of weights."""
        return self.pipeline.buffers * self.b_tile

    @property
    def packed(self) -> int:
        """Words of weights that are copied as they are, and decoded then; 4 bits for a weight."""
        return self.pipeline.packed_buffers * self.pipeline.tile.b_elements // 2

    @property
    def decoded(self) -> int:
        """The 8x8 weights that each simdgroup decodes for itself."""
        is_fused = self.pipeline.weights == "fused"
        return self.pipeline.simdgroups * MATRIX * MATRIX * self.element.size if is_fused else 0

    @property
    def staged(self) -> int:
        """Simdgroup matrices of results that a simdgroup writes at a time, in the room of x."""
        along_m, along_n = self.pipeline.share
        room = self.a_tiles // (self.pipeline.simdgroups * self._matrix)
        return max(
            each
            for each in range(1, along_m * along_n + 1)
            if along_m * along_n % each == 0 and each <= max(room, 1)
        )

    @property
    def staging(self) -> int:
        """What the results of all simdgroups take beyond the tiles of x, whose room they use."""
        if isinstance(self.pipeline.by, Threads):
            return 0
        results = self.staged * self.pipeline.simdgroups * self._matrix
        return max(results - self.a_tiles, 0)

    @property
    def _matrix(self) -> int:
        return MATRIX * MATRIX * self.pipeline.accumulator.size

    @property
    def total(self) -> int:
        """Threadgroup memory."""
        return self.a_tiles + self.b_tiles + self.packed + self.decoded + self.staging

    @property
    def left(self) -> int:
        """Threadgroup memory that another threadgroup could have on the same core."""
        return limits().threadgroup_memory - self.total

    @property
    def read_a(self) -> int:
        """Read of x for one tile of k."""
        return self.a_tile

    @property
    def read_b(self) -> int:
        """Read of weights for one tile of k, packed, without scales. Raises FoundryError."""
        if self.weight_bits is None:
            raise FoundryError("threadgroup-budget", "bits of a weight are not stated")
        return int(self.pipeline.tile.b_elements * self.weight_bits) // 8

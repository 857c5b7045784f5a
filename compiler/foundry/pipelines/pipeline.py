"""A pipeline over the tiles of a product, declared: what is loaded by whom, how far ahead."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from assay.hw.apple.facts.limits import limits

from ..errors import FoundryError
from ..structs.names import FLOAT, HALF
from ..structs.types import Scalar
from .tile import MATRIX, Simdgroups, Threads, Tile

_MOST_BUFFERS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """How a threadgroup goes over the tiles of k.

    Raises:
        FoundryError: `tile-coverage` if those who compute do not cover the tile exactly,
            `tile-words` if a fixed number of words for each loading thread is not all of them,
            `threadgroup-budget` if there are too many threads, `pipeline-form` for what cannot be
            combined. Bytes depend on the elements too: see `Budget`.
    """

    tile: Tile
    by: Simdgroups | Threads = field(default_factory=Simdgroups)
    """Who computes, and so the layout of the tile among them."""
    buffers: int = 2
    """Tiles of k that are held at a time: the next `buffers - 1` are loaded ahead."""
    loaders: int = 0
    """Simdgroups that only load, in front of those that compute; 0: all do both."""
    weights: Literal["tile", "fused", "packed"] = "tile"
    """Whether tiles of weights lie in threadgroup memory, or each simdgroup decodes 8x8 of them
    when it needs them; "packed": tiles, whose words are copied asynchronously and then decoded."""
    is_async: bool = False
    """Whether the first simdgroup copies what needs no decoding asynchronously, while all decode
    and multiply; packed words, too, if `weights` are to be "packed". Apple's compilers since Xcode
    15 refuse that in source text."""
    accumulator: Scalar = FLOAT
    """Of sums: float, or half."""
    band: int = 1
    """Rows of tiles that threadgroups take together, column by column, so that those that run at a
    time share weights; 1: row by row."""
    words_per_thread: int | None = None
    """Words of eight elements that each loading thread takes of each tile; None for loops over the
    words, which are right for any number of threads."""

    def __post_init__(self) -> None:
        if not 1 <= self.buffers <= _MOST_BUFFERS:
            raise FoundryError(
                "pipeline-form", f"{self.buffers} buffers: a pipeline has 1 to {_MOST_BUFFERS}"
            )
        if self.accumulator not in (FLOAT, HALF):
            raise FoundryError("pipeline-form", f"sums are float or half, not {self.accumulator}")
        if isinstance(self.by, Threads) and (self.loaders or self.weights == "fused"):
            raise FoundryError(
                "pipeline-form", "loaders and fused weights are for simdgroups, not for threads"
            )
        if self.loaders < 0 or (self.loaders and self.buffers == 1):
            raise FoundryError(
                "pipeline-form",
                f"{self.loaders} simdgroups that load beside those that compute need two buffers",
            )
        if self.is_async and (isinstance(self.by, Threads) or self.loaders or self.buffers == 1):
            raise FoundryError(
                "pipeline-form",
                "asynchronous copies are those of simdgroups, all of which multiply, into another "
                "buffer than they read",
            )
        if self.weights == "packed" and not self.is_async:
            raise FoundryError(
                "pipeline-form", "packed weights are copied asynchronously: is_async=True"
            )
        if self.band < 1:
            raise FoundryError("pipeline-form", f"bands of {self.band} rows of tiles: at least one")
        self.by.share(self.tile)
        self._check_threads()
        self._check_words()

    @property
    def share(self) -> tuple[int, int]:
        """Simdgroup matrices, or elements, of one simdgroup or thread along m and n."""
        return self.by.share(self.tile)

    @property
    def threads(self) -> int:
        """Of a threadgroup."""
        return self.by.threads + self.loaders * limits().thread_execution_width

    @property
    def loading(self) -> int:
        """Threads that load in the loop over the tiles of k."""
        return self.loaders * limits().thread_execution_width or self.threads

    @property
    def packed_buffers(self) -> int:
        """Tiles of packed words that are held at a time.

        With two buffers one: those who decode it and those who copy into it are a barrier apart.
        """
        if self.weights != "packed":
            return 0
        return 1 if self.buffers == 2 else self.buffers

    @property
    def simdgroups(self) -> int:
        """Those that compute."""
        return self.by.threads // limits().thread_execution_width

    @property
    def multiplications(self) -> int:
        """Of simdgroup matrices, for each simdgroup and tile of k; 0 for threads."""
        along_m, along_n = self.share
        return 0 if isinstance(self.by, Threads) else along_m * along_n * (self.tile.k // MATRIX)

    def _check_threads(self) -> None:
        most, width = limits().threads_per_threadgroup, limits().thread_execution_width
        if self.threads > most or self.threads % width:
            raise FoundryError(
                "threadgroup-budget",
                f"tile {self.tile}: {self.threads} threads; a threadgroup has at most {most}, in "
                f"whole simdgroups of {width}",
            )

    def _check_words(self) -> None:
        """A fixed number for each thread must take every word, and none beyond them."""
        if self.words_per_thread is None:
            return
        loaded = self.words_per_thread * self.loading
        elements = {"x": self.tile.a_elements}
        if self.weights != "fused":
            elements["weights"] = self.tile.b_elements
        for name, count in elements.items():
            words = count // MATRIX
            if loaded != words:
                raise FoundryError(
                    "tile-words",
                    f"tile {self.tile}: its part of {name} has {words} words of {MATRIX}; "
                    f"{self.loading} threads with {self.words_per_thread} each load {loaded}; "
                    "leave words_per_thread away, and they loop",
                )

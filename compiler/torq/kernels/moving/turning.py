"""Blocks of rows and columns turned in PRAM: the rows of the source are dense, as are the columns
of the source in the target.

A block has up to 32 rows of 32 bytes, of elements of one or two bytes. In each of four cycles the
ALU packs bytes of eight rows into words, so that in PRAM the rows of a column lie in order. Fewer
rows are read again in the place of those that are missing. Where blocks do not tile a matrix, the
last ones lie over those before.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from ...slice.derive import ACT_WORDS, MOST_VECTORS
from ...slice.formats import LIMITS
from ...slice.kernel import SliceKernel
from ...slice.loops import Index
from ...slice.tensor import View
from ..strided import Axis
from .movement import Movement, block, loops, power_below, words

ROWS = 32
_ROW_BYTES = 32
_WORD = 4
_PARTS = 2
_BITS = {1: (16, 2, 8, 4), 2: (16, 8, 4, 2)}
"""Rows from one to the other of: both pairs of segments, both of a pair, both pairs of cycles, both
cycles of a pair. From part to part of a segment it is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """`count` blocks from `start` on along an axis, of `size` rows or columns each."""

    start: int
    count: int
    size: int


def turned(moved: Movement) -> list[SliceKernel]:
    """The tasks, or none where there is nothing to turn."""
    element = moved.element
    if element not in _BITS:
        return []
    columns = _axis(moved, 0, element)
    rows = _axis(moved, 1, element)
    if rows is None or columns is None:
        return []
    height, width = moved.axes[rows][0], moved.axes[columns][0]
    if height * element < _WORD:
        return []
    others = tuple(axis for n, axis in enumerate(moved.axes) if n not in (rows, columns))
    found = []
    for row in _pieces(height, min(ROWS, power_below(height))):
        in_pairs = element == 1 and row.size == ROWS and width > 1
        for column in _columns(width, _ROW_BYTES // element, in_pairs):
            piece = _Turn(moved, moved.axes[rows], moved.axes[columns], others)
            found.append(piece.nest(row, column))
    return found


def _axis(moved: Movement, side: int, element: int) -> int | None:
    """The axis that is dense in the source (0) or the target (1), and there alone."""
    for number, (_, strides) in enumerate(moved.axes):
        if strides[side] == element and strides[1 - side] != element:
            return number
    return None


def _pieces(count: int, size: int) -> list[Piece]:
    """Whole blocks, and one over the last of them if they leave something."""
    found = [Piece(start=0, count=count // size, size=size)]
    if count % size:
        found.append(Piece(start=count - size, count=1, size=size))
    return found


def _columns(count: int, most: int, in_pairs: bool) -> list[Piece]:
    """Whole blocks and what is left; of an odd rest the last two columns are a block."""
    size = min(most if in_pairs else most // 2 if most == _ROW_BYTES else most, MOST_VECTORS * 2)
    found = []
    if count >= size:
        found.append(Piece(start=0, count=count // size, size=size))
    rest = count % size
    even = rest - rest % 2 if in_pairs else rest
    if even:
        found.append(Piece(start=count - rest, count=1, size=even))
    if rest > even:
        found.append(Piece(start=count - 2, count=1, size=2))
    return found


@dataclass(frozen=True, slots=True)
class _Turn:
    moved: Movement
    rows: Axis
    columns: Axis
    others: tuple[Axis, ...]

    def nest(self, row: Piece, column: Piece) -> SliceKernel:
        """The task of some blocks."""
        element = self.moved.element
        down, right = self.rows[1], self.columns[1]
        first = tuple(row.start * down[side] + column.start * right[side] for side in (0, 1))
        axes = (
            *self.others,
            (row.count, (row.size * down[0], row.size * down[1])),
            (column.count, (column.size * right[0], column.size * right[1])),
        )
        k = SliceKernel(self.moved.name)
        with ExitStack() as nest:
            offsets = self.moved.read + first[0], self.moved.write + first[1]
            read, write = loops(k, nest, axes, offsets)
            self._load(k, read, row.size, down[0])
            if element == 1 and row.size == ROWS:
                self._store_pairs(k, write, column.size // 2, right[1])
            else:
                self._store_columns(k, write, column.size, row.size * element // _WORD, right[1])
        return k

    def _load(self, k: SliceKernel, read: Index, rows: int, pitch: int) -> None:
        element = self.moved.element
        outer, inner, first, second = (pitch * bit if bit < rows else 0 for bit in _BITS[element])
        source = words(self.moved.source, element)
        with k.each(2) as late, k.each(2) as odd:
            data = View(
                tensor=source,
                place=read + late * first + odd * second,
                shape=(2, 2, _PARTS, _ROW_BYTES // element),
                strides=(outer, inner, pitch, element),
            )
            k.load_data(data, parts=_PARTS, turn=True)
            k.combine("BYP")

    def _store_pairs(self, k: SliceKernel, write: Index, pairs: int, step: int) -> None:
        low, high = LIMITS["int32"]
        with k.each(pairs) as pair:
            k.activate(width=ACT_WORDS, low=low, high=high)
            target = block(words(self.moved.target, _WORD), write + pair * (2 * step), ACT_WORDS)
            k.store(target, split=step)

    def _store_columns(
        self, k: SliceKernel, write: Index, columns: int, size: int, step: int
    ) -> None:
        low, high = LIMITS["int32"]
        pitch = ACT_WORDS // 2 * self.moved.element
        with k.each(columns) as column:
            k.activate(width=size, low=low, high=high, pitch=pitch)
            k.store(block(words(self.moved.target, _WORD), write + column * step, size))

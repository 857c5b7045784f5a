"""Products of matrices whose sums lie in memory row by row: a vector holds a row of a strip.

Of the left factor each element is loaded for all of a row's columns at once, and of the right one
each row, so that no lanes are moved. Factors become rows of floats in memory where a block first
needs them. Whoever else asks for a sum gets its lanes.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...ir.nodes import Instruction, Value
from ...ir.shape import LANES
from ..text import TextBuilder, shuffle_mask, vector_of
from .halves import floats_in_order
from .operands import loaded
from .strips import Matrix, Product, Strips
from .waiting import HOLDER, SIDE, Waiting, copy_row, inside

if TYPE_CHECKING:
    from ..values import Values

_PAIR = 2 * SIDE  # floats of two rows
_PAIRS = range(SIDE // 2)
_BYTES = 4  # of a float
_ROWS_AT_ONCE = 4  # of a strip, where registers are few

# For two rows the lane and the element that each of their places comes from.
_SOURCES = [
    [(HOLDER[row, column & ~1], column & 1) for row in (2 * t, 2 * t + 1) for column in range(SIDE)]
    for t in _PAIRS
]
# Half of the lanes have the rows of two such pairs, the other half the other ones.
_HALF = LANES // 2
assert all(lane // _HALF == t // 2 for t in _PAIRS for lane, _ in _SOURCES[t])


class Rows:
    """Emits what concerns sums that lie in strips of `width` matrices."""

    def __init__(
        self, values: Values, strips: Strips, width: int, sums: Mapping[Value, Instruction]
    ) -> None:
        self.v = values
        self._sums = sums
        self.text = values.text
        self._strips = strips
        self._floats = width * SIDE  # of a strip's row
        self._block: object = None
        self._filled: dict[tuple[Value, ...], str] = {}

    # -- places ---------------------------------------------------------------------------------

    def _strip(self, number: int) -> str:
        return self.v.slots.staying(("strip", number), f"<{SIDE * self._floats} x float>").place

    # -- sums for others ------------------------------------------------------------------------

    def read(self, matrix: Matrix, element: int) -> str:
        """One of a lane's two elements of a sum, in all lanes."""
        halves = []
        for half in (0, 1):
            low, high = (self._two_rows(matrix, t) for t in (2 * half, 2 * half + 1))
            places = {source: place for place, source in enumerate(_SOURCES[2 * half])}
            places |= {s: _PAIR + place for place, s in enumerate(_SOURCES[2 * half + 1])}
            lanes = [places[lane, element] for lane in range(half * _HALF, (half + 1) * _HALF)]
            halves.append(self._of_two(low, high, _PAIR, lanes))
        return self.text.concatenate("float", halves, _HALF)[0]

    def write(self, matrix: Matrix, elements: Sequence[str | None]) -> None:
        """Set the elements of a sum in all lanes, of which one may stay as it is."""
        known = [each for each in elements if each is not None]
        for t in _PAIRS:
            both = [elements[0] or known[0], elements[1] or known[0]]
            rows = self._mixed(both[0], both[1], t)
            if len(known) == 1:
                mine = [int(elements[element] is not None) for _, element in _SOURCES[t]]
                old = self._two_rows(matrix, t)
                places = [place if own else _PAIR + place for place, own in enumerate(mine)]
                rows = self._of_two(rows, old, _PAIR, places)
            self._put_two_rows(matrix, t, rows)

    def _mixed(self, first: str, second: str, t: int) -> str:
        """Two rows of the matrix whose lanes hold these elements."""
        places = [lane + LANES * element for lane, element in _SOURCES[t]]
        return self._of_two(first, second, LANES, places)

    def _of_two(self, first: str, second: str, count: int, places: Sequence[int]) -> str:
        kind = vector_of("float", count)
        return self.text.let(
            f"shufflevector {kind} {first}, {kind} {second}, {shuffle_mask(places)}"
        )

    def _two_rows(self, matrix: Matrix, t: int) -> str:
        number, column = self._strips.matrices[matrix]
        place = self._strip(number)
        if self._floats == SIDE:
            return load(self.text, place, t * _PAIR, _PAIR)
        starts = [row * self._floats + column * SIDE for row in (2 * t, 2 * t + 1)]
        rows = [load(self.text, place, start, SIDE) for start in starts]
        return self.text.concatenate("float", rows, SIDE)[0]

    def _put_two_rows(self, matrix: Matrix, t: int, rows: str) -> None:
        number, column = self._strips.matrices[matrix]
        place = self._strip(number)
        if self._floats == SIDE:
            store(self.text, rows, place, t * _PAIR, _PAIR)
            return
        for each, row in enumerate((2 * t, 2 * t + 1)):
            half = self.text.shuffle("float", rows, _PAIR, range(each * SIDE, (each + 1) * SIDE))
            store(self.text, half, place, row * self._floats + column * SIDE, SIDE)

    # -- factors --------------------------------------------------------------------------------

    def _factor(self, factors: Sequence[tuple[Value, ...]]) -> str:
        """Where matrices that stand side by side lie row by row; filled once in a block."""
        if self._block is not self.v.block:
            self._block, self._filled = self.v.block, {}
        key = tuple(value for factor in factors for value in factor)
        known = self._filled.get(key)
        if known is None:
            # The places are those of other blocks, too: each fills its own first.
            kind = vector_of("float", SIDE * SIDE * len(factors))
            number = len(self._filled)
            known = self.v.slots.get("rows", (number, len(factors)), kind).place
            self._filled[key] = known
            self._fill(known, factors)
        return known

    def _fill(self, place: str, factors: Sequence[tuple[Value, ...]]) -> None:
        waiting = [self._waiting(factor) for factor in factors]
        there = [each for each in waiting if each is not None]
        if len(there) < len(factors):
            self._fill_from_lanes(place, factors)
            return
        there[0].access.when(
            inside(there),
            lambda: self._copy(place, there),
            lambda: self._fill_from_lanes(place, factors),
        )

    def _copy(self, place: str, matrices: Sequence[Waiting]) -> None:
        floats = SIDE * len(matrices)
        for row in range(SIDE):
            store(self.text, copy_row(matrices, row), place, row * floats, floats)

    def _waiting(self, factor: tuple[Value, ...]) -> Waiting | None:
        source = loaded(factor[0])
        return self.v.waiting.get(source[0]) if source is not None else None

    def _fill_from_lanes(self, place: str, factors: Sequence[tuple[Value, ...]]) -> None:
        floats = SIDE * len(factors)
        waiting = [self._waiting(factor) for factor in factors]
        late = [each.floats() if each is not None else [] for each in waiting]
        for t in _PAIRS:
            pairs = [
                self._mixed(lanes[0], lanes[1], t) if lanes else self._rows_of(factor, t)
                for lanes, factor in zip(late, factors, strict=True)
            ]
            if len(pairs) == 1:
                store(self.text, pairs[0], place, t * _PAIR, _PAIR)
                continue
            for each, row in enumerate((2 * t, 2 * t + 1)):
                mine = range(each * SIDE, (each + 1) * SIDE)
                side_by_side = [*mine, *(_PAIR + at for at in mine)]
                both = self._of_two(pairs[0], pairs[1], _PAIR, side_by_side)
                store(self.text, both, place, row * floats, floats)

    def _rows_of(self, factor: tuple[Value, ...], t: int) -> str:
        floats = floats_in_order(self.text, factor, _SOURCES[t], self.v.in_order, self.v.block)
        if floats is not None:
            return floats
        return self._mixed(self.v.vector(factor[0]), self.v.vector(factor[1]), t)

    # -- products -------------------------------------------------------------------------------

    def multiply(self, products: Sequence[Product]) -> None:
        """Add products of one left factor to the sums, in eight fused steps each, k ascending."""
        matrices = [self._matrix(product) for product in products]
        for product, matrix in zip(products, matrices, strict=True):
            self._take_over(product, matrix)
        width = self._floats // SIDE
        left = self._factor([products[0].left])
        rights = [
            self._factor([product.right for product in products[start : start + width]])
            for start in range(0, len(products), width)
        ]
        places = [self._strip(self._strips.matrices[m][0]) for m in matrices[::width]]
        name = f"assay_rows_{self._floats}_{len(places)}"
        self.text.declarations.update(_multiplication(name, self._floats, len(places)))
        passed = ", ".join(f"ptr {each}" for each in (left, *rights, *places))
        self.text.do(f"call void @{name}({passed})")

    def _matrix(self, product: Product) -> Matrix:
        first, second = product.elements
        assert first is not None and second is not None
        return self._sums[first], self._sums[second]

    def _take_over(self, product: Product, matrix: Matrix) -> None:
        """Put to its place what a product is added to, if that is not there."""
        new = [
            None if self._sums.get(value) is web else self.v.vector(value)
            for value, web in zip(product.added_to, matrix, strict=True)
        ]
        if any(new):
            self.write(matrix, new)


@functools.cache
def _multiplication(name: str, floats: int, strips: int) -> frozenset[str]:
    """A function that adds the product of a matrix and the rows of strips to sums.

    In the places of its calls it would be too much code for the processor's cache of it.
    """
    text = TextBuilder(LANES)
    rights = [f"%right{number}" for number in range(strips)]
    places = [f"%place{number}" for number in range(strips)]
    at_once = _ROWS_AT_ONCE if floats == SIDE else SIDE
    for start in range(0, SIDE, at_once):
        _multiply_rows(text, range(start, start + at_once), floats, rights, places)
    parameters = ", ".join(f"ptr {each}" for each in ("%left", *rights, *places))
    head = f"define internal void @{name}({parameters}) #0 {{"
    return frozenset({"\n".join([head, *text.lines, "  ret void", "}"]), *text.declarations})


def _multiply_rows(
    text: TextBuilder, rows: range, floats: int, rights: Sequence[str], places: Sequence[str]
) -> None:
    kind = vector_of("float", floats)
    sums = {
        (row, place): load(text, place, row * floats, floats) for row in rows for place in places
    }
    for k in range(SIDE):
        lines = [load(text, right, k * floats, floats) for right in rights]
        for row in rows:
            at = place_of(text, "%left", row * SIDE + k)
            one = text.splat("float", text.let(f"load float, ptr {at}"), floats)
            for place, line in zip(places, lines, strict=True):
                sums[row, place] = text.call(
                    kind,
                    f"llvm.fma.v{floats}f32",
                    (kind, one),
                    (kind, line),
                    (kind, sums[row, place]),
                )
    for (row, place), value in sums.items():
        store(text, value, place, row * floats, floats)


def place_of(text: TextBuilder, place: str, floats: int) -> str:
    """So many floats behind a place."""
    if floats == 0:
        return place
    return text.let(f"getelementptr i8, ptr {place}, i64 {floats * _BYTES}")


def load(text: TextBuilder, place: str, floats: int, count: int) -> str:
    """A vector of `count` floats, so many floats behind a place."""
    at = place_of(text, place, floats)
    return text.let(f"load {vector_of('float', count)}, ptr {at}, align {count * _BYTES}")


def store(text: TextBuilder, value: str, place: str, floats: int, count: int) -> None:
    """Store a vector of `count` floats."""
    at = place_of(text, place, floats)
    text.do(f"store {vector_of('float', count)} {value}, ptr {at}, align {count * _BYTES}")

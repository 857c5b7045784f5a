"""Loads of factors that wait for their products, which take a matrix row by row as memory has it.

Lanes hold a matrix in another order. What only products need that find it in memory is therefore
never brought into lanes: where a block first needs it, its rows are copied, as floats, to where the
products look for them. Rows of two matrices that lie side by side are copied as one. Only if not
all of a matrix is there, lanes load what they may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...analysis.linear_form import Pattern
from ...analysis.offsets import offset_of
from ...analysis.windows import Group
from ...ir.llvm_types import Scalar, size_of
from ...ir.nodes import Block, Function, Instruction, Value
from ...ir.operations.calls import CALL
from ...ir.operations.conversions import FPEXT
from ...ir.operations.lanes import MMA
from ...ir.operations.memory import COMPONENT, LOAD
from ...ir.shape import LANES, matrix_column, matrix_row
from ..text import TextBuilder, vector_of
from .operands import left_of, loaded, right_of
from .strips import Product

if TYPE_CHECKING:
    from ..access import Access

SIDE = 8  # of a matrix
_ELEMENTS = ("half", "float")  # of matrices whose products are floats

# Which lane holds the elements at a row and an even column, and right of it.
HOLDER = {(matrix_row(lane), matrix_column(lane)): lane for lane in range(LANES)}


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a row begins: bytes from a known value, and as the code says it."""

    known: tuple[object, ...]
    bytes: int
    offset: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A load that is not done yet.

    `inside` says whether all of its rows are there, and `lanes` gives its two components in all
    lanes, however they are loaded.
    """

    access: Access
    load: Instruction
    host: str
    rows: Sequence[Spot]
    inside: str
    lanes: Callable[[], list[str]]

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return SIDE * size_of(Scalar(self.load.element))

    def floats(self) -> list[str]:
        """The components of all lanes, as floats."""
        text = self.access.text
        return [
            text.let(f"fpext {vector_of('half')} {each} to {vector_of('float')}")
            if self.load.element == "half"
            else each
            for each in self.lanes()
        ]

    def is_left_of(self, other: Waiting) -> bool:
        """Whether each row of `other` should begin where this one's ends, by what is known."""
        if (self.load.element, self.load.root) != (other.load.element, other.load.root):
            return False
        length = self.row_bytes
        rows = zip(self.rows, other.rows, strict=True)
        return all((a.known, a.bytes + length) == (b.known, b.bytes) for a, b in rows)

    def meets(self, other: Waiting) -> str:
        """Whether each row does; LLVM sees that for itself where nothing can wrap."""
        text, access = self.access.text, self.access
        good = "true"
        for mine, theirs in zip(self.rows, other.rows, strict=True):
            end = text.let(f"add i64 {mine.offset}, {self.row_bytes}")
            good = access.both(good, text.let(f"icmp eq i64 {end}, {theirs.offset}"))
        return good


def is_part(instruction: Instruction, waiting: Mapping[Instruction, Waiting]) -> bool:
    """Whether it is part of a matrix that is not loaded yet, which products only need."""
    if instruction.operation not in (COMPONENT, FPEXT):
        return False
    source = loaded(instruction)
    return source is not None and source[0] in waiting


def inside(matrices: Sequence[Waiting]) -> str:
    """Whether all rows of matrices that stand side by side are where they are looked for."""
    access, good = matrices[0].access, "true"
    for each in matrices:
        good = access.both(good, each.inside)
    if _are_side_by_side(matrices):
        good = access.both(good, matrices[0].meets(matrices[1]))
    return good


def _are_side_by_side(matrices: Sequence[Waiting]) -> bool:
    return len(matrices) > 1 and matrices[0].is_left_of(matrices[1])


def copy_row(matrices: Sequence[Waiting], row: int) -> str:
    """A row of matrices that stand side by side, as floats."""
    text = matrices[0].access.text
    if len(matrices) == 1 or _are_side_by_side(matrices):
        return _floats(text, matrices[0], row, SIDE * len(matrices))
    parts = [_floats(text, each, row, SIDE) for each in matrices]
    return text.concatenate("float", parts, SIDE)[0]


def _floats(text: TextBuilder, matrix: Waiting, row: int, count: int) -> str:
    kind = vector_of(matrix.load.element, count)
    place = text.let(f"getelementptr i8, ptr {matrix.host}, i64 {matrix.rows[row].offset}")
    found = text.let(f"load {kind}, ptr {place}, align 1")
    if matrix.load.element == "half":
        found = text.let(f"fpext {kind} {found} to {vector_of('float', count)}")
    return found


def rows_at(
    text: TextBuilder,
    load: Instruction,
    base: Value,
    groups: Sequence[Group],
    offsets: Sequence[str],
    length: int,
    places: Sequence[Pattern],
) -> list[Spot]:
    """Where rows begin whose elements follow each other in a window; none if one's do not.

    Args:
        load: of two components.
        base, groups, offsets: of the windows, what they are counted from, and where they begin.
        length: what lies between windows in `places`.
        places: for each component, where each lane's is.
    """
    size = size_of(Scalar(load.element))
    start_of = offset_of(base)
    found = []
    for row in range(SIDE):
        elements = [(HOLDER[row, column & ~1], column & 1) for column in range(SIDE)]
        at = [places[component][lane] for lane, component in elements]
        if len(places[0]) != LANES or at != [*range(at[0], at[0] + SIDE)]:
            return []
        window, start = divmod(at[0], length)
        group = groups[window]
        if start + SIDE > group.elements:
            return []
        offset = offsets[window]
        if start:
            offset = text.let(f"add i64 {offset}, {start * size}")
        known = (start_of.key, group.terms)
        found.append(Spot(known, start_of.constant + group.low + start * size, offset))
    return found


def may_wait(
    function: Function, together: Mapping[Instruction, Sequence[Product]]
) -> frozenset[Instruction]:
    """The loads that only products need that are computed row by row, in the same block.

    Nothing may be written before the last of these products.

    Args:
        together: by where they are computed, these products.
    """
    needed = _Needs(function, together)
    return frozenset(each for each in function.instructions() if needed.may_wait(each))


class _Needs:
    """Who needs what is loaded."""

    def __init__(
        self, function: Function, together: Mapping[Instruction, Sequence[Product]]
    ) -> None:
        self._users: dict[Value, list[Instruction]] = {}
        for each in function.instructions():
            for operand in dict.fromkeys(each.operands):
                self._users.setdefault(operand, []).append(each)
        self._done = {
            element: last
            for last, group in together.items()
            for product in group
            for element in product.elements
            if element is not None
        }

    def may_wait(self, load: Instruction) -> bool:
        """Whether a load may be done where its matrix is first multiplied."""
        if load.operation is not LOAD or load.components != 2 or load.element not in _ELEMENTS:
            return False
        users = list(self._users_of(load))
        done = [self._done.get(each) for each in users]
        if not done or not self._are_pairs(load, users):
            return False
        if any(last is None or last.block is not load.block for last in done):
            return False
        block = load.block
        assert block is not None
        lasts = {last for last in done if last is not None}
        return _is_quiet(block, load, lasts)

    def _users_of(self, load: Instruction) -> Iterator[Instruction]:
        """What uses a load's elements as floats, and whatever else uses them."""
        for part in (load, *self._components(load)):
            for user in self._users.get(part, ()):
                if load.element == "half" and user.operation is FPEXT and user.type == "float":
                    yield from self._users.get(user, ())
                elif user.operation is not COMPONENT:
                    yield user

    def _components(self, load: Instruction) -> Iterator[Instruction]:
        return (each for each in self._users.get(load, ()) if each.operation is COMPONENT)

    def _are_pairs(self, load: Instruction, users: Sequence[Instruction]) -> bool:
        """Whether each user takes both elements for a factor, in the order of memory."""
        return all(
            use.operation is MMA
            and not any(self._is_of(load, each) for each in (use.operands[0], *use.operands[5:]))
            and all(self._is_pair(load, pair) for pair in (left_of(use), right_of(use)))
            for use in users
        )

    def _is_pair(self, load: Instruction, pair: Sequence[Value]) -> bool:
        """Whether two operands are the load's elements, or neither of them is one."""
        indices = [component_of(each, load) for each in pair]
        return indices in ([0, 1], [None, None])

    def _is_of(self, load: Instruction, value: Value) -> bool:
        return component_of(value, load) is not None


def component_of(value: Value, load: Instruction) -> int | None:
    """Which component of a load a value is, as a float; None if it is none."""
    found = loaded(value)
    return found[1] if found is not None and found[0] is load else None


def _is_quiet(block: Block, load: Instruction, lasts: set[Instruction]) -> bool:
    """Whether nothing is written or waited for between a load and the last of some products."""
    left: set[Instruction] | None = None
    for each in block.body:
        if each is load:
            left = set(lasts)
        elif left is not None:
            left.discard(each)
            if not left:
                return True
            operation = each.operation
            if operation.writes_memory or operation.orders_memory or operation is CALL:
                return False
    return False

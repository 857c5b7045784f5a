"""Where sums of products that stay in memory lie: in strips of rows, or each element by lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ....native.llvm_host import has_wide_registers
from ...ir.nodes import Instruction, Value
from ..slots import Slot
from .rows import Rows
from .strips import Matrix, StripFinder
from .waiting import may_wait

if TYPE_CHECKING:
    from ..values import Values


class SumPlaces:
    """Reads and writes sums that stay, and computes products whose sums lie in strips.

    `sums` has for each value that stays the first of those that it shares its place with.
    """

    def __init__(self, values: Values, sums: Mapping[Value, Instruction]) -> None:
        self.v = values
        self._sums = sums
        width = 2 if has_wide_registers() else 1
        self._strips = StripFinder(values.cfg, sums, width).find()
        self._rows = Rows(values, self._strips, width, sums)
        self._elements: dict[Instruction, tuple[Matrix, int]] = {
            each: (matrix, number)
            for matrix in self._strips.matrices
            for number, each in enumerate(matrix)
        }

    def __bool__(self) -> bool:
        return bool(self._sums)

    @property
    def factors(self) -> frozenset[Value]:
        """What is multiplied row by row."""
        products = (product for group in self._strips.together.values() for product in group)
        return frozenset(value for each in products for value in (*each.left, *each.right))

    @property
    def may_wait(self) -> frozenset[Instruction]:
        """Loads of factors that may be done where these are first multiplied."""
        return may_wait(self.v.function, self._strips.together)

    def hold(self, value: Value) -> bool:
        """Whether a value stays."""
        return value in self._sums

    def are_one(self, first: Value, second: Value) -> bool:
        """Whether two values that stay share a place."""
        return self._sums[first] is self._sums.get(second)

    def read(self, value: Value) -> str:
        """A value that stays, in all lanes."""
        first = self._sums[value]
        if first in self._elements:
            return self._rows.read(*self._elements[first])
        return self.v.take(self._slot(first))

    def write(self, values: Sequence[tuple[Value, str]]) -> None:
        """Set values that stay to vectors of all lanes; nothing of them is read any more."""
        matrices: dict[Matrix, list[str | None]] = {}
        for value, name in values:
            first = self._sums[value]
            if first in self._elements:
                matrix, number = self._elements[first]
                matrices.setdefault(matrix, [None, None])[number] = name
            else:
                self.v.put(self._slot(first), name)
        for matrix, elements in matrices.items():
            self._rows.write(matrix, elements)

    def compute(self, product: Instruction) -> bool:
        """Compute what a strip's product stands for, if it is one; returns whether it is."""
        group = self._strips.together.get(product)
        if group is not None:
            self._rows.multiply(group)
        return group is not None or product in self._strips.elsewhere

    def _slot(self, first: Instruction) -> Slot:
        return self.v.slots.staying(first, self.v.text.wide(first.type))

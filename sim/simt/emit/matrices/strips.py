"""Which sums of products lie side by side in memory, and which products are computed together.

A row of a matrix has eight floats, and a register holds eight or sixteen: a strip is one matrix or
two that stand side by side, row by row. Products whose left factor is the same are computed
together, so that each element of it, which all columns of a row take, is loaded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...ir.cfg import Cfg
from ...ir.nodes import Block, Instruction, Value
from ...ir.operations.lanes import MMA
from .operands import added_to, element_of, left_of, right_of

Matrix = tuple[Instruction, Instruction]  # by what its two elements are known in `sums_in_place`
_TOGETHER = 2  # strips, of which registers hold the sums


@dataclass(slots=True, eq=False)
class Product:
    """A product of two matrices, of which the code has each of a lane's two elements.

    `first` and `last` are the places of these in their block.
    """

    elements: list[Instruction | None]
    first: int
    last: int

    @property
    def left(self) -> tuple[Value, ...]:
        """The two elements of the left factor."""
        return tuple(left_of(self._either))

    @property
    def right(self) -> tuple[Value, ...]:
        """Those of the right factor."""
        return tuple(right_of(self._either))

    @property
    def added_to(self) -> tuple[Value, ...]:
        """Those of what it is added to."""
        return tuple(added_to(self._either))

    @property
    def _either(self) -> Instruction:
        return next(each for each in self.elements if each is not None)


@dataclass(slots=True)
class Strips:
    """The strips of a function.

    Attributes:
        matrices: for each matrix, its strip and its number in that.
        together: by the last element of the last of them, products that are computed there.
        elsewhere: the elements of these that are passed over.
    """

    matrices: dict[Matrix, tuple[int, int]] = field(default_factory=dict)
    together: dict[Instruction, list[Product]] = field(default_factory=dict)
    elsewhere: set[Instruction] = field(default_factory=set)


class StripFinder:
    """Finds the strips of `width` matrices among sums that stay in memory."""

    def __init__(self, cfg: Cfg, sums: Mapping[Value, Instruction], width: int) -> None:
        self._sums = sums
        self._width = width
        self._blocks = {block: list(_products(block)) for block in cfg.order}
        self._matrix = self._find_matrices()

    def find(self) -> Strips:
        """The strips; matrices that have no steady neighbour are left out."""
        while True:
            groups = [group for block in self._blocks for group in self._groups(block)]
            strips = {strip for group in groups for strip in self._strips(group)}
            count = {matrix: 0 for strip in strips for matrix in strip}
            for strip in strips:
                for matrix in strip:
                    count[matrix] += 1
            bad = {m for strip in strips for m in strip if len(strip) < self._width or count[m] > 1}
            if not bad:
                return self._numbered(groups)
            self._matrix = {p: matrix for p, matrix in self._matrix.items() if matrix not in bad}

    def _find_matrices(self) -> dict[Product, Matrix]:
        """The matrix of each product whose two elements always stay in two places together."""
        found: dict[Product, Matrix] = {}
        partners: dict[Instruction, set[Matrix | None]] = {}
        for products in self._blocks.values():
            for product in products:
                first, second = (self._sums.get(e) if e else None for e in product.elements)
                matrix = (first, second) if first is not None and second is not None else None
                if matrix is not None:
                    found[product] = matrix
                for each in (first, second):
                    if each is not None:
                        partners.setdefault(each, set()).add(matrix)
        alone = {each for each, others in partners.items() if len(others) > 1 or None in others}
        return {p: matrix for p, matrix in found.items() if alone.isdisjoint(matrix)}

    def _groups(self, block: Block) -> Iterator[list[Product]]:
        """Products of one left factor that may be computed where the last of them is."""
        group: list[Product] = []
        for product in self._blocks[block]:
            if product not in self._matrix:
                continue
            if group and not self._may_join(product, group, block):
                yield group
                group = []
            group.append(product)
        if group:
            yield group

    def _may_join(self, product: Product, group: list[Product], block: Block) -> bool:
        if product.left != group[0].left or len(group) == _TOGETHER * self._width:
            return False
        if self._matrix[product] in [self._matrix[each] for each in group]:
            return False
        between = block.body[min(each.first for each in group) : product.last + 1]
        results = {element for each in group for element in each.elements}
        return not any(operand in results for each in between for operand in each.operands)

    def _strips(self, group: list[Product]) -> Iterator[tuple[Matrix, ...]]:
        matrices = [self._matrix[product] for product in group]
        for start in range(0, len(matrices), self._width):
            yield tuple(matrices[start : start + self._width])

    def _numbered(self, groups: list[list[Product]]) -> Strips:
        found = Strips()
        order = dict.fromkeys(strip for group in groups for strip in self._strips(group))
        for number, strip in enumerate(order):
            found.matrices |= {matrix: (number, place) for place, matrix in enumerate(strip)}
        for group in groups:
            elements = [e for product in group for e in product.elements if e is not None]
            block = elements[0].block
            assert block is not None
            last = block.body[max(product.last for product in group)]
            found.together[last] = group
            found.elsewhere.update(each for each in elements if each is not last)
        return found


def _products(block: Block) -> Iterator[Product]:
    """The products of a block, in the order in which they are done."""
    found: dict[tuple[Value, ...], Product] = {}
    for place, each in enumerate(block.body):
        if each.operation is not MMA:
            continue
        factors = tuple(each.operands[1:])
        product = found.setdefault(factors, Product([None, None], place, place))
        product.elements[element_of(each)] = each
        product.last = place
    yield from sorted(found.values(), key=lambda product: product.last)

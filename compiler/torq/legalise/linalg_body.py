"""The body of a linalg.generic: operations in a row, and functions of one number as tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from ...graph.elements import Array
from ...graph.linalg.evaluate import computed
from ...graph.linalg.scalars import MEANINGS
from ...graph.tosa import ops
from ..hl.types import tensor_of
from .builder import NotForNpu
from .integers import Item, Numbers, bits_of
from .linalg_scalars import CHEAP, EMIT
from .linalg_tables import arguments, looked_up

_MOST_STEPS = 3
"""Cheap operations of 16 bits that are better done one by one than looked up."""
_SHORT = ("bool", "int8", "int16", "bfloat16")


class Body:
    """Values of a body, made when they are asked for."""

    def __init__(self, numbers: Numbers, given: Mapping[SSAValue, Item]) -> None:
        """`given`: what stands for the body's arguments and the constants that it uses."""
        self._n = numbers
        self._items = dict(given)

    def value(self, value: SSAValue) -> Item:
        """What stands for a value. Raises NotForNpu."""
        if value not in self._items:
            owner = value.owner
            if isinstance(owner, Block):
                raise NotForNpu("its body uses an argument in another way than to be reduced")
            self._items[value] = self._made(owner)
        return self._items[value]

    def _made(self, op: Operation) -> Item:
        constant = self._folded(op)
        if constant is not None:
            return constant
        root = self._root(op.results[0])
        if root is not None and root is not op.results[0] and self._is_better(op, root):
            made = self._tabled(op.results[0], root)
            if made is not None:
                return made
        name = ops.name_of(op)
        if name not in EMIT:
            raise NotForNpu(f"{name} of {', '.join(ops.dtype(v) for v in op.operands)}")
        items = [self.value(operand) for operand in op.operands]
        return EMIT[name](op, self._n, items)

    def _folded(self, op: Operation) -> Array | None:
        """What an operation of constants makes."""
        if any(not self._is_constant(operand) for operand in op.operands):
            return None
        arrays = [self.value(operand) for operand in op.operands]
        return computed(op, [array for array in arrays if isinstance(array, np.ndarray)])

    def _is_constant(self, value: SSAValue) -> bool:
        if value in self._items:
            return isinstance(self._items[value], np.ndarray)
        owner = value.owner
        if isinstance(owner, Block) or ops.name_of(owner) not in MEANINGS:
            return False
        return all(self._is_constant(operand) for operand in owner.operands)

    def _is_number(self, value: SSAValue) -> bool:
        """Whether a value is the same everywhere."""
        if not self._is_constant(value):
            return False
        item = self.value(value)
        return isinstance(item, np.ndarray) and item.size == 1

    def _root(self, value: SSAValue) -> SSAValue | None:
        """The one value of at most 16 bits that a value is a function of."""
        owner = value.owner
        is_short = ops.dtype(value) in _SHORT
        own = value if is_short else None
        if value in self._items or isinstance(owner, Block):
            return own
        if ops.name_of(owner) not in MEANINGS:
            return own
        roots = {self._root(v) for v in owner.operands if not self._is_number(v)}
        if len(roots) == 1:
            (root,) = roots
            return own if root is None else root
        return own

    def _between(self, value: SSAValue, root: SSAValue) -> list[Operation]:
        """The operations that make a value of another."""
        found: dict[Operation, None] = {}

        def visit(each: SSAValue) -> None:
            if each is root or self._is_constant(each):
                return
            assert isinstance(each.owner, Operation)
            for operand in each.owner.operands:
                visit(operand)
            found[each.owner] = None

        visit(value)
        return list(found)

    def _is_better(self, op: Operation, root: SSAValue) -> bool:
        """Whether a table is better than the operations one by one, or the only way."""
        between = self._between(op.results[0], root)
        names = [ops.name_of(each) for each in between]
        if any(name not in EMIT for name in names):
            return True
        wide = any(ops.dtype(v) == "float32" for each in between for v in each.operands)
        if len(between) == 1:
            kinds = ops.dtype(op.operands[0]), ops.dtype(op.results[0])
            return names[0] not in CHEAP and kinds != ("bfloat16", "float32")
        if bits_of(ops.dtype(root)) <= 8 and bits_of(ops.dtype(op.results[0])) <= 8:
            return True
        return wide or len(between) > _MOST_STEPS or any(name not in CHEAP for name in names)

    def _tabled(self, value: SSAValue, root: SSAValue) -> Item | None:
        """A value by a table over all that its root can be."""
        item = self.value(root)
        if isinstance(item, np.ndarray):
            return None
        dtype = tensor_of(item).dtype
        if dtype not in _SHORT:
            return None
        values: dict[SSAValue, Array] = {root: arguments(dtype)}
        for op in self._between(value, root):
            operands = [self._number(operand, values) for operand in op.operands]
            values[op.results[0]] = computed(op, operands)
        results = np.broadcast_to(values[value], values[root].shape)
        return looked_up(self._n, item, np.ascontiguousarray(results), ops.dtype(value))

    def _number(self, value: SSAValue, values: Mapping[SSAValue, Array]) -> Array:
        if value in values:
            return values[value]
        item = self.value(value)
        assert isinstance(item, np.ndarray)
        return item.reshape(-1)[:1]

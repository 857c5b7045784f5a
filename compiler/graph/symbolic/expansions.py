"""Operators whose result has as many elements as their input says, by others that have no such.

What is computed has room for everything; a slice then gives what is there, as long as a number says
that was computed, too. So that number is all that the host has to read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ..elements import Array
from .dims import Dims, product, text
from .inference import Unknown

_BOOL, _INT64 = 9, 7
EXPANDED: Final = ("NonZero", "TopK")


@dataclass(slots=True)
class Expansion:
    """Nodes in the making, with the constants that they read."""

    make_node: Callable[..., Any]
    prefix: str
    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)

    def node(self, op: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Adds a node; the name of its result."""
        name = name or f"{self.prefix}/{op}{len(self.nodes)}"
        self.nodes.append(self.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, *numbers: int, dtype: Any = np.int64, scalar: bool = False) -> str:
        """The name of whole numbers."""
        name = f"{self.prefix}/constant{len(self.constants)}"
        array = np.array(numbers, dtype)
        self.constants[name] = array.reshape(()) if scalar else array
        return name


def expand_nonzero(made: Expansion, node: Any, dims: Dims, dtype: np.dtype[Any]) -> None:
    """NonZero: a stable partition of all places, of which the first ones are the result.

    Raises Unknown.
    """
    if not dims or not all(isinstance(dim, int) and dim > 0 for dim in dims[1:]):
        raise Unknown(
            f"of its input of shape {text(dims)} only the first size may be open, and it has one"
        )
    rows = made.constant(-1)
    flat = node.input[0] if len(dims) == 1 else made.node("Reshape", node.input[0], rows)
    if dtype != np.bool_:
        zero = made.constant(0, dtype=dtype)
        flat = made.node("Not", made.node("Equal", flat, zero))
    flag = made.node("Cast", flat, to=_INT64)
    axis, one = made.constant(0, scalar=True), made.constant(1)
    total = made.node("ReduceSum", flag, keepdims=1)
    before = made.node("CumSum", flag, axis, exclusive=1)
    no_flag = made.node("Sub", one, flag)
    place = made.node("CumSum", made.node("Add", flag, no_flag), axis, exclusive=1)
    behind = made.node("Add", total, made.node("Sub", place, before))
    target = made.node("Add", made.node("Mul", flag, before), made.node("Mul", no_flag, behind))
    empty = made.node("Mul", flag, made.constant(0))
    ordered = made.node("ScatterElements", empty, target, place, axis=0)
    places = made.node("Slice", ordered, made.constant(0), total, made.constant(0))
    one_row = made.constant(1, -1)
    found = []
    for at, dim in enumerate(dims):
        stride = product(dims[at + 1 :])
        assert isinstance(stride, int)
        row = places if stride == 1 else made.node("Div", places, made.constant(stride))
        if at:
            assert isinstance(dim, int)
            row = made.node("Mod", row, made.constant(dim))
        found.append(row)
    if len(found) == 1:
        made.node("Reshape", found[0], one_row, name=node.output[0])
    else:
        rows_made = [made.node("Reshape", row, one_row) for row in found]
        made.node("Concat", *rows_made, name=node.output[0], axis=0)


def expand_topk(made: Expansion, node: Any, dims: Dims, attributes: dict[str, Any]) -> None:
    """TopK of a computed k: all elements in their order, of which the first k are the result.

    Raises Unknown.
    """
    axis = attributes.get("axis", -1) % len(dims)
    size = dims[axis]
    if not isinstance(size, int):
        raise Unknown(f"the size {size} that it takes the first of is not known")
    ordered = [f"{made.prefix}/all{number}" for number in range(len(node.output))]
    names = [name if used else "" for name, used in zip(ordered, node.output, strict=True)]
    made.nodes.append(
        made.make_node(
            "TopK", [node.input[0], made.constant(size)], names, name=made.prefix, **attributes
        )
    )
    start, axes = made.constant(0), made.constant(axis)
    for name, output in zip(ordered, node.output, strict=True):
        if output:
            made.node("Slice", name, start, node.input[1], axes, name=output)

"""Modules as text, large constants left out where they only stand in the way."""

from __future__ import annotations

from collections import Counter
from io import StringIO
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Attribute
from xdsl.printer import Printer

from ...graph.tosa import ops
from .operation import HlOp


class _ElidingPrinter(Printer):
    """Prints constants of many elements as MLIR does that leaves them out, and bytes as TorqHW."""

    def __init__(self, most: int, **more: Any) -> None:
        super().__init__(**more)
        self._most = self.most_bytes = most

    def print_attribute(self, attribute: Attribute) -> None:
        """As usual, but for constants that are too long."""
        if isinstance(attribute, DenseIntOrFPElementsAttr) and len(attribute) > self._most:
            self.print_string("dense_resource<__elided__> : ")
            attribute = attribute.type
        super().print_attribute(attribute)


def text_of(module: ModuleOp, *, most: int | None = None, locations: bool = False) -> str:
    """The module; constants of more than `most` elements are left out, if it is given."""
    stream = StringIO()
    if most is None:
        Printer(stream=stream, print_debuginfo=locations).print_op(module)
    else:
        _ElidingPrinter(most, stream=stream, print_debuginfo=locations).print_op(module)
    return stream.getvalue()


def ways(module: ModuleOp) -> list[tuple[str, str, str]]:
    """(way, operation, name in the model) of all that stands for an operator of the model."""
    return [
        (op.way, op.name.removeprefix("torq_hl."), ops.location(op))
        for function in ops.functions(module)
        for op in ops.body(function).ops
        if isinstance(op, HlOp) and op.way
    ]


def way_counts(module: ModuleOp) -> dict[str, int]:
    """How many operations went each way."""
    return dict(sorted(Counter(way for way, _, _ in ways(module)).items()))

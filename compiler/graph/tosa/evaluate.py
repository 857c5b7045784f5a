"""Runs a function of TOSA operators in NumPy: the reference that every later stage must equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ...models.errors import ModelError
from ..elements import Array
from . import elementwise, ops, shaped

MEANINGS = {**elementwise.MEANINGS, **shaped.MEANINGS}
Seen = Callable[[Operation, Array], None]
"""Called with each operation and its result."""
Meaning = Callable[[Operation, Sequence[Array]], Array]
"""The one result of an operation, by its operands."""


def evaluated(function: FuncOp, inputs: Sequence[Array], seen: Seen | None = None) -> list[Array]:
    """The results for these inputs. Raises ModelError for an operator that has no meaning here."""
    return run(function, inputs, result_of, seen)


def run(
    function: FuncOp, inputs: Sequence[Array], meaning: Meaning, seen: Seen | None = None
) -> list[Array]:
    """The results of a function of operations with this meaning; arrays go after their last use."""
    block = ops.body(function)
    values: dict[SSAValue, Array] = dict(zip(block.args, inputs, strict=True))
    left = {value: value.uses.get_length() for value in block.args}
    last = ops.returned(function)
    for op in block.ops:
        if op is last:
            break
        result = meaning(op, [values[operand] for operand in op.operands])
        values[op.results[0]] = result
        left[op.results[0]] = op.results[0].uses.get_length()
        if seen is not None:
            seen(op, result)
        for operand in op.operands:
            left[operand] -= 1
            if not left[operand]:
                values.pop(operand, None)
    return [values[value] for value in last.operands]


def result_of(op: Operation, inputs: Sequence[Array]) -> Array:
    """The one result of an operator."""
    name = ops.name_of(op)
    if name in ops.CONSTANTS:
        found = ops.constant(op.results[0])
        if found is not None:
            return found
    if name not in MEANINGS:
        raise ModelError(f"{name} has no meaning in the reference")
    return MEANINGS[name](op, inputs)

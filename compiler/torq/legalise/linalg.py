"""linalg.generic, operations of tensor, and arith and math on whole tensors."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from ...graph.linalg import evaluate, scalars
from ...graph.linalg.contraction import Contraction, contraction_of, reduction_of
from ...graph.linalg.generic import Generic, NotUnderstood, Operand, generic_of
from ...graph.tosa import ops
from ..hl.moves import Broadcast, Transpose, View
from ..hl.products import MatMul
from ..hl.reductions import Reduce
from ..hl.types import tensor_of
from . import linalg_moves
from .builder import GENERAL, Builder, Legaliser, NotForNpu
from .integers import Item, Numbers
from .linalg_body import Body
from .linalg_loops import by_loops, over_loops, turned
from .linalg_products import Factors, contracted, takes_start
from .linalg_reductions import reduced, with_start

_MOVES = (View, Transpose, Broadcast)


def generic(op: Operation, b: Builder) -> SSAValue:
    """linalg.generic: sums of products, reductions, or element by element."""
    rounded = _rounded_sum(op, b)
    if rounded is not None:
        return rounded
    try:
        nest = generic_of(op)
        products, reduction = contraction_of(nest), reduction_of(nest)
        order = evaluate.result_order(nest)
    except NotUnderstood as error:
        raise NotForNpu(str(error)) from None
    numbers, dtype = Numbers(b), ops.dtype(op.results[0])
    start = _item(b, nest, nest.init)
    if products is not None:
        total = _contracted(numbers, nest, products, start, dtype)
        return _placed(b, nest, total, order)
    given: dict[SSAValue, Item] = dict(evaluate.constants(nest))
    _add_outer(b, nest, given)
    given.update({each.argument: _item(b, nest, each) for each in nest.inputs})
    if not nest.reduced:
        given[nest.init.argument] = start
        made = Body(numbers, given).value(nest.result)
        return _placed(b, nest, numbers.tensor(made, dtype), order)
    if reduction is None:
        raise NotForNpu("a reduction that is no sum, product, extreme or logic")
    value = Body(numbers, given).value(reduction.value)
    bare = _bare_sum(nest, given, reduction.value) if dtype == "float32" else None
    source = dtype if bare is None else "bfloat16"
    x = numbers.tensor(value if bare is None else bare, source)
    total = reduced(numbers, reduction.kind, _full(b, nest, x), nest.reduced, dtype)
    return _placed(b, nest, with_start(numbers, reduction.kind, total, start, dtype), order)


def _bare_sum(nest: Generic, given: dict[SSAValue, Item], value: SSAValue) -> Item | None:
    """What is made wider before it is summed in float32."""
    owner = value.owner
    if isinstance(owner, Operation) and ops.name_of(owner) == "arith.extf":
        source = owner.operands[0]
        if ops.dtype(source) == "bfloat16":
            return given.get(source)
    return None


def _add_outer(b: Builder, nest: Generic, given: dict[SSAValue, Item]) -> None:
    """Numbers from outside that a body uses: constants that were folded."""
    for op in nest.body.ops:
        for value in op.operands:
            known = b.constant(value)
            if known is not None and value not in given:
                given[value] = known.reshape((1,) * max(1, len(nest.sizes)))


def _item(b: Builder, nest: Generic, operand: Operand) -> Item:
    """An operand with an axis for each loop."""
    known = b.constant(operand.value)
    if known is not None:
        seen = evaluate.over_loops(nest, operand, known)
        return np.ascontiguousarray(seen).reshape(seen.shape or (1,))
    if not operand.is_tensor:
        raise NotForNpu("a number that is computed, where a constant is needed")
    return over_loops(b, nest, operand, b.value(operand.value))


def _full(b: Builder, nest: Generic, x: SSAValue) -> SSAValue:
    """x with as many steps as each loop has."""
    kind = tensor_of(x)
    if kind.shape == nest.sizes:
        return x
    return b.emit(Broadcast, [x], kind.like(shape=nest.sizes))


def _contracted(n: Numbers, nest: Generic, found: Contraction, start: Item, dtype: str) -> SSAValue:
    b = n.builder
    pair = []
    for number in (found.a, found.b):
        operand = nest.inputs[number]
        pair.append(by_loops(b, nest, operand, b.value(operand.value)))
    # Columns are what lies innermost in the result, so that it need not be turned.
    if _innermost(nest, pair[0][1], pair[1][1]) > _innermost(nest, pair[1][1], pair[0][1]):
        pair.reverse()
    factors = Factors(*pair[0], *pair[1])
    total = contracted(n, nest, factors, start, dtype)
    if dtype not in ("bfloat16", "float32"):
        total = n.cut(total, dtype)
    if takes_start(nest, factors, start, dtype):
        return total
    return with_start(n, "sum", total, start, dtype)


def _innermost(nest: Generic, loops: list[int], others: list[int]) -> int:
    """The last axis of the result that one factor has for itself; -1 if it has none."""
    own = [n for n, place in enumerate(nest.init.places) if place.loop in set(loops) - set(others)]
    return max(own, default=-1)


def _placed(b: Builder, nest: Generic, made: SSAValue, order: list[int]) -> SSAValue:
    """What the loops made, as the result's axes lie."""
    sizes = tuple(1 if n in nest.reduced else size for n, size in enumerate(nest.sizes)) or (1,)
    kind = tensor_of(made)
    if kind.shape != sizes:
        made = b.emit(Broadcast, [made], kind.like(shape=sizes))
    made = turned(b, made, order) if order else made
    return b.view(made, ops.shape(nest.op.results[0]))


def elements(op: Operation, b: Builder) -> SSAValue:
    """arith and math on whole tensors."""
    if not isinstance(op.results[0].type, TensorType):
        raise NotForNpu("numbers that are computed outside of tensors")
    shape = ops.shape(op.results[0])
    given: dict[SSAValue, Item] = {}
    for value in op.operands:
        known = b.constant(value)
        item: Item = b.view(b.value(value), shape or (1,)) if known is None else known
        given[value] = item.reshape(shape or (1,)) if isinstance(item, np.ndarray) else item
    numbers = Numbers(b)
    made = numbers.tensor(Body(numbers, given).value(op.results[0]), ops.dtype(op.results[0]))
    return b.view(made, shape)


def _rounded_sum(op: Operation, b: Builder) -> SSAValue | None:
    """Sums in float32 that are only rounded to bfloat16: rounded where they are made."""
    body = op.regions[0].blocks[0]
    first = body.first_op
    if first is None or ops.name_of(first) != "arith.truncf" or len(op.operands) != 2:
        return None
    if first.next_op is not body.last_op or b.constant(op.operands[0]) is not None:
        return None
    shape = ops.shape(op.results[0])
    if ops.shape(op.operands[0]) != shape or ops.dtype(op.results[0]) != "bfloat16":
        return None
    return _rounded(b, b.value(op.operands[0]))


def _rounded(b: Builder, x: SSAValue) -> SSAValue | None:
    """A sum again, in bfloat16, and what was moved behind it."""
    owner = x.owner
    if not isinstance(owner, Operation) or tensor_of(x).dtype != "float32":
        return None
    if isinstance(owner, MatMul | Reduce):
        kind = tensor_of(x).like(dtype="bfloat16")
        return b.emit(type(owner), list(owner.operands), kind, **owner.fields)
    source = _rounded(b, owner.operands[0]) if isinstance(owner, _MOVES) else None
    if source is None:
        return None
    assert isinstance(owner, _MOVES)
    return b.emit(type(owner), [source], tensor_of(x).like(dtype="bfloat16"), **owner.fields)


LEGALISERS: dict[str, tuple[str, Legaliser]] = {
    "linalg.generic": (GENERAL, generic),
    **dict.fromkeys(scalars.MEANINGS, (GENERAL, elements)),
    **linalg_moves.LEGALISERS,
}
"""By the operation's name, with the way that it goes."""

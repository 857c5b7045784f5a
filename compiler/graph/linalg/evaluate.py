"""What linalg.generic computes, in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...models.errors import ModelError
from ..elements import NUMPY, Array, is_float
from ..meaning.arithmetic import wide
from ..tosa import ops
from . import scalars
from .contraction import Contraction, contraction_of, reduction_of
from .generic import Generic, Operand, generic_of

Values = dict[SSAValue, Array]
_FOLDS: dict[str, Callable[..., Array]] = {
    "sum": np.add.reduce,
    "product": np.multiply.reduce,
    "max": np.maximum.reduce,
    "min": np.minimum.reduce,
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}


def generic(op: Operation, x: Sequence[Array]) -> Array:
    """The result of linalg.generic; products of floats are summed in float32 and rounded once."""
    nest = generic_of(op)
    dtype = ops.dtype(op.results[0])
    operands = (*nest.inputs, nest.init)
    views = [over_loops(nest, each, array) for each, array in zip(operands, x, strict=True)]
    products = contraction_of(nest)
    if products is not None:
        total = _contracted(nest, products, views)
        return _placed(nest, _narrowed(total + _wide(views[-1]), dtype))
    values = dict(zip((each.argument for each in operands), views, strict=True))
    values.update(constants(nest))
    found = reduction_of(nest)
    if found is None and nest.reduced:
        raise ModelError(f"{ops.name_of(op)}: this reduction has no meaning in the reference")
    computed = _run(nest, values)
    if found is None:
        return _placed(nest, computed[nest.result])
    if dtype == "bfloat16" and found.kind in ("sum", "product"):
        return _placed(nest, _step_by_step(nest, found.kind, computed[found.value], views[-1]))
    steps = np.broadcast_to(_wide(computed[found.value]), nest.sizes)
    unsigned = found.kind.startswith("u")
    if unsigned:
        steps = np.broadcast_to(wide(scalars.unsigned(computed[found.value])), nest.sizes)
    fold = _FOLDS[found.kind.removeprefix("u")]
    total = fold(steps, axis=nest.reduced, keepdims=True)
    start = wide(scalars.unsigned(views[-1])) if unsigned else _wide(views[-1])
    return _placed(nest, _narrowed(fold(np.stack(np.broadcast_arrays(total, start))), dtype))


def _step_by_step(nest: Generic, kind: str, x: Array, start: Array) -> Array:
    """A reduction that rounds at each step, in the order of the loops."""
    full = np.moveaxis(np.broadcast_to(x, nest.sizes), nest.reduced, range(len(nest.reduced)))
    kept = full.shape[len(nest.reduced) :]
    squeezed = np.moveaxis(start, nest.reduced, range(len(nest.reduced)))
    total = np.broadcast_to(squeezed.reshape(squeezed.shape[len(nest.reduced) :]), kept)
    combine = np.add if kind == "sum" else np.multiply
    for step in full.reshape(-1, *kept):
        total = combine(total.astype(np.float32), step.astype(np.float32)).astype(start.dtype)
    sizes = [1 if n in nest.reduced else size for n, size in enumerate(nest.sizes)]
    return total.reshape(sizes)


def over_loops(nest: Generic, operand: Operand, array: Array) -> Array:
    """An operand over all loops; loops that it does not know have one step."""
    steps, offset = [0] * len(nest.sizes), 0
    for place, stride in zip(operand.places, array.strides, strict=True):
        offset += place.offset * stride
        for loop, factor in place.factors:
            steps[loop] += factor * stride
    used = {loop for place in operand.places for loop, _ in place.factors}
    shape = [size if loop in used else 1 for loop, size in enumerate(nest.sizes)]
    if offset:
        array = array[tuple(slice(place.offset, None) for place in operand.places)]
    return np.lib.stride_tricks.as_strided(array, shape, steps, writeable=False)


def constants(nest: Generic) -> Values:
    """Constants that a body uses, and counters of loops."""
    found: Values = {}
    rank = len(nest.sizes)
    for op in nest.body.ops:
        if ops.name_of(op) == "linalg.index":
            loop, shape = ops.integer(op, "dim"), [1] * rank
            shape[loop] = nest.sizes[loop]
            found[op.results[0]] = np.arange(nest.sizes[loop]).reshape(shape)
        for value in op.operands:
            constant = ops.constant(value)
            if constant is not None:
                found[value] = constant.reshape((1,) * rank)
    return found


def computed(op: Operation, x: Sequence[Array]) -> Array:
    """What one operation of a body computes. Raises ModelError for one that has no meaning."""
    name = ops.name_of(op)
    if name not in scalars.MEANINGS:
        raise ModelError(f"{name} has no meaning in the reference")
    return scalars.MEANINGS[name](op, x)


def _run(nest: Generic, values: Values) -> Values:
    """All values of a body."""
    for op in nest.body.ops:
        if op.results and op.results[0] not in values and ops.name_of(op) not in ops.CONSTANTS:
            values[op.results[0]] = computed(op, [values[operand] for operand in op.operands])
    return values


def _contracted(nest: Generic, found: Contraction, views: Sequence[Array]) -> Array:
    """Sums of products; integers exactly."""
    pair = [_wide(views[found.a]), _wide(views[found.b])]
    kind = np.float32 if pair[0].dtype == np.float32 else np.float64
    names = [[n for n, size in enumerate(x.shape) if size > 1] for x in pair]
    kept = [n for n in nest.parallel if n in names[0] or n in names[1]]
    a, b = (x.reshape([size for size in x.shape if size > 1]).astype(kind) for x in pair)
    operands: list[Any] = [a, names[0], b, names[1], kept]
    made = np.asarray(np.einsum(*operands, optimize=True))
    if kind is np.float64:
        if made.size and float(np.abs(made).max()) >= 1 << 53:
            raise ValueError("a sum of products is beyond 53 bits")
        made = made.astype(np.int64)
    silent = [n for n in nest.reduced if n not in names[0] and n not in names[1]]
    times = int(np.prod([nest.sizes[n] for n in silent], dtype=np.int64))
    return made.reshape([s if n in kept else 1 for n, s in enumerate(nest.sizes)]) * times


def _wide(x: Array) -> Array:
    """Numbers that sums do not overflow."""
    if x.dtype.kind in "iub":
        return wide(x)
    return x if x.dtype == np.float64 else x.astype(np.float32)


def _narrowed(value: Array, dtype: str) -> Array:
    if dtype == "bool":
        return np.asarray(value & 1, np.bool_)
    return value.astype(NUMPY[dtype])


def _placed(nest: Generic, made: Array) -> Array:
    """What the loops made, as the result's axes lie."""
    shape = ops.shape(nest.op.results[0])
    order = result_order(nest)
    sizes = [1 if n in nest.reduced else size for n, size in enumerate(nest.sizes)]
    turned = np.transpose(np.broadcast_to(made, sizes), order)
    assert is_float(ops.dtype(nest.op.results[0])) == (made.dtype.kind not in "iub")
    return np.ascontiguousarray(turned).reshape(shape)


def result_order(nest: Generic) -> list[int]:
    """The loops as the result's axes follow each other, behind them those it does not have.

    Raises ModelError for results whose axes are no loops.
    """
    order = [place.loop for place in nest.init.places if place.loop is not None]
    shape = ops.shape(nest.op.results[0])
    single = all(p.loop is not None or n == 1 for p, n in zip(nest.init.places, shape, strict=True))
    if not single or len(set(order)) != len(order):
        raise ModelError("linalg.generic: the places of its results are not loops by themselves")
    return [*order, *(n for n in range(len(nest.sizes)) if n not in order)]

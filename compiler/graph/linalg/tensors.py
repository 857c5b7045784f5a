"""What operations of tensor compute, in NumPy; and the numbers that say which elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from ..elements import NUMPY, Array
from ..tosa import ops
from . import scalars
from .evaluate import generic
from .generic import NotUnderstood

Meaning = Callable[[Operation, Sequence[Array]], Array]
_DYNAMIC = -(1 << 63)


def numbers(op: Operation, key: str, given: Sequence[int | None]) -> list[int | None]:
    """`static_<key>`, with numbers that are operands put in; None stands for one not known."""
    rest = list(given)
    return [
        rest.pop(0) if value == _DYNAMIC else value for value in ops.integers(op, f"static_{key}")
    ]


def segments(op: Operation) -> list[Sequence[SSAValue]]:
    """The operands by what they are for."""
    found, start = [], 0
    for count in ops.integers(op, "operandSegmentSizes"):
        found.append(op.operands[start : start + count])
        start += count
    return found


def padding_value(op: Operation) -> SSAValue:
    """What tensor.pad fills with. Raises NotUnderstood if that depends on the place."""
    block = op.regions[0].blocks[0]
    last = block.last_op
    assert last is not None
    value = last.operands[0]
    if value.owner is block or (isinstance(value.owner, Operation) and value.owner.parent is block):
        if isinstance(value.owner, Operation) and ops.constant(value) is not None:
            return value
        raise NotUnderstood("what it pads with depends on the place")
    return value


def _empty(op: Operation, x: Sequence[Array]) -> Array:
    return np.zeros(ops.shape(op.results[0]), NUMPY[ops.dtype(op.results[0])])


def _reshaped(op: Operation, x: Sequence[Array]) -> Array:
    return x[0].reshape(ops.shape(op.results[0]))


def _ints(x: Sequence[Array]) -> list[int | None]:
    return [int(each.reshape(-1)[0]) for each in x]


def _pad(op: Operation, x: Sequence[Array]) -> Array:
    value = ops.constant(padding_value(op))
    if value is None:
        raise NotUnderstood("what it pads with is no constant")
    lows = len(segments(op)[1])
    before = numbers(op, "low", _ints(x[1 : 1 + lows]))
    after = numbers(op, "high", _ints(x[1 + lows :]))
    around = [(a or 0, b or 0) for a, b in zip(before, after, strict=True)]
    return np.pad(x[0], around, constant_values=value.reshape(-1)[0])


def region_of(op: Operation, source: int, x: Sequence[int | None]) -> list[slice]:
    """Which elements tensor.extract_slice and insert_slice mean; operands before are `source`.

    Raises NotUnderstood for places that are not known.
    """
    counts = [len(each) for each in segments(op)]
    rest = list(x)
    given = []
    for count in counts[source:]:
        given.append(rest[:count])
        rest = rest[count:]
    starts = numbers(op, "offsets", given[0])
    sizes = numbers(op, "sizes", given[1])
    steps = numbers(op, "strides", given[2])
    found = []
    for start, size, step in zip(starts, sizes, steps, strict=True):
        if start is None or size is None or step is None:
            raise NotUnderstood("its offsets, sizes and strides must be known")
        if start < 0 or step < 1:
            raise NotUnderstood(f"offset {start} with stride {step}; from 0 and 1 on are possible")
        found.append(slice(start, start + (size - 1) * step + 1, step))
    return found


def _extract_slice(op: Operation, x: Sequence[Array]) -> Array:
    part = x[0][tuple(region_of(op, 1, _ints(x[1:])))]
    return part.reshape(ops.shape(op.results[0]))


def _insert_slice(op: Operation, x: Sequence[Array]) -> Array:
    result = np.array(x[1])
    where = tuple(region_of(op, 2, _ints(x[2:])))
    result[where] = x[0].reshape(result[where].shape)
    return result


def _concat(op: Operation, x: Sequence[Array]) -> Array:
    return np.concatenate(list(x), axis=ops.integer(op, "dim"))


def _splat(op: Operation, x: Sequence[Array]) -> Array:
    return np.broadcast_to(x[0].reshape(()), ops.shape(op.results[0]))


def _extract(op: Operation, x: Sequence[Array]) -> Array:
    return np.asarray(x[0][tuple(int(n.reshape(-1)[0]) for n in x[1:])])


def _from_elements(op: Operation, x: Sequence[Array]) -> Array:
    return np.stack([v.reshape(()) for v in x]).reshape(ops.shape(op.results[0]))


def _same(op: Operation, x: Sequence[Array]) -> Array:
    return x[0]


def _elements(op: Operation, x: Sequence[Array]) -> Array:
    """arith and math on whole tensors."""
    return scalars.MEANINGS[ops.name_of(op)](op, x)


def is_tensor(value: SSAValue) -> bool:
    """Whether a value has elements, and is no number."""
    return isinstance(value.type, TensorType)


MEANINGS: dict[str, Meaning] = {
    **dict.fromkeys(scalars.MEANINGS, _elements),
    "linalg.generic": generic,
    "tensor.empty": _empty,
    "tensor.expand_shape": _reshaped,
    "tensor.collapse_shape": _reshaped,
    "tensor.reshape": _reshaped,
    "tensor.cast": _same,
    "tensor.pad": _pad,
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice,
    "tensor.concat": _concat,
    "tensor.splat": _splat,
    "tensor.extract": _extract,
    "tensor.from_elements": _from_elements,
}
"""By the operation's name."""

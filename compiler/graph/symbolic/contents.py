"""Small tensors of whole numbers whose elements are sizes: what becomes of them on the host.

Models compute shapes with operators: Shape, Gather, Concat, and so on. Here they are done with
sizes that may have names, so that no kernel is needed for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .dims import Dim, Operation, combined

MOST: Final = 256
"""Elements of such a tensor."""
Elements = Any
"""An array of objects, each a size."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an operator is: its inputs' elements and its attributes."""

    inputs: Sequence[Elements]
    attributes: Mapping[str, Any]


def evaluated(op: str, asked: Asked) -> Elements | None:
    """The elements that an operator gives; None if it is none of those known here."""
    known = _KNOWN.get(op)
    if known is None:
        return None
    try:
        made = known(asked)
    except (IndexError, ValueError, TypeError, ZeroDivisionError):
        return None
    return None if made is None or made.size > MOST else made


def of(dims: Sequence[Dim]) -> Elements:
    """Sizes as a vector."""
    made = np.empty(len(dims), object)
    made[:] = list(dims)
    return made


def _arithmetic(operation: Operation) -> Callable[[Asked], Elements]:
    def apply(asked: Asked) -> Elements:
        made: Elements = np.frompyfunc(lambda a, b: combined(operation, a, b), 2, 1)(*asked.inputs)
        return np.asarray(made, object)

    return apply


def _divided(asked: Asked) -> Elements | None:
    """ONNX rounds towards 0; sizes are not negative, and others are not done here."""
    a, b = asked.inputs
    if any(isinstance(each, int) and each < 0 for each in (*a.flat, *b.flat)):
        return None
    return _arithmetic("floordiv")(asked)


def _gather(asked: Asked) -> Elements:
    data, indices = asked.inputs
    return np.asarray(np.take(data, indices.astype(np.int64), asked.attributes.get("axis", 0)))


def _concat(asked: Asked) -> Elements:
    return np.concatenate(asked.inputs, asked.attributes["axis"])


def _slice(asked: Asked) -> Elements:
    data, starts, ends = asked.inputs[:3]
    rank = data.ndim
    axes = asked.inputs[3] if len(asked.inputs) > 3 else range(rank)
    steps = asked.inputs[4] if len(asked.inputs) > 4 else [1] * len(starts)
    where = [slice(None)] * rank
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        where[int(axis)] = slice(int(start), int(end), int(step))
    return data[tuple(where)]


def _axes(asked: Asked) -> tuple[int, ...] | None:
    given = asked.attributes.get("axes")
    if given is None and len(asked.inputs) > 1:
        given = [int(axis) for axis in asked.inputs[1]]
    return None if given is None else tuple(given)


def _squeeze(asked: Asked) -> Elements:
    return np.squeeze(asked.inputs[0], _axes(asked))


def _unsqueeze(asked: Asked) -> Elements:
    return np.expand_dims(asked.inputs[0], _axes(asked) or ())


def _reshape(asked: Asked) -> Elements:
    return asked.inputs[0].reshape([int(size) for size in asked.inputs[1]])


def _range(asked: Asked) -> Elements:
    start, stop, step = (int(each.item()) for each in asked.inputs)
    return of(range(start, stop, step))


def _same(asked: Asked) -> Elements:
    return asked.inputs[0]


_KNOWN: Final[Mapping[str, Callable[[Asked], Elements | None]]] = {
    "Add": _arithmetic("add"),
    "Sub": _arithmetic("sub"),
    "Mul": _arithmetic("mul"),
    "Div": _divided,
    "Mod": _arithmetic("mod"),
    "Min": _arithmetic("min"),
    "Max": _arithmetic("max"),
    "Gather": _gather,
    "Concat": _concat,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Reshape": _reshape,
    "Range": _range,
    "Identity": _same,
    "Cast": _same,
}

"""Softmax in integers: exponentials by tables, 1 / their sum by Newton's steps."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .fixed_point import FixedPoint
from .model import Node
from .state import Convert, State, attribute
from .values import NotForNpu, Real, Tensor, Value
from .writer import Writer

_EXPONENTIAL_BITS = 24
"""Bits of an entry of the tables of exponentials; lines between entries add 7."""
_SUM_BITS = 12
"""Bits of the exponentials that sums do without: so 4096 of them fit."""
_MOST = 1 << _SUM_BITS
_RESULT_BITS = 20
"""Bits behind the point of the results."""
_FRACTION_BITS = 16
"""Bits behind the point of the power of two that an exponential of 16 bits is."""
_LEAST_POWER = 31
"""2 to minus this is nothing beside 31 bits."""


def softmax(state: State, node: Node) -> Value:
    """Softmax along an axis; before opset 13, along it and all behind it."""
    x = state.quantised(node, 0)
    shape = x.tensor.shape
    default = -1 if state.model.opset >= 13 or node.domain else 1
    axis = int(attribute(node, "axis", default)) % len(shape)
    if default == 1 and axis != len(shape) - 1:
        rows = (math.prod(shape[:axis]), math.prod(shape[axis:]))
        found = _softmax(state.writer, x.of(state.writer.reshape(x.tensor, rows)), 1)
        return found.of(state.writer.reshape(found.tensor, shape))
    return _softmax(state.writer, x, axis)


def _softmax(writer: Writer, x: Real, axis: int) -> Real:
    """Real numbers up to 1, in 32 bits."""
    if x.tensor.shape[axis] > _MOST:
        raise NotForNpu(f"a softmax of more than {_MOST} numbers")
    steps = FixedPoint(writer, x.tensor)
    wide = writer.rescale(x.tensor, 1.0, "int32", input_zp=x.zero_point)
    below = steps.sub(wide, steps.reduced("reduce_max", wide, [axis]))
    if x.tensor.dtype == "int8":
        exponentials = _of_few(writer, steps, below, x.step)
        rounded = steps.right(exponentials, _SUM_BITS)
        sums = steps.reduced("reduce_sum", rounded, [axis])
    else:
        exponentials = _of_many(writer, steps, below, x.step)
        sums = steps.total(exponentials, [axis], _SUM_BITS)
    zeros = steps.clz(sums)
    head = steps.sub(zeros, steps.number(1))
    product = steps.mul(exponentials, steps.inverse(steps.left(sums, head)), 30)
    # The exponentials have 31 bits behind the point, the sums 19, and `head` more.
    made = steps.right(product, steps.sub(43 - _RESULT_BITS, zeros))
    return Real(tensor=made, scale=np.asarray(2.0**-_RESULT_BITS))


def _of_few(writer: Writer, steps: FixedPoint, below: Tensor, step: float) -> Tensor:
    """exp(below * step) for at most 256 integers, with 31 bits behind the point: exactly."""
    # 128 times the integer meets every second entry of a table.
    places = writer.rescale(below, 128.0, "int16")
    return steps.looked_up(places, _entries(np.exp(np.minimum(np.arange(513) - 256, 0) * step)))


def _of_many(writer: Writer, steps: FixedPoint, below: Tensor, step: float) -> Tensor:
    """The same for integers of 17 bits: 2 to the fraction by tables, to the rest by a shift."""
    octaves = min(step / math.log(2), float(_LEAST_POWER))
    # One octave further than the shifts, so that products stay within 32 bits.
    kept = writer.clamp(below, -math.ceil((_LEAST_POWER + 1) / octaves), 0)
    scaled = writer.rescale(kept, octaves * (1 << _FRACTION_BITS), "int32")
    # All a bit smaller, so that the largest lies in an octave below 1, too: quotients stay.
    power = steps.add(scaled, -1)
    fraction = steps.binary("bitwise_and", power, (1 << _FRACTION_BITS) - 1)
    centred = steps.sub(fraction, steps.number(1 << (_FRACTION_BITS - 1)))
    places = writer.rescale(centred, 1.0, "int16")
    found = steps.looked_up(places, _entries(2.0 ** (np.arange(513) / 512 - 1)))
    octave = steps.right(power, _FRACTION_BITS, rounded=False)
    return steps.right(found, writer.clamp(steps.sub(-1, octave), 0, _LEAST_POWER))


def _entries(values: NDArray[np.float64]) -> NDArray[np.int64]:
    whole = np.rint(values * (1 << _EXPONENTIAL_BITS))
    return np.minimum(whole, (1 << _EXPONENTIAL_BITS) - 1).astype(np.int64)


OPERATORS: dict[tuple[str, str], Convert] = {("", "Softmax"): softmax}
"""By domain and name."""

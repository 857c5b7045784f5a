"""Normalisation of layers in integers: squares as block floating point, 1 / their root by a table.

Of real numbers x = step * v the step cancels but for epsilon: what is computed is
v / sqrt(mean(v^2) + epsilon / step^2), v less its mean before. The numbers of a row are shifted up
together as far as they go, so that rows of small numbers lose no bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..elements import Array
from .fixed_point import MOST_TOTAL_BITS, FixedPoint
from .model import Node
from .state import Convert, State, attribute
from .values import NotForNpu, Real, Tensor, Value

_VALUE_BITS = {"int8": 9, "int16": 16}
"""Bits of a number and its zero point's distance, without sign."""
_DIFFERENCE_BITS = 29
"""Bits of a difference to the mean, without sign: it is at most twice as large as a number."""
_GAMMA_BITS = 30


@dataclass(frozen=True, kw_only=True)
class _Norm:
    """What is computed: along `axes`, with factors and summands that broadcast to the tensor."""

    axes: tuple[int, ...]
    gamma: Array | None
    beta: Array | None
    epsilon: float
    centred: bool


def layer_normalisation(state: State, node: Node) -> Value:
    """LayerNormalization, along an axis and all behind it."""
    return _of_rows(state, node, centred=True)


def rms_normalisation(state: State, node: Node) -> Value:
    """RMSNormalization, which takes no mean off."""
    return _of_rows(state, node, centred=False)


def _of_rows(state: State, node: Node, *, centred: bool) -> Value:
    for name in node.outputs[1:]:
        if name and (name in state.model.outputs or state.model.readers.get(name)):
            raise NotForNpu("its means or deviations are read")
    x = state.quantised(node, 0)
    rank = len(x.tensor.shape)
    axis = int(attribute(node, "axis", -1)) % rank
    norm = _Norm(
        axes=tuple(range(axis, rank)),
        gamma=_factors(state, node, 1, "its scale"),
        beta=_factors(state, node, 2, "its bias"),
        epsilon=float(attribute(node, "epsilon", 1e-5)),
        centred=centred,
    )
    return normalised(state, x, norm)


def instance_normalisation(state: State, node: Node) -> Value:
    """InstanceNormalization: each plane by itself."""
    x = state.quantised(node, 0)
    rank = len(x.tensor.shape)
    gamma, beta = (_factors(state, node, n, "its scale or bias") for n in (1, 2))
    channels = (-1, *(1,) * (rank - 2))
    norm = _Norm(
        axes=tuple(range(2, rank)),
        gamma=None if gamma is None else gamma.reshape(channels),
        beta=None if beta is None else beta.reshape(channels),
        epsilon=float(attribute(node, "epsilon", 1e-5)),
        centred=True,
    )
    return normalised(state, x, norm)


def _factors(state: State, node: Node, index: int, what: str) -> Array | None:
    return state.known(node, index, what).astype(np.float64) if state.given(node, index) else None


def normalised(state: State, x: Real, norm: _Norm) -> Real:
    """Real numbers in 32 bits, whose scale is small. Raises NotForNpu."""
    count = math.prod(x.tensor.shape[axis] for axis in norm.axes)
    if count > 1 << MOST_TOTAL_BITS:
        raise NotForNpu(f"it is over {count} numbers, and {1 << MOST_TOTAL_BITS} are the most")
    if norm.epsilon < 0:
        raise NotForNpu(f"its epsilon is {norm.epsilon:g}")
    steps = FixedPoint(state.writer, x.tensor)
    fine = _DIFFERENCE_BITS - 1 - _VALUE_BITS[x.tensor.dtype]
    values = _differences(state, steps, x, norm, fine)
    found = _divided(state, steps, values, norm, count, norm.epsilon * 4.0**fine / x.step**2)
    return _with_factors(steps, found, norm)


def _differences(state: State, steps: FixedPoint, x: Real, norm: _Norm, fine: int) -> Tensor:
    """The integers less their mean, with `fine` bits behind the point."""
    wide = state.writer.rescale(x.tensor, 1.0, "int32", input_zp=x.zero_point)
    shifted = steps.left(wide, fine)
    if not norm.centred:
        return shifted
    total = steps.reduced("reduce_sum", wide, norm.axes)
    count = math.prod(x.tensor.shape[axis] for axis in norm.axes)
    return steps.sub(shifted, state.writer.rescale(total, 2.0**fine / count, "int32"))


def _divided(
    state: State, steps: FixedPoint, x: Tensor, norm: _Norm, count: int, epsilon: float
) -> Real:
    """x / sqrt(mean(x^2) + epsilon), where |x| < 2**30."""
    bits = math.ceil(math.log2(count)) | 1 if count > 1 else 1  # odd, so that roots are shifts
    # Beside sums of squares, which are divided by 2**(32 + bits), epsilon is this at no shift.
    beside = math.ldexp(epsilon * count, -32 - bits)
    most_up = _most_shift(beside)
    largest = steps.reduced("reduce_max", steps.abs(x), norm.axes)
    up = state.writer.clamp(steps.sub(steps.clz(largest), steps.number(1)), 0, most_up)
    moved = steps.left(x, up)
    squares = steps.mul(moved, moved, 32)
    total = steps.total(squares, norm.axes, bits)
    total = steps.add(total, _shifted(state, steps, beside, most_up, up))
    zeros = steps.binary("bitwise_and", steps.sub(steps.clz(total), steps.number(1)), 30)
    root = steps.inverse_root(steps.left(total, zeros))
    product = steps.mul(moved, root, 31)
    # The sum is at least 2**(26 - bits), so its zeros are at most `bits` and some.
    halves = (bits + 5) // 2
    down = steps.sub(halves, steps.right(zeros, 1, rounded=False))
    result = steps.right(product, state.writer.clamp(down, 0, halves))
    scale = math.sqrt(count) * 2.0 ** (2 + halves - (63 + bits) / 2)
    return Real(tensor=result, scale=np.asarray(scale))


def _most_shift(beside: float) -> int:
    """How far squares go up while epsilon stays below 30 bits. Raises NotForNpu."""
    if beside >= 1 << 30:
        raise NotForNpu("its epsilon is larger than all squares that integers can have")
    return 30 if beside == 0 else min(30, (30 - math.frexp(beside)[1]) // 2)


def _shifted(state: State, steps: FixedPoint, value: float, most: int, up: Tensor) -> Tensor:
    """value * 4**up, `up` being at most `most`; 1 at least."""
    whole = steps.number(max(1, round(math.ldexp(value, 2 * most))))
    down = steps.left(steps.sub(most, up), 1)
    return state.writer.clamp(steps.right(whole, state.writer.clamp(down, 0, 31)), 1, (1 << 31) - 1)


def _with_factors(steps: FixedPoint, x: Real, norm: _Norm) -> Real:
    """x * gamma + beta."""
    tensor, scale = x.tensor, x.step
    if norm.gamma is not None:
        most = float(np.abs(norm.gamma).max(initial=0)) or 1.0
        factors = np.rint(_ranked(norm.gamma, x) / most * (1 << _GAMMA_BITS))
        tensor = steps.mul(tensor, steps.numbers(factors), _GAMMA_BITS)
        scale *= most
    if norm.beta is not None and np.any(norm.beta):
        least = float(np.abs(norm.beta).max()) / (1 << 30)
        spare = max(1, math.ceil(math.log2(least / scale))) if least > scale / 2 else 1
        tensor = steps.right(tensor, spare)
        scale *= 2.0**spare
        tensor = steps.add(tensor, steps.numbers(np.rint(_ranked(norm.beta, x) / scale)))
    return Real(tensor=tensor, scale=np.asarray(scale))


def _ranked(values: Array, x: Real) -> Array:
    missing = len(x.tensor.shape) - values.ndim
    return values.reshape((1,) * missing + values.shape)


OPERATORS: dict[tuple[str, str], Convert] = {
    ("", "LayerNormalization"): layer_normalisation,
    ("", "RMSNormalization"): rms_normalisation,
    ("", "SimplifiedLayerNormalization"): rms_normalisation,
    ("", "InstanceNormalization"): instance_normalisation,
}
"""By domain and name."""

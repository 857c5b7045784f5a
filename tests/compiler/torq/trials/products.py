"""Products of matrices. A layer of weights is a convolution of one pixel in TOSA 1.0."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from assay.compiler.torq.operators.quantisation import Rescale
from tests.compiler.torq import by_hand, tosa
from tests.compiler.torq import tosa_operators as op
from tests.compiler.torq.iree_tosa import Function
from tests.compiler.torq.machine import Array, Machine, numbers

from .trial import Trial

TYPES = (("int8", "int8"), ("int8", "int16"), ("int16", "int8"), ("int16", "int16"))


def fully_connected(
    n: int,
    i: int,
    o: int,
    dtype: str,
    seed: int,
    *,
    zero_point: int = 0,
    spread: int = 0,
) -> Trial:
    """x (n, i) of int8 or int16 with `o` outputs of int8; shifts differ by up to `spread`."""
    x, weights = numbers(seed, (n, i), dtype), numbers(seed + 1, (o, i), "int8")
    bias = numbers(seed + 2, (o,), "int32", bound=1000)
    chance = np.random.default_rng(seed)
    bits, usual = (30, 42) if dtype == "int8" else (14, 34)
    multipliers = tuple(int(m) for m in chance.integers(1 << bits, 1 << (bits + 1), o))
    shifts = tuple(usual - int(s) for s in chance.integers(0, spread + 1, o))
    rescale = Rescale(multipliers=multipliers, shifts=shifts, zero_point=-5)
    machine = Machine()
    output = machine.room("y", "int8", (n, o))
    given_x = machine.give("x", x)
    machine.run(
        by_hand.fully_connected(
            machine.layout, given_x, weights, bias, output, rescale=rescale, input_zp=zero_point
        )
    )
    sums = tosa.fully_connected(x, weights, bias, input_zp=zero_point)
    expected = tosa.rescale(sums, multipliers, shifts, output_zp=-5)
    f = Function()
    result = op.convolution(
        "conv2d",
        f.argument(x.reshape(n, 1, 1, i)),
        f.argument(weights.reshape(o, 1, 1, i)),
        f.argument(bias),
        (1, 1, o),
        pad=(0, 0, 0, 0),
        stride=(1, 1),
        input_zp=zero_point,
    )
    result = op.rescale(result, multipliers, shifts, output_zp=-5)
    return Trial.of(machine, output, expected, op.reshape(result, (n, o)))


def matmul(
    sizes: tuple[int, int, int, int],
    types: tuple[str, str],
    seed: int,
    *,
    rescale: Rescale | None = None,
) -> Trial:
    """(n, h, c) times (n, c, w), scaled to int8 or as they are. TOSA multiplies like types.

    Sums of int16 have 48 bits; those that are not scaled fit 32.
    """
    n, h, c, w = sizes
    bound = math.isqrt((1 << 31) // c) - 1 if rescale is None else None
    a = numbers(seed, (n, h, c), types[0], bound=bound)
    b = numbers(seed + 1, (n, c, w), types[1], bound=bound)
    machine = Machine()
    output = machine.room("y", "int32" if rescale is None else "int8", (n, h, w))
    given = machine.give("a", a), machine.give("b", b)
    machine.run(by_hand.matmul(machine.layout, *given, output, rescale=rescale))
    f = Function()
    wide = "int16" if "int16" in types else "int8"
    result = op.matmul(*[op.cast(f.argument(x), wide) for x in (a, b)])
    sums = tosa.matmul(a.astype(wide), b.astype(wide))
    if rescale is None:
        return Trial.of(machine, output, sums, op.saturated(result, "int32"))
    how = (rescale.multipliers, rescale.shifts)
    return Trial.of(machine, output, tosa.rescale(sums, *how), op.rescale(result, *how))


def float_matmul(sizes: tuple[int, int, int, int], seed: int) -> Trial:
    """Of bfloat16: sums are float32, rounded after each product, in the order of the products.

    IREE sums in the same order. The products themselves are exact in float32.
    """
    n, h, c, w = sizes
    a, b = numbers(seed, (n, h, c), "bfloat16"), numbers(seed + 1, (n, c, w), "bfloat16")
    machine = Machine()
    output = machine.room("y", "bfloat16", (n, h, w))
    given = machine.give("a", a), machine.give("b", b)
    machine.run(by_hand.matmul(machine.layout, *given, output))
    f = Function()
    result = op.cast(op.matmul(f.argument(a), f.argument(b)), "bfloat16")
    return Trial.of(machine, output, _sums(a, b).astype(ml_dtypes.bfloat16), result)


def _sums(a: Array, b: Array) -> Array:
    total = np.zeros((*a.shape[:2], b.shape[2]), np.float32)
    for k in range(a.shape[2]):
        total = total + a[:, :, k, None].astype(np.float32) * b[:, k, None].astype(np.float32)
    return total

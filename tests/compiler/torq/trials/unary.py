"""One tensor element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np

from assay.compiler.torq.operators.quantisation import Rescale
from tests.compiler.torq import by_hand, tosa
from tests.compiler.torq import tosa_operators as op
from tests.compiler.torq.iree_tosa import Function, Value
from tests.compiler.torq.machine import SPECIAL, Array, Machine, numbers

from .trial import Trial

INTEGER_MODES = ("copy", "clamp", "ABS", "NEG", "CLZ")
FLOAT_MODES = ("ABS", "NEG", "CEIL", "FLOOR")
_LOW, _HIGH = -7, 90


def whole(mode: str, dtype: str, shape: Sequence[int], seed: int) -> Trial:
    """One of INTEGER_MODES; `copy` also of floats.

    TOSA leaves open what -2**31 without its sign is.
    """
    x = numbers(seed, shape, dtype)
    if dtype in ("int8", "int16"):
        x.ravel()[0] = np.iinfo(dtype).min
    machine = Machine()
    given_x, output = machine.give("x", x), machine.room("y", dtype, shape)
    if mode == "copy":
        machine.run(by_hand.copy(given_x, output))
    elif mode == "clamp":
        machine.run(by_hand.clamp(given_x, output, _LOW, _HIGH))
    else:
        machine.run(by_hand.unary(mode, given_x, output))
    expected, result = _WHOLE[mode](x, Function().argument(x))
    return Trial.of(machine, output, expected, result)


def _copy(x: Array, value: Value) -> tuple[Array, Value]:
    return x, op.unary("identity", value)


def _clamp(x: Array, value: Value) -> tuple[Array, Value]:
    return tosa.clamp(x, _LOW, _HIGH), op.clamp(value, _LOW, _HIGH)


def _absolute(x: Array, value: Value) -> tuple[Array, Value]:
    wide = op.unary("abs", op.cast(value, "int32"))
    return tosa.absolute(x), op.saturated(wide, value.dtype)


def _negate(x: Array, value: Value) -> tuple[Array, Value]:
    return tosa.negate(x), op.negate(value)


def _clz(x: Array, value: Value) -> tuple[Array, Value]:
    """TOSA counts in 32 bits: of fewer, the leading ones are not theirs."""
    bits = 8 * x.itemsize
    unsigned = x.astype(np.int64) & ((1 << bits) - 1)
    expected = tosa.clz(unsigned) - (32 - bits)
    if bits == 32:
        return expected, op.unary("clz", value)
    ones = (1,) * len(x.shape)
    f = value.function
    mask, less = (op.reshape(f.constant([n], "int32"), ones) for n in ((1 << bits) - 1, 32 - bits))
    own = op.binary("bitwise_and", op.cast(value, "int32"), mask)
    return expected, op.cast(op.binary("sub", op.unary("clz", own), less), value.dtype)


_WHOLE: dict[str, Callable[[Array, Value], tuple[Array, Value]]] = {
    "copy": _copy,
    "clamp": _clamp,
    "ABS": _absolute,
    "NEG": _negate,
    "CLZ": _clz,
}


def floating(mode: str, shape: Sequence[int], seed: int) -> Trial:
    """One of FLOAT_MODES of bfloat16."""
    x = floats(seed, shape, 40)
    x.ravel()[::4] = np.resize((*SPECIAL, 0.0, -0.0), len(x.ravel()[::4]))
    machine = Machine()
    given_x, output = machine.give("x", x), machine.room("y", "bfloat16", shape)
    machine.run(by_hand.unary(mode, given_x, output))
    value = Function().argument(x)
    reference, name = {
        "ABS": (np.abs, "abs"),
        "NEG": (np.negative, "negate"),
        "CEIL": (np.ceil, "ceil"),
        "FLOOR": (np.floor, "floor"),
    }[mode]
    result = op.negate(value) if name == "negate" else op.unary(name, value)
    expected = reference(x.astype(np.float32)).astype(ml_dtypes.bfloat16)
    return Trial.of(machine, output, expected, result)


def floats(seed: int, shape: Sequence[int], scale: float) -> Array:
    """Numbers of bfloat16 around 0, with halves among them."""
    x = numbers(seed, shape, "bfloat16").astype(np.float32) * scale
    x.ravel()[::3] = np.rint(x.ravel()[::3]) + 0.5
    return x.astype(ml_dtypes.bfloat16)


def to_integer(dtype: str, shape: Sequence[int], seed: int, scale: float = 90) -> Trial:
    """`cast` of bfloat16: the nearest, of two the even one, saturated."""
    x = floats(seed, shape, scale)
    machine = Machine()
    given_x, output = machine.give("x", x), machine.room("y", dtype, shape)
    machine.run(by_hand.cast(given_x, output))
    info = np.iinfo(dtype)
    expected = np.clip(np.rint(x.astype(np.float64)), int(info.min), int(info.max)).astype(dtype)
    return Trial.of(machine, output, expected, op.cast(Function().argument(x), dtype))


def to_float(dtype: str, result: str, shape: Sequence[int], seed: int) -> Trial:
    """`cast` of integers to bfloat16 or float32; to bfloat16 by way of float32, in both.

    IREE cannot link a cast to bfloat16 (`__truncsfbf2` is missing) unless some functions are behind
    it: CEIL, which changes no whole number, is one.
    """
    x = numbers(seed, shape, dtype)
    machine = Machine()
    given_x, output = machine.give("x", x), machine.room("y", result, shape)
    machine.run(by_hand.cast(given_x, output))
    expected = x.astype(np.float32)
    if result == "bfloat16":
        expected = expected.astype(ml_dtypes.bfloat16)
    value = op.cast(Function().argument(x), "float32")
    if result == "bfloat16":
        value = op.unary("ceil", op.cast(value, result))
    return Trial.of(machine, output, expected, value)


def rescale(
    dtype: str,
    result: str,
    shape: Sequence[int],
    scale: tuple[int, int],
    zero_points: tuple[int, int],
    seed: int,
) -> Trial:
    """`rescale` with `scale` (multiplier, shift) and zero points of input and output.

    Only of 8 bits does TOSA know zero points; of more they are a difference and a sum here.
    """
    x = numbers(seed, shape, dtype, bound=1 << 30)
    info = np.iinfo(result)
    (multiplier, shift), (before, after) = scale, zero_points
    scaling = Rescale(
        multipliers=(multiplier,),
        shifts=(shift,),
        zero_point=after,
        low=int(info.min),
        high=int(info.max),
    )
    machine = Machine()
    given_x, output = machine.give("x", x), machine.room("y", result, shape)
    machine.run(by_hand.rescale(machine.layout, given_x, output, rescale=scaling, input_zp=before))
    expected = tosa.rescale(
        x, [multiplier], [shift], input_zp=before, output_zp=after, dtype=result
    )
    value = Function().argument(x)
    if before and dtype not in ("int8", "uint8"):
        value, before = _plus(op.cast(value, "int32"), -before), 0
    own = after if result in ("int8", "uint8") else 0
    narrow = result if own == after else "int32"
    scaled = op.rescale(value, [multiplier], [shift], input_zp=before, output_zp=own, dtype=narrow)
    if own != after:
        scaled = op.saturated(_plus(scaled, after), result)
    return Trial.of(machine, output, expected, scaled)


def _plus(x: Value, number: int) -> Value:
    addend = op.reshape(x.function.constant([number], x.dtype), (1,) * len(x.shape))
    return op.binary("add", x, addend)


def table(dtype: str, shape: Sequence[int], seed: int) -> Trial:
    """`table`, of int16 rounded to whole numbers: in TOSA a shift behind it."""
    x = numbers(seed, shape, dtype)
    if dtype == "int8":
        entries = numbers(seed + 1, (256,), "int8")
        expected = tosa.table(x, entries)
    else:
        steps = np.random.default_rng(seed).integers(-300, 300, 513)
        entries = np.clip(np.cumsum(steps), -(1 << 15), (1 << 15) - 1).astype(np.int16)
        expected = tosa.rescale(tosa.table(x, entries), [1 << 30], [37], dtype="int16")
    machine = Machine()
    given_x, output = machine.give("x", x), machine.room("y", dtype, shape)
    machine.run(by_hand.table(machine.layout, given_x, output, [int(e) for e in entries]))
    f = Function()
    result = op.table(f.argument(x), f.constant(entries.tolist(), dtype))
    if dtype == "int16":
        result = op.rescale(result, [1 << 30], [37], dtype="int16")
    return Trial.of(machine, output, expected, result)

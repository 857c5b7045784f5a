"""Two tensors element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from assay.compiler.torq.operators.quantisation import Rescale
from tests.compiler.torq import by_hand, tosa
from tests.compiler.torq import tosa_operators as op
from tests.compiler.torq.iree_tosa import Function, Value
from tests.compiler.torq.machine import SPECIAL, Array, Machine, numbers

from .trial import Trial

INTEGERS = ("int8", "int16", "int32")
TYPES = (*INTEGERS, "bfloat16")
PRODUCTS = (
    ("int8", "int8"),
    ("int16", "int16"),
    ("int16", "int8"),
    ("int32", "int8"),
    ("bfloat16", "bfloat16"),
)
"""What `mul` multiplies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """An operation as NumPy has it and as TOSA calls it; `kind` says what goes in and comes out."""

    numpy: Callable[[Array, Array], Array]
    tosa: str
    kind: str = "numbers"


COMBINATIONS = {
    "MAX": Combination(numpy=np.maximum, tosa="maximum"),
    "MIN": Combination(numpy=np.minimum, tosa="minimum"),
    "GT": Combination(numpy=np.greater, tosa="greater", kind="comparison"),
    "GE": Combination(numpy=np.greater_equal, tosa="greater_equal", kind="comparison"),
    "EQ": Combination(numpy=np.equal, tosa="equal", kind="comparison"),
    "AND": Combination(numpy=np.logical_and, tosa="logical_and", kind="logic"),
    "OR": Combination(numpy=np.logical_or, tosa="logical_or", kind="logic"),
    "XOR": Combination(numpy=np.logical_xor, tosa="logical_xor", kind="logic"),
    "BAND": Combination(numpy=np.bitwise_and, tosa="bitwise_and", kind="bits"),
    "BOR": Combination(numpy=np.bitwise_or, tosa="bitwise_or", kind="bits"),
    "BXOR": Combination(numpy=np.bitwise_xor, tosa="bitwise_xor", kind="bits"),
}


def pair(seed: int, shape: Sequence[int], dtype: str) -> tuple[Array, Array]:
    """Two arrays that agree here and there, with sums of 32 bits; of floats with special ones."""
    bound = 1 << 30
    a, b = numbers(seed, shape, dtype, bound=bound), numbers(seed + 1, shape, dtype, bound=bound)
    b.ravel()[::3] = a.ravel()[::3]
    if dtype == "bfloat16":
        for every, values in ((4, a.ravel()), (7, b.ravel())):
            values[::every] = np.resize(SPECIAL, len(values[::every]))
    return a, b


def combination(name: str, dtype: str, shape: Sequence[int], seed: int) -> Trial:
    """One of COMBINATIONS. TOSA compares int32 and combines truths of their own type."""
    how = COMBINATIONS[name]
    a, b = pair(seed, shape, dtype)
    if how.kind == "logic":
        a.ravel()[1::4] = 0
    machine = Machine()
    output = machine.room("y", dtype if how.kind in ("numbers", "bits") else "int8", shape)
    machine.run(by_hand.combine(name, machine.give("a", a), machine.give("b", b), output))
    f = Function()
    given = [f.argument(a), f.argument(b)]
    if how.kind == "bits":
        result = op.binary(how.tosa, *given)
    elif how.kind == "logic":
        result = op.cast(op.binary(how.tosa, *[op.cast(x, "bool") for x in given]), "int8")
    else:
        wide = [x if x.dtype == "bfloat16" else op.cast(x, "int32") for x in given]
        truth = how.kind == "comparison"
        result = op.binary(how.tosa, *wide, dtype="bool" if truth else None)
        result = op.cast(result, output.dtype)
    with np.errstate(invalid="ignore"):
        expected = how.numpy(a, b)
    return Trial.of(machine, output, expected.astype(output.dtype), result)


def total(name: str, dtype: str, result: str, shape: Sequence[int], seed: int) -> Trial:
    """`add` or `sub`, saturated to the type of the result. TOSA adds int32; bfloat16 as it is."""
    a, b = pair(seed, shape, dtype)
    machine = Machine()
    output = machine.room("y", result, shape)
    machine.run(getattr(by_hand, name)(machine.give("a", a), machine.give("b", b), output))
    f = Function()
    given = [f.argument(a), f.argument(b)]
    if dtype == "bfloat16":
        reference = {"add": np.add, "sub": np.subtract}[name]
        with np.errstate(invalid="ignore", over="ignore"):
            wide = reference(a.astype(np.float32), b.astype(np.float32))
        expected = wide.astype(ml_dtypes.bfloat16)
        return Trial.of(machine, output, expected, op.binary(name, *given))
    expected = {"add": tosa.add, "sub": tosa.sub}[name](a, b)
    sums = op.binary(name, *[op.cast(x, "int32") for x in given])
    if result != "int32":
        info = np.iinfo(result)
        expected = tosa.clamp(expected, int(info.min), int(info.max))
    return Trial.of(machine, output, expected, op.saturated(sums, result))


def product(
    types: tuple[str, str], rescale: Rescale | None, shape: Sequence[int], seed: int
) -> Trial:
    """`mul`, scaled to int8 or as it is. TOSA multiplies like types; products have 32 bits."""
    a, b = numbers(seed, shape, types[0], bound=1 << 23), numbers(seed + 1, shape, types[1])
    if types[0] == "bfloat16":
        a, b = pair(seed, shape, types[0])
    elif types[0] != "int32":
        a.ravel()[0], b.ravel()[0] = np.iinfo(types[0]).min, np.iinfo(types[1]).min
    machine = Machine()
    output = machine.room("y", _product_type(types[0], rescale), shape)
    given_a, given_b = machine.give("a", a), machine.give("b", b)
    machine.run(by_hand.mul(machine.layout, given_a, given_b, output, rescale=rescale))
    f = Function()
    result = op.mul(f.argument(a), op.cast(f.argument(b), types[0]))
    if types[0] == "bfloat16":
        with np.errstate(invalid="ignore", over="ignore"):
            wide = a.astype(np.float32) * b.astype(np.float32)
        return Trial.of(machine, output, wide.astype(ml_dtypes.bfloat16), result)
    expected: Array = tosa.mul(a, b)
    if rescale is not None:
        expected, result = scaled(expected, result, rescale)
    return Trial.of(machine, output, expected, result)


def _product_type(dtype: str, rescale: Rescale | None) -> str:
    if dtype == "bfloat16":
        return dtype
    return "int32" if rescale is None else "int8"


def scaled(expected: Array, result: Value, rescale: Rescale) -> tuple[Array, Value]:
    """Both behind a RESCALE to int8."""
    how = (rescale.multipliers, rescale.shifts)
    zero_point = rescale.zero_point
    return (
        tosa.rescale(expected, *how, output_zp=zero_point),
        op.rescale(result, *how, output_zp=zero_point),
    )


def scaled_sum(
    dtype: str,
    shape: Sequence[int],
    weights: tuple[int, int],
    bias: int,
    shift: int,
    seed: int,
) -> Trial:
    """`add_scaled`: in TOSA two products, their sum, a bias and one RESCALE."""
    a, b = numbers(seed, shape, dtype), numbers(seed + 1, shape, dtype)
    scaling = Rescale(multipliers=(1 << 30,), shifts=(shift,), zero_point=3)
    machine = Machine()
    given_a, given_b = machine.give("a", a), machine.give("b", b)
    output = machine.room("y", "int8", shape)
    machine.run(
        by_hand.add_scaled(
            machine.layout, given_a, given_b, output, weights=weights, rescale=scaling, bias=bias
        )
    )
    sums = tosa.add(tosa.mul(a, np.array(weights[0])), tosa.mul(b, np.array(weights[1])))
    sums = tosa.add(sums, np.array(bias))
    f = Function()
    ones = (1,) * len(shape)
    factors = [op.reshape(f.constant([w], "int32"), ones) for w in (*weights, bias)]
    parts = [
        _times(f.argument(x), weight, factor)
        for x, weight, factor in zip((a, b), weights, factors, strict=False)
    ]
    result = op.binary("add", op.binary("add", *parts), factors[2])
    return Trial.of(machine, output, *scaled(sums, result, scaling))


def _times(x: Value, weight: int, factor: Value) -> Value:
    """A multiple: by RESCALE, as models have it, which however takes no negative multiplier."""
    if weight > 0:
        return op.rescale(x, [weight << 15], [15], dtype="int32")
    return op.mul(op.cast(x, "int32"), factor)

"""Element-wise kernels on the emulated slice against the reference of TOSA."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.compiler.torq.kernels import elementwise, selection, unary
from assay.compiler.torq.slice.errors import IllegalSliceProgram
from assay.compiler.torq.slice.scaling import Rescale

from . import tosa
from .machine import Array, Machine, numbers

INTEGERS = ("int8", "int16", "int32")
SHAPES = st.lists(st.integers(1, 40), min_size=1, max_size=3).filter(
    lambda shape: int(np.prod(shape)) <= 900
)
COMBINATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "MAX": np.maximum,
    "MIN": np.minimum,
    "GT": np.greater,
    "GE": np.greater_equal,
    "EQ": np.equal,
    "AND": np.logical_and,
    "OR": np.logical_or,
    "XOR": np.logical_xor,
    "BAND": np.bitwise_and,
    "BOR": np.bitwise_or,
    "BXOR": np.bitwise_xor,
}
TRUTHS = ("GT", "GE", "EQ", "AND", "OR", "XOR")


def _pair(seed: int, shape: list[int], dtype: str) -> tuple[Array, Array]:
    """Two arrays that agree here and there."""
    bound = 1 << 30
    a, b = numbers(seed, shape, dtype, bound=bound), numbers(seed + 1, shape, dtype, bound=bound)
    b.ravel()[::3] = a.ravel()[::3]
    return a, b


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", COMBINATIONS)
@given(shape=SHAPES, seed=st.integers(0, 99))
@settings(max_examples=3, deadline=None)
def test_combinations_equal_the_reference(op: str, dtype: str, shape: list[int], seed: int) -> None:
    machine = Machine()
    a, b = _pair(seed, shape, dtype)
    output = machine.room("y", "int8" if op in TRUTHS else dtype, shape)
    machine.run(elementwise.combine(op, machine.give("a", a), machine.give("b", b), output))
    expected = COMBINATIONS[op](a, b)
    np.testing.assert_array_equal(machine.take(output), expected.astype(output.dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
@given(shape=SHAPES, seed=st.integers(0, 99))
@settings(max_examples=5, deadline=None)
def test_sums_and_differences_equal_the_reference(dtype: str, shape: list[int], seed: int) -> None:
    a, b = _pair(seed, shape, dtype)
    for kernel, reference in ((elementwise.add, tosa.add), (elementwise.sub, tosa.sub)):
        machine = Machine()
        output = machine.room("y", "int32", shape)
        machine.run(kernel(machine.give("a", a), machine.give("b", b), output))
        np.testing.assert_array_equal(machine.take(output), reference(a, b))


@pytest.mark.parametrize("types", [("int8", "int8"), ("int16", "int16"), ("int16", "int8")])
@given(shape=SHAPES, seed=st.integers(0, 99))
@settings(max_examples=5, deadline=None)
def test_products_equal_the_reference(types: tuple[str, str], shape: list[int], seed: int) -> None:
    machine = Machine()
    a, b = numbers(seed, shape, types[0]), numbers(seed + 1, shape, types[1])
    output = machine.room("y", "int32", shape)
    given_a, given_b = machine.give("a", a), machine.give("b", b)
    machine.run(elementwise.mul(machine.layout, given_a, given_b, output))
    np.testing.assert_array_equal(machine.take(output), tosa.mul(a, b))


@pytest.mark.parametrize("dtype", INTEGERS)
@given(shape=SHAPES, seed=st.integers(0, 99))
@settings(max_examples=5, deadline=None)
def test_unary_operators_equal_the_reference(dtype: str, shape: list[int], seed: int) -> None:
    x = numbers(seed, shape, dtype)
    high = np.iinfo(dtype).max
    wide = x.astype(np.int64)
    expected = {
        "copy": x,
        "clamp": np.clip(x, -7, 90),
        "ABS": np.minimum(np.abs(wide), high),
        "NEG": np.minimum(-wide, high),
    }
    if dtype == "int32":
        expected["CLZ"] = tosa.clz(x)
    for name, wanted in expected.items():
        machine = Machine()
        given_x, output = machine.give("x", x), machine.room("y", dtype, shape)
        if name == "copy":
            machine.run(unary.copy(given_x, output))
        elif name == "clamp":
            machine.run(unary.clamp(given_x, output, -7, 90))
        else:
            machine.run(unary.unary(name, given_x, output))
        np.testing.assert_array_equal(machine.take(output), wanted, err_msg=name)


@pytest.mark.parametrize("output_type", ["int8", "int16"])
@pytest.mark.parametrize("dtype", INTEGERS)
@given(
    shape=SHAPES,
    seed=st.integers(0, 99),
    multiplier=st.integers(1 << 30, (1 << 31) - 1),
    extra=st.integers(0, 3),
    zero_points=st.tuples(st.integers(-100, 100), st.integers(-100, 100)),
)
@settings(max_examples=5, deadline=None)
def test_rescale_equals_the_reference(
    dtype: str,
    output_type: str,
    shape: list[int],
    seed: int,
    multiplier: int,
    extra: int,
    zero_points: tuple[int, int],
) -> None:
    machine = Machine()
    x = numbers(seed, shape, dtype, bound=1 << 30)
    shift = {"int8": 31, "int16": 38, "int32": 53}[dtype] + extra
    low, high = (int(n) for n in (np.iinfo(output_type).min, np.iinfo(output_type).max))
    scaling = Rescale(
        multipliers=(multiplier,), shifts=(shift,), zero_point=zero_points[1], low=low, high=high
    )
    given_x, output = machine.give("x", x), machine.room("y", output_type, shape)
    machine.run(
        unary.rescale(machine.layout, given_x, output, rescale=scaling, input_zp=zero_points[0])
    )
    expected = tosa.rescale(
        x,
        [multiplier],
        [shift],
        input_zp=zero_points[0],
        output_zp=zero_points[1],
        dtype=output_type,
    )
    np.testing.assert_array_equal(machine.take(output), expected)


@given(shape=SHAPES, seed=st.integers(0, 99))
@settings(max_examples=8, deadline=None)
def test_tables_equal_the_reference(shape: list[int], seed: int) -> None:
    for dtype in ("int8", "int16"):
        machine = Machine()
        x = numbers(seed, shape, dtype)
        if dtype == "int8":
            entries = numbers(seed + 1, (256,), "int8")
            expected = tosa.table(x, entries)
        else:
            steps = np.random.default_rng(seed).integers(-60, 60, 513)
            entries = np.cumsum(steps).astype(np.int16)
            expected = (tosa.table(x, entries).astype(np.int64) + 64) >> 7
        given_x, output = machine.give("x", x), machine.room("y", dtype, shape)
        machine.run(unary.table(machine.layout, given_x, output, [int(e) for e in entries]))
        np.testing.assert_array_equal(machine.take(output), expected)


@pytest.mark.parametrize("dtype", INTEGERS)
@given(shape=SHAPES, seed=st.integers(0, 99))
@settings(max_examples=5, deadline=None)
def test_select_equals_the_reference(dtype: str, shape: list[int], seed: int) -> None:
    machine = Machine()
    condition = np.random.default_rng(seed).integers(0, 2, shape).astype(np.int8)
    a, b = _pair(seed, shape, dtype)
    output = machine.room("y", dtype, shape)
    parts = [machine.give(name, x) for name, x in (("c", condition), ("a", a), ("b", b))]
    machine.run(selection.select(*parts, output))
    np.testing.assert_array_equal(machine.take(output), np.where(condition == 1, a, b))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("direction", selection.SHIFTS)
@given(shape=SHAPES, seed=st.integers(0, 99), rounding=st.booleans())
@settings(max_examples=5, deadline=None)
def test_shifts_equal_the_reference(
    direction: str, dtype: str, shape: list[int], seed: int, rounding: bool
) -> None:
    machine = Machine()
    rounding = rounding and direction == "right_arithmetic"
    a = numbers(seed, shape, dtype)
    amounts = np.random.default_rng(seed).integers(0, 8 * a.itemsize, shape).astype(dtype)
    output = machine.room("y", dtype, shape)
    given_a, given_b = machine.give("a", a), machine.give("b", amounts)
    machine.run(selection.shift(direction, given_a, given_b, output, rounding=rounding))
    bits, by = a.view(f"u{dtype}"), amounts.view(f"u{dtype}")
    expected = {
        "left": lambda: (bits << by).view(dtype),
        "right_logical": lambda: (bits >> by).view(dtype),
        "right_arithmetic": lambda: tosa.arithmetic_right_shift(a, amounts, rounding=rounding),
    }[direction]()
    np.testing.assert_array_equal(machine.take(output), expected)


def test_bfloat16_operators_round_once() -> None:
    a, b = numbers(0, (5, 37), "bfloat16"), numbers(1, (5, 37), "bfloat16")
    wide = a.astype(np.float32), b.astype(np.float32)
    for name, reference in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply)):
        machine = Machine()
        given_a, given_b = machine.give("a", a), machine.give("b", b)
        output = machine.room("y", "bfloat16", (5, 37))
        if name == "mul":
            machine.run(elementwise.mul(machine.layout, given_a, given_b, output))
        else:
            machine.run(getattr(elementwise, name)(given_a, given_b, output))
        expected = reference(*wide).astype(ml_dtypes.bfloat16)
        np.testing.assert_array_equal(
            machine.take(output).view(np.uint16), expected.view(np.uint16), err_msg=name
        )


def test_unlike_shapes_are_refused() -> None:
    machine = Machine()
    a, b = machine.room("a", "int8", (4,)), machine.room("b", "int8", (5,))
    with pytest.raises(IllegalSliceProgram, match="not alike"):
        elementwise.add(a, b, a)


@given(
    dtype=st.sampled_from(["int8", "int16"]),
    shape=SHAPES,
    weights=st.tuples(*[st.integers(-(1 << 15), (1 << 15) - 1)] * 2),
    bias=st.integers(-(1 << 20), 1 << 20),
    seed=st.integers(0, 99),
)
@settings(max_examples=15, deadline=None)
def test_scaled_sums_are_rounded_once(
    dtype: str, shape: list[int], weights: tuple[int, int], bias: int, seed: int
) -> None:
    machine = Machine()
    a, b = numbers(seed, shape, dtype), numbers(seed + 1, shape, dtype)
    scaling = Rescale(multipliers=(1 << 30,), shifts=(45,), zero_point=3)
    given_a, given_b = machine.give("a", a), machine.give("b", b)
    output = machine.room("y", "int8", shape)
    machine.run(
        elementwise.add_scaled(
            machine.layout,
            given_a,
            given_b,
            output,
            weights=weights,
            rescale=scaling,
            bias=bias,
        )
    )
    total = a.astype(np.int64) * weights[0] + b.astype(np.int64) * weights[1] + bias
    expected = np.clip(((total * (1 << 30) + (1 << 44)) >> 45) + 3, -128, 127)
    np.testing.assert_array_equal(machine.take(output), expected)


@given(shape=SHAPES, seed=st.integers(0, 99))
@settings(max_examples=8, deadline=None)
def test_bfloat16_modes_equal_numpy(shape: list[int], seed: int) -> None:
    x = (numbers(seed, shape, "bfloat16").astype(np.float32) * 40).astype(ml_dtypes.bfloat16)
    wide = x.astype(np.float32)
    expected = {"ABS": np.abs(wide), "NEG": -wide, "CEL": np.ceil(wide), "FLR": np.floor(wide)}
    for mode, wanted in expected.items():
        machine = Machine()
        given_x, output = machine.give("x", x), machine.room("y", "bfloat16", shape)
        machine.run(unary.unary(mode, given_x, output))
        np.testing.assert_array_equal(
            machine.take(output).view(np.uint16),
            wanted.astype(ml_dtypes.bfloat16).view(np.uint16),
            err_msg=mode,
        )


@pytest.mark.parametrize("dtype", INTEGERS)
@given(shape=SHAPES, seed=st.integers(0, 99))
@settings(max_examples=6, deadline=None)
def test_casts_round_to_nearest_even_and_saturate(dtype: str, shape: list[int], seed: int) -> None:
    x = (numbers(seed, shape, "bfloat16").astype(np.float32) * 90).astype(ml_dtypes.bfloat16)
    info = np.iinfo(dtype)
    machine = Machine()
    given_x, output = machine.give("x", x), machine.room("y", dtype, shape)
    machine.run(unary.cast(given_x, output))
    rounded = np.clip(np.rint(x.astype(np.float64)), info.min, info.max)
    np.testing.assert_array_equal(machine.take(output), rounded.astype(dtype))
    whole = numbers(seed, shape, dtype)
    given_whole, floats = machine.give("w", whole), machine.room("f", "bfloat16", shape)
    machine.run(unary.cast(given_whole, floats))
    wanted = whole.astype(np.float32).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(machine.take(floats).view(np.uint16), wanted.view(np.uint16))


def test_modes_of_the_other_format_are_refused() -> None:
    machine = Machine()
    x, f = machine.room("x", "int8", (4,)), machine.room("f", "bfloat16", (4,))
    with pytest.raises(IllegalSliceProgram, match="no mode FLR of int8"):
        unary.unary("FLR", x, x)
    with pytest.raises(IllegalSliceProgram, match="no mode CLZ of bfloat16"):
        unary.unary("CLZ", f, f)
    with pytest.raises(IllegalSliceProgram, match="cast: int8 to int8"):
        unary.cast(x, x)

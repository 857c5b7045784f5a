"""Products of matrices on the emulated slice against the reference of TOSA."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.compiler.torq.kernels.products import fully_connected, matmul
from assay.compiler.torq.slice.errors import IllegalSliceProgram
from assay.compiler.torq.slice.scaling import Rescale

from . import tosa
from .machine import Machine, numbers

SIZES = st.integers(1, 70)


def _fully_connected(n: int, i: int, o: int, dtype: str, zero_point: int, seed: int) -> Machine:
    machine = Machine()
    x, weights = numbers(seed, (n, i), dtype), numbers(seed + 1, (o, i), "int8")
    bias = numbers(seed + 2, (o,), "int32", bound=1000)
    multipliers = tuple(int(m) for m in np.random.default_rng(seed).integers(1 << 30, 1 << 31, o))
    rescale = Rescale(
        multipliers=multipliers,
        shifts=(42 if dtype == "int8" else 50,) * o,
        zero_point=-5,
    )
    output = machine.room("y", "int8", (n, o))
    given_x = machine.give("x", x)
    machine.run(
        fully_connected(
            machine.layout,
            given_x,
            weights,
            bias,
            output,
            rescale=rescale,
            input_zp=zero_point,
        )
    )
    sums = tosa.fully_connected(x, weights, bias, input_zp=zero_point)
    expected = tosa.rescale(sums, rescale.multipliers, rescale.shifts, output_zp=-5)
    np.testing.assert_array_equal(machine.take(output), expected)
    return machine


@given(n=st.integers(1, 3), i=SIZES, o=st.integers(1, 140), seed=st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_fully_connected_equals_the_reference(n: int, i: int, o: int, seed: int) -> None:
    _fully_connected(n, i, o, "int8", 7, seed)
    _fully_connected(n, i, o, "int16", 0, seed)


def test_cycles_of_fully_connected_follow_from_its_nest() -> None:
    machine = _fully_connected(3, 40, 130, "int8", 0, 0)
    (counts,), (cycles,) = machine.counts, machine.cycles
    assert counts.alu_cycles == 3 * 3 * 40
    assert counts.vectors == 3 * 3 * 16
    assert cycles.total == 3 * 3 * 40 + 16


@given(
    n=st.integers(1, 2),
    h=st.integers(1, 6),
    c=st.integers(1, 20),
    w=SIZES,
    types=st.sampled_from(
        [("int8", "int8"), ("int8", "int16"), ("int16", "int8"), ("int16", "int16")]
    ),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_matmul_equals_the_reference(
    n: int, h: int, c: int, w: int, types: tuple[str, str], seed: int
) -> None:
    machine = Machine()
    a = numbers(seed, (n, h, c), types[0], bound=9000)
    b = numbers(seed + 1, (n, c, w), types[1], bound=9000)
    output = machine.room("y", "int32", (n, h, w))
    machine.run(matmul(machine.layout, machine.give("a", a), machine.give("b", b), output))
    np.testing.assert_array_equal(machine.take(output), tosa.matmul(a, b))


def test_bfloat16_matmul_rounds_after_each_product() -> None:
    machine = Machine()
    a, b = numbers(0, (2, 5, 17), "bfloat16"), numbers(1, (2, 17, 41), "bfloat16")
    output = machine.room("y", "bfloat16", (2, 5, 41))
    machine.run(matmul(machine.layout, machine.give("a", a), machine.give("b", b), output))
    total = np.zeros((2, 5, 41), np.float32)
    for k in range(17):
        total = total + a[:, :, k, None].astype(np.float32) * b[:, k, None].astype(np.float32)
    np.testing.assert_array_equal(
        machine.take(output).view(np.uint16), total.astype(ml_dtypes.bfloat16).view(np.uint16)
    )


def test_a_product_of_unknown_formats_is_refused() -> None:
    machine = Machine()
    a, b = machine.room("a", "int32", (1, 2, 3)), machine.room("b", "int32", (1, 3, 4))
    with pytest.raises(IllegalSliceProgram, match="no product of int32 and int32"):
        matmul(machine.layout, a, b, machine.room("y", "int32", (1, 2, 4)))

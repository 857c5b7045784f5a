"""Kernels that move, repeat, pool and reduce, on the emulated slice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.compiler.torq.kernels import moves, planes, pooling, reductions
from assay.compiler.torq.slice.errors import IllegalSliceProgram

from . import tosa
from .machine import Array, Machine, numbers

TYPES = st.sampled_from(["int8", "int16", "int32"])
SEEDS = st.integers(0, 99)


@given(
    shape=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    dtype=TYPES,
    seed=SEEDS,
    data=st.data(),
)
@settings(max_examples=25, deadline=None)
def test_transpose_moves_every_element(
    shape: list[int], dtype: str, seed: int, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(shape))))
    machine = Machine()
    x = numbers(seed, shape, dtype)
    output = machine.room("y", dtype, [shape[axis] for axis in order])
    machine.run(moves.transpose(machine.give("x", x), output, order))
    np.testing.assert_array_equal(machine.take(output), x.transpose(order))


@pytest.mark.parametrize("shape", [(32, 32), (2, 64, 96)])
def test_blocks_are_turned_in_four_cycles_each(shape: tuple[int, ...]) -> None:
    machine = Machine()
    x = numbers(0, shape, "int8")
    output = machine.room("y", "int8", (*shape[:-2], shape[-1], shape[-2]))
    machine.run(planes.transpose_blocks(machine.give("x", x), output))
    np.testing.assert_array_equal(machine.take(output), x.swapaxes(-1, -2))
    assert machine.counts[0].alu_cycles == 4 * x.size // 1024


@given(dtype=TYPES, lengths=st.lists(st.integers(1, 6), min_size=1, max_size=3), seed=SEEDS)
@settings(max_examples=10, deadline=None)
def test_concat_puts_parts_behind_each_other(dtype: str, lengths: list[int], seed: int) -> None:
    machine = Machine()
    parts = [numbers(seed + n, (2, length, 5), dtype) for n, length in enumerate(lengths)]
    output = machine.room("y", dtype, (2, sum(lengths), 5))
    given_parts = [machine.give(f"x{n}", part) for n, part in enumerate(parts)]
    machine.run(moves.concat(given_parts, output, 1))
    np.testing.assert_array_equal(machine.take(output), np.concatenate(parts, axis=1))


@given(dtype=TYPES, factors=st.tuples(st.integers(1, 3), st.integers(1, 3)), c=st.integers(1, 40))
@settings(max_examples=10, deadline=None)
def test_resize_repeats_rows_and_columns(dtype: str, factors: tuple[int, int], c: int) -> None:
    machine = Machine()
    down, right = factors
    x = numbers(c, (1, 4, 5, c), dtype)
    output = machine.room("y", dtype, (1, 4 * down, 5 * right, c))
    machine.run(moves.resize_nearest(machine.give("x", x), output, factors))
    np.testing.assert_array_equal(machine.take(output), x.repeat(down, 1).repeat(right, 2))


def test_broadcast_repeats_axes_of_one_step() -> None:
    machine = Machine()
    x = numbers(0, (3, 1, 7), "int16")
    output = machine.room("y", "int16", (3, 4, 7))
    machine.run(moves.broadcast(machine.give("x", x), output))
    np.testing.assert_array_equal(machine.take(output), x.repeat(4, 1))


@given(
    n=st.integers(1, 2),
    c=st.integers(1, 4),
    h=st.integers(1, 9),
    w=st.integers(1, 12),
    dtype=st.sampled_from(["int8", "int16"]),
)
@settings(max_examples=15, deadline=None)
def test_segmentation_takes_planes_apart(n: int, c: int, h: int, w: int, dtype: str) -> None:
    machine = Machine()
    x = numbers(h, (n, c, 2 * h, 2 * w), dtype)
    output = machine.room("y", dtype, (n, c, 4, h, w), planes=True)
    machine.run(planes.segmentation(machine.give("x", x, planes=True), output))
    quadrants = [x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)]
    np.testing.assert_array_equal(machine.take(output), np.stack(quadrants, axis=2))


@given(count=st.integers(1, 300), value=st.integers(-128, 127))
@settings(max_examples=10, deadline=None)
def test_fill_writes_one_value_and_nothing_else(count: int, value: int) -> None:
    for dtype in ("int8", "int16"):
        machine = Machine()
        output = machine.room("y", dtype, (count,))
        behind = machine.give("z", numbers(0, (8,), "int8"))
        machine.run(planes.fill(output, value))
        np.testing.assert_array_equal(machine.take(output), np.full(count, value, dtype))
        np.testing.assert_array_equal(machine.take(behind), numbers(0, (8,), "int8"))


@given(dtype=TYPES, rows=st.integers(1, 40), c=st.integers(1, 80), w=st.integers(1, 12))
@settings(max_examples=15, deadline=None)
def test_gather_equals_the_reference(dtype: str, rows: int, c: int, w: int) -> None:
    machine = Machine()
    values = numbers(c, (rows, c), dtype)
    indices = np.random.default_rng(w).integers(0, rows, w).astype(np.int32)
    output = machine.room("y", dtype, (w, c))
    given_values, given_indices = machine.give("v", values), machine.give("i", indices)
    machine.run(planes.gather(machine.layout, given_values, given_indices, output))
    expected = tosa.gather(values[None], indices[None])[0]
    np.testing.assert_array_equal(machine.take(output), expected)


@st.composite
def _pools(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, int], tuple[int, int], list[int]]:
    """(input shape, kernel, stride, padding), of which the strides leave no rest."""
    kernel = (draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    stride = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    outputs = (draw(st.integers(1, 5)), draw(st.integers(1, 5)))
    pad: list[int] = []
    sizes = []
    for k, s, o in zip(kernel, stride, outputs, strict=True):
        before, after = draw(st.integers(0, k - 1)), draw(st.integers(0, k - 1))
        size = (o - 1) * s + k - before - after
        if size < max(k - before, 1) or size < k - after:
            before = after = 0
            size = (o - 1) * s + k
        pad += [before, after]
        sizes.append(size)
    shape = (draw(st.integers(1, 2)), *sizes, draw(st.integers(1, 70)))
    return shape, kernel, stride, pad


@given(pool=_pools(), dtype=st.sampled_from(["int8", "int16"]), seed=SEEDS)
@settings(max_examples=25, deadline=None)
def test_pools_equal_the_reference(
    pool: tuple[tuple[int, ...], tuple[int, int], tuple[int, int], list[int]],
    dtype: str,
    seed: int,
) -> None:
    shape, kernel, stride, pad = pool
    x = numbers(seed, shape, dtype)
    largest = tosa.max_pool2d(x, kernel=kernel, stride=stride, pad=pad)
    mean = tosa.avg_pool2d(x, kernel=kernel, stride=stride, pad=pad, input_zp=-3, output_zp=2)
    machine = Machine()
    given_x, output = machine.give("x", x), machine.room("y", dtype, largest.shape)
    corner = (pad[0], pad[2])
    machine.run(pooling.max_pool2d(given_x, output, kernel=kernel, stride=stride, padding=corner))
    np.testing.assert_array_equal(machine.take(output), largest)
    machine.run(
        pooling.avg_pool2d(
            machine.layout,
            given_x,
            output,
            kernel=kernel,
            stride=stride,
            padding=corner,
            input_zp=-3,
            output_zp=2,
        )
    )
    np.testing.assert_array_equal(machine.take(output), mean)


def _reduced(name: str, x: Array, axis: int) -> Array:
    if name == "sum":
        return tosa.reduce_sum(x, axis)
    if name in ("argmax", "argmin"):
        return tosa.argmax(x if name == "argmax" else -x.astype(np.int64), axis)
    return np.asarray(getattr(x, name)(axis=axis, keepdims=True))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", reductions.OPERATIONS)
@given(dtype=TYPES, shape=st.tuples(*[st.integers(1, 20)] * 3), seed=SEEDS)
@settings(max_examples=4, deadline=None)
def test_reductions_equal_the_reference(
    name: str, axis: int, dtype: str, shape: tuple[int, ...], seed: int
) -> None:
    if name == "sum":
        dtype = "int32"
    if name in ("all", "any"):
        dtype = "int8"
    x = numbers(seed, shape, dtype, bound=1 << 20)
    if name in ("all", "any"):
        x = (x > 0).astype(np.int8)
    if name.startswith("arg"):
        x = (x // 40).astype(dtype)
    expected = _reduced(name, x, axis)
    machine = Machine()
    output = machine.room("y", "int32" if name.startswith("arg") else dtype, expected.shape)
    machine.run(reductions.reduce(name, machine.give("x", x), output, axis))
    np.testing.assert_array_equal(machine.take(output), expected)


def test_an_order_that_is_none_is_refused() -> None:
    machine = Machine()
    x = machine.room("x", "int8", (2, 3))
    with pytest.raises(IllegalSliceProgram, match=r"\(0, 0\) is no order"):
        moves.transpose(x, x, (0, 0))

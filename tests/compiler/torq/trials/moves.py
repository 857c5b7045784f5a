"""Elements that change places: copies, repeats, planes taken apart, rows gathered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.compiler.torq import by_hand, tosa
from tests.compiler.torq import tosa_operators as op
from tests.compiler.torq.iree_tosa import Function, Value
from tests.compiler.torq.machine import Array, Machine, numbers

from .convolutions import quadrants
from .trial import Trial


def move(dtype: str, shape: Sequence[int], start: Sequence[int], seed: int) -> Trial:
    """`slice_` of the block behind `start`: SLICE."""
    machine = Machine()
    x = numbers(seed, shape, dtype)
    sizes = [n - first for n, first in zip(shape, start, strict=True)]
    source, output = machine.give("x", x), machine.room("y", dtype, sizes)
    machine.run(by_hand.slice_(source, output, start))
    expected = x[tuple(slice(first, None) for first in start)]
    return Trial.of(machine, output, expected, op.slice_(Function().argument(x), start, sizes))


def transpose(dtype: str, shape: Sequence[int], order: Sequence[int], seed: int) -> Trial:
    """`transpose`."""
    machine = Machine()
    x = numbers(seed, shape, dtype)
    output = machine.room("y", dtype, [shape[axis] for axis in order])
    machine.run(by_hand.transpose(machine.give("x", x), output, order))
    return Trial.of(
        machine, output, x.transpose(order), op.transpose(Function().argument(x), order)
    )


def transpose_blocks(shape: Sequence[int], seed: int) -> Trial:
    """`transpose_blocks` of the last two dimensions."""
    machine = Machine()
    x = numbers(seed, shape, "int8")
    output = machine.room("y", "int8", (*shape[:-2], shape[-1], shape[-2]))
    machine.run(by_hand.transpose_blocks(machine.give("x", x), output))
    last = len(shape) - 1
    order = (*range(last - 1), last, last - 1)
    return Trial.of(
        machine, output, x.swapaxes(-1, -2), op.transpose(Function().argument(x), order)
    )


def concat(dtype: str, shape: Sequence[int], axis: int, lengths: Sequence[int], seed: int) -> Trial:
    """`concat` of parts of `shape`, which have other lengths along the axis."""
    machine = Machine()
    parts = []
    for n, length in enumerate(lengths):
        sizes = (*shape[:axis], length, *shape[axis + 1 :])
        parts.append(numbers(seed + n, sizes, dtype))
    expected = np.concatenate(parts, axis=axis)
    output = machine.room("y", dtype, expected.shape)
    given_parts = [machine.give(f"x{n}", part) for n, part in enumerate(parts)]
    machine.run(by_hand.concat(given_parts, output, axis))
    f = Function()
    return Trial.of(machine, output, expected, op.concat([f.argument(p) for p in parts], axis))


def resize(dtype: str, shape: tuple[int, ...], factors: tuple[int, int], seed: int) -> Trial:
    """`resize_nearest` with centres of pixels on each other. TOSA's RESIZE has no int32: TILE."""
    machine = Machine()
    n, h, w, c = shape
    down, right = factors
    x = numbers(seed, shape, dtype)
    output = machine.room("y", dtype, (n, h * down, w * right, c))
    machine.run(by_hand.resize_nearest(machine.give("x", x), output, factors))
    value = Function().argument(x)
    scale = (2 * down, 2, 2 * right, 2)
    offset, border = (1 - down, 1 - right), (down - 1, right - 1)
    expected = tosa.resize_nearest(x, scale=scale, offset=offset, border=border)
    if dtype == "int32":
        apart = op.reshape(value, (n, h, 1, w, 1, c))
        result = op.reshape(op.tile(apart, (1, 1, down, 1, right, 1)), output.shape)
    else:
        sizes = (h * down, w * right)
        result = op.resize_nearest(value, sizes, scale=scale, offset=offset, border=border)
    return Trial.of(machine, output, expected, result)


def broadcast(dtype: str, shape: Sequence[int], times: Sequence[int], seed: int) -> Trial:
    """`broadcast` of the axes with one step: TILE."""
    machine = Machine()
    x = numbers(seed, shape, dtype)
    times = [many if n == 1 else 1 for n, many in zip(shape, times, strict=True)]
    expected = np.tile(x, times)
    output = machine.room("y", dtype, expected.shape)
    machine.run(by_hand.broadcast(machine.give("x", x), output))
    return Trial.of(machine, output, expected, op.tile(Function().argument(x), times))


def segmentation(dtype: str, shape: tuple[int, int, int, int], seed: int) -> Trial:
    """`segmentation` of planes (n, c, 2 h, 2 w): RESHAPE and TRANSPOSE."""
    machine = Machine()
    n, c, h, w = shape
    x = numbers(seed, (n, c, 2 * h, 2 * w), dtype)
    output = machine.room("y", dtype, (n, c, 4, h, w), planes=True)
    machine.run(by_hand.segmentation(machine.give("x", x, planes=True), output))
    # TOSA has up to six dimensions, so batch and channels are one.
    apart = op.reshape(Function().argument(x), (n * c, h, 2, w, 2))
    turned = op.transpose(apart, (0, 2, 4, 1, 3))
    return Trial.of(machine, output, quadrants(x), op.reshape(turned, output.shape))


def fill(dtype: str, count: int, value: int) -> Trial:
    """`fill`: a number repeated."""
    machine = Machine()
    output = machine.room("y", dtype, (count,))
    machine.run(by_hand.fill(output, value))
    f = Function()
    result = op.tile(f.constant([value], dtype), (count,))
    return Trial.of(machine, output, np.full(count, value, dtype), result)


def gather(dtype: str, rows: int, columns: int, count: int, seed: int) -> Trial:
    """`gather`, of one batch."""
    machine = Machine()
    values = numbers(seed, (rows, columns), dtype)
    indices = np.random.default_rng(seed).integers(0, rows, count).astype(np.int32)
    output = machine.room("y", dtype, (count, columns))
    given_values, given_indices = machine.give("v", values), machine.give("i", indices)
    machine.run(by_hand.gather(machine.layout, given_values, given_indices, output))
    expected = tosa.gather(values[None], indices[None])[0]
    result = _gathered(values, indices)
    return Trial.of(machine, output, expected, op.reshape(result, output.shape))


def _gathered(values: Array, indices: Array) -> Value:
    f = Function()
    return op.gather(f.argument(values[None]), f.argument(indices[None]))

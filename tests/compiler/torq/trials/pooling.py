"""Windows and axes of which one number is left: pooling, reductions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tests.compiler.torq import by_hand, tosa
from tests.compiler.torq import tosa_operators as op
from tests.compiler.torq.iree_tosa import Function, Value
from tests.compiler.torq.machine import Array, Machine, numbers

from .trial import Trial

REDUCTIONS = ("sum", "max", "min", "all", "any", "argmax", "argmin")
"""Reductions of integers that TOSA can say; those of bits and of floats are tested as linalg."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Windows over x (n, h, w, c); the strides leave no rest. Zero points are for means of int8."""

    shape: tuple[int, int, int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    pad: tuple[int, int, int, int] = (0, 0, 0, 0)
    dtype: str = "int8"
    zero_points: tuple[int, int] = (-3, 2)
    seed: int = 0

    def of(self, dtype: str) -> Pool:
        """The same windows over another type."""
        return replace(self, dtype=dtype)

    @property
    def outputs(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        ways = [
            self.shape[1 + axis] + sum(self.pad[2 * axis : 2 * axis + 2]) - self.kernel[axis]
            for axis in (0, 1)
        ]
        return ways[0] // self.stride[0] + 1, ways[1] // self.stride[1] + 1


def max_pool(pool: Pool) -> Trial:
    """`max_pool2d`."""
    x, machine = numbers(pool.seed, pool.shape, pool.dtype), Machine()
    given_x, output = machine.give("x", x), machine.room("y", pool.dtype, _shape(pool))
    corner = (pool.pad[0], pool.pad[2])
    machine.run(
        by_hand.max_pool2d(given_x, output, kernel=pool.kernel, stride=pool.stride, padding=corner)
    )
    expected = tosa.max_pool2d(x, kernel=pool.kernel, stride=pool.stride, pad=pool.pad)
    result = op.pool(
        "max_pool2d",
        Function().argument(x),
        pool.outputs,
        kernel=pool.kernel,
        stride=pool.stride,
        pad=pool.pad,
    )
    return Trial.of(machine, output, expected, result)


def avg_pool(pool: Pool) -> Trial:
    """`avg_pool2d`."""
    x, machine = numbers(pool.seed, pool.shape, pool.dtype), Machine()
    given_x, output = machine.give("x", x), machine.room("y", pool.dtype, _shape(pool))
    before, after = pool.zero_points if pool.dtype == "int8" else (0, 0)
    machine.run(
        by_hand.avg_pool2d(
            machine.layout,
            given_x,
            output,
            kernel=pool.kernel,
            stride=pool.stride,
            padding=(pool.pad[0], pool.pad[2]),
            input_zp=before,
            output_zp=after,
        )
    )
    expected = tosa.avg_pool2d(
        x,
        kernel=pool.kernel,
        stride=pool.stride,
        pad=pool.pad,
        input_zp=before,
        output_zp=after,
    )
    result = op.pool(
        "avg_pool2d",
        Function().argument(x),
        pool.outputs,
        kernel=pool.kernel,
        stride=pool.stride,
        pad=pool.pad,
        zero_points=(before, after),
    )
    return Trial.of(machine, output, expected, result)


def _shape(pool: Pool) -> tuple[int, int, int, int]:
    return pool.shape[0], *pool.outputs, pool.shape[3]


def reduction(name: str, dtype: str, shape: tuple[int, ...], axis: int, seed: int) -> Trial:
    """One of `REDUCTIONS`. TOSA sums int32 and has truths for `all` and `any`.

    TOSA has no ARGMIN, nor ARGMAX of int32: that is ARGMAX of the complement, or of floats, which
    are exact as the numbers are below 2**20.
    """
    x = numbers(seed, shape, dtype, bound=1 << 20)
    if name in ("all", "any"):
        x = (x > (0 if name == "any" else np.iinfo(dtype).min // 2)).astype(dtype)
    if name.startswith("arg"):
        x = (x // 40).astype(dtype)  # so that there are equals
    expected, value = _reduced(name, x, axis)
    machine = Machine()
    result = "int32" if name.startswith("arg") else dtype
    output = machine.room("y", result, expected.shape)
    machine.run(by_hand.reduce(name, machine.give("x", x), output, axis))
    return Trial.of(machine, output, expected, value)


def _reduced(name: str, x: Array, axis: int) -> tuple[Array, Value]:
    value = Function().argument(x)
    if name == "sum":
        return tosa.reduce_sum(x, axis), op.reduce("reduce_sum", value, axis)
    if name in ("argmax", "argmin"):
        wanted = x if name == "argmax" else ~x
        if name == "argmin":
            value = op.unary("bitwise_not", value)
        if value.dtype == "int32":
            value = op.cast(value, "float32")
        return tosa.argmax(wanted, axis), op.argmax(value, axis)
    expected = np.asarray(getattr(x, name)(axis=axis, keepdims=True))
    if name in ("all", "any"):
        truth = op.reduce(f"reduce_{name}", op.cast(value, "bool"), axis)
        return expected, op.cast(truth, value.dtype)
    return expected, op.reduce(f"reduce_{name}", value, axis)

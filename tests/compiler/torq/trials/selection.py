"""Tensors that say what to do with others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.compiler.torq import by_hand, tosa
from tests.compiler.torq import tosa_operators as op
from tests.compiler.torq.iree_tosa import Function
from tests.compiler.torq.machine import Machine, numbers

from .elementwise import pair
from .trial import Trial

_TOSA = {
    "left": "logical_left_shift",
    "right_logical": "logical_right_shift",
    "right_arithmetic": "arithmetic_right_shift",
}


def select(dtype: str, shape: Sequence[int], seed: int) -> Trial:
    """`select`, whose condition TOSA has as truths."""
    condition = np.random.default_rng(seed).integers(0, 2, shape).astype(np.int8)
    a, b = pair(seed, shape, dtype)
    machine = Machine()
    output = machine.room("y", dtype, shape)
    parts = [machine.give(name, x) for name, x in (("c", condition), ("a", a), ("b", b))]
    machine.run(by_hand.select(*parts, output))
    f = Function()
    result = op.select(op.cast(f.argument(condition), "bool"), f.argument(a), f.argument(b))
    return Trial.of(machine, output, np.where(condition == 1, a, b), result)


def shift(
    direction: str, dtype: str, shape: Sequence[int], seed: int, *, rounding: bool = False
) -> Trial:
    """`shift` by 0 to all bits but one."""
    a = numbers(seed, shape, dtype)
    amounts = np.random.default_rng(seed).integers(0, 8 * a.itemsize, shape).astype(dtype)
    machine = Machine()
    output = machine.room("y", dtype, shape)
    given_a, given_b = machine.give("a", a), machine.give("b", amounts)
    machine.run(by_hand.shift(direction, given_a, given_b, output, rounding=rounding))
    bits, by = a.view(f"u{dtype}"), amounts.view(f"u{dtype}")
    expected = {
        "left": lambda: (bits << by).view(dtype),
        "right_logical": lambda: (bits >> by).view(dtype),
        "right_arithmetic": lambda: tosa.arithmetic_right_shift(a, amounts, rounding=rounding),
    }[direction]()
    attributes = {}
    if direction == "right_arithmetic":
        attributes["round"] = "true" if rounding else "false"
    f = Function()
    result = op.binary(_TOSA[direction], f.argument(a), f.argument(amounts), **attributes)
    return Trial.of(machine, output, expected, result)

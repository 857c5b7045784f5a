"""Reductions of linalg.generic: along axes, one after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from ...graph.elements import LIMITS, NUMPY, Array, is_float
from ..hl.elementwise import Elementwise, Mul
from ..hl.moves import Concat, Slice
from ..hl.reductions import Reduce
from ..hl.types import tensor_of
from .builder import NotForNpu
from .integers import Item, Numbers

_KINDS = {"and": "band", "or": "bor", "xor": "bxor", "umax": "max", "umin": "min"}
_MOST_STEPS = 1 << 15
"""Along an axis, in one kernel."""
_PART_STEPS = 1 << 12
"""Of each part of an axis with more."""
_MOST_ROUNDED = 16
"""Steps of a sum of bfloat16 that are rounded one by one; longer ones are rounded once."""
_BITWISE = {"and": "BAND", "or": "BOR", "xor": "BXOR"}


def is_neutral(kind: str, start: Array, dtype: str) -> bool:
    """Whether a reduction that starts with these numbers is one without a start."""
    if is_float(dtype):
        low = -math.inf
        values = {"sum": (0.0,), "product": (1.0,), "max": (low,), "min": (math.inf,)}
        nothing = kind in ("max", "min") and bool(np.all(np.isnan(start)))
        return nothing or bool(np.all(np.isin(start, values[kind])))
    low, high = LIMITS[dtype] if dtype != "bool" else (0, 1)
    minus = 1 if dtype == "bool" else -1
    neutral = {"max": low, "min": high, "umin": minus, "and": minus, "product": 1}.get(kind, 0)
    return bool(np.all(start == neutral))


def reduced(n: Numbers, kind: str, x: SSAValue, loops: Sequence[int], dtype: str) -> SSAValue:
    """x along axes, which stay with one step; as numbers of this type, integers wrapped."""
    for start, count in _runs(x, loops):
        x = _along(n, kind, x, start, count, dtype)
    return x if is_float(dtype) else n.cut(x, dtype)


def _runs(x: SSAValue, loops: Sequence[int]) -> list[tuple[int, int]]:
    """Axes beside each other, the last ones first: the first of them and how many."""
    found: list[tuple[int, int]] = []
    for axis in sorted(loops):
        if found and sum(found[-1]) == axis:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((axis, 1))
    return found[::-1]


def _along(n: Numbers, kind: str, x: SSAValue, start: int, count: int, dtype: str) -> SSAValue:
    """Axes beside each other, reduced as one."""
    shape = tensor_of(x).shape
    steps = math.prod(shape[start : start + count])
    before, behind = math.prod(shape[:start]), math.prod(shape[start + count :])
    final = (*shape[:start], *(1,) * count, *shape[start + count :])
    if steps == 1:
        return n.builder.view(x, final)
    flat = n.builder.view(x, (before, steps, behind))
    return n.builder.view(_axis(n, kind, flat, dtype), final)


def _axis(n: Numbers, kind: str, x: SSAValue, dtype: str) -> SSAValue:
    """The middle one of three axes, which stays with one step."""
    before, steps, behind = tensor_of(x).shape
    if steps > _MOST_STEPS:
        parts = steps // _PART_STEPS
        whole = _part(n, x, 0, parts * _PART_STEPS)
        rows = n.builder.view(whole, (before * parts, _PART_STEPS, behind))
        made = n.builder.view(_axis(n, kind, rows, dtype), (before, parts, behind))
        rest = steps - parts * _PART_STEPS
        if rest:
            last = _axis(n, kind, _part(n, x, steps - rest, rest), dtype)
            y = tensor_of(made).like(shape=(before, parts + 1, behind))
            made = n.builder.emit(Concat, [made, last], y, axis=1)
        return _axis(n, kind, made, dtype)
    return _short_axis(n, kind, x, dtype)


def _short_axis(n: Numbers, kind: str, x: SSAValue, dtype: str) -> SSAValue:
    """An axis of as many steps as a kernel takes."""
    source = tensor_of(x).dtype
    if is_float(source) or is_float(dtype):
        if source != "bfloat16" or (dtype != source and kind != "sum"):
            raise NotForNpu(f"{kind} of {source} as {dtype}")
        if kind == "sum" and dtype == source and tensor_of(x).shape[1] <= _MOST_ROUNDED:
            return _step_by_step(n, x)
        return _emit(n, kind, x, dtype)
    if source == "bool":
        x, source = n.seen_as(x, "int8"), "int8"
    if kind == "sum":
        return _sum(n, x)
    if kind == "product":
        return _tree(n, x)
    if kind.startswith("u"):
        return n.flipped(_emit(n, _KINDS[kind], n.flipped(x), source))
    return _emit(n, _KINDS.get(kind, kind), x, source)


def _step_by_step(n: Numbers, x: SSAValue) -> SSAValue:
    """A sum that is rounded at each step, as it is written."""
    total = _part(n, x, 0, 1)
    for step in range(1, tensor_of(x).shape[1]):
        total = n.combine("ADD", total, _part(n, x, step, 1), "bfloat16")
    return total


def _emit(n: Numbers, kind: str, x: SSAValue, dtype: str) -> SSAValue:
    shape = tensor_of(x).shape
    y = tensor_of(x).like(shape=(shape[0], 1, shape[2]), dtype=dtype)
    return n.builder.emit(Reduce, [x], y, kind=kind, axis=1)


def _sum(n: Numbers, x: SSAValue) -> SSAValue:
    """The sum modulo 2**32; of large numbers from sums of their halves."""
    low, high = n.bounds(x)
    steps = tensor_of(x).shape[1]
    if max(abs(low), abs(high)) * steps <= LIMITS["int32"][1]:
        return _emit(n, "sum", x, "int32")
    wide = n.widened(x, "int32")
    lows = n.combine("BAND", wide, n.number(0xFFFF, wide), "int32")
    highs = n.combine("ASR", wide, n.number(16, wide), "int32")
    if steps > 1 << 15:
        raise NotForNpu(f"a sum of {steps} numbers of {tensor_of(x).dtype}")
    low_sum, high_sum = _emit(n, "sum", lows, "int32"), _emit(n, "sum", highs, "int32")
    top = n.combine("LSL", high_sum, n.number(16, high_sum), "int32")
    return n.add(top, low_sum)


def _tree(n: Numbers, x: SSAValue) -> SSAValue:
    """Products of pairs, until one is left."""
    while (steps := tensor_of(x).shape[1]) > 1:
        half = steps // 2
        made = n.multiply(_part(n, x, 0, half), _part(n, x, half, half))
        if steps % 2:
            kind = tensor_of(x)
            shape = (kind.shape[0], half + 1, kind.shape[2])
            parts = [made, _part(n, x, steps - 1, 1)]
            made = n.builder.emit(Concat, parts, kind.like(shape=shape), axis=1)
        x = made
    return x


def _part(n: Numbers, x: SSAValue, start: int, count: int) -> SSAValue:
    kind = tensor_of(x)
    shape = (kind.shape[0], count, kind.shape[2])
    if shape == kind.shape:
        return x
    return n.builder.emit(Slice, [x], kind.like(shape=shape), starts=(0, start, 0))


def with_start(n: Numbers, kind: str, total: SSAValue, start: Item, dtype: str) -> SSAValue:
    """What was reduced, combined with what the reduction starts with."""
    if isinstance(start, np.ndarray):
        if is_neutral(kind, start, dtype):
            return total
        start = n.builder.const(start.astype(NUMPY[dtype]), dtype)
    if dtype == "float32":
        raise NotForNpu(f"a {kind} of float32 that starts with other numbers than 0")
    if kind == "sum" and not is_float(dtype) and dtype != "bool":
        return n.add(total, start)
    if kind == "product" and dtype != "bool":
        if is_float(dtype):
            return n.builder.emit(Mul, [total, start], tensor_of(total).like())
        return n.multiply(total, start)
    if kind.startswith("u"):
        pair = n.flipped(total), n.flipped(start)
        return n.flipped(n.combine(_KINDS[kind].upper(), *pair, dtype))
    if dtype == "bool":
        logic = {"sum": "XOR", "xor": "XOR", "and": "AND", "product": "AND", "or": "OR"}
        return n.combine(logic[kind], total, start, dtype)
    name = _BITWISE.get(kind) or {"sum": "ADD", "max": "MAX", "min": "MIN"}[kind]
    y = tensor_of(total).like(dtype=dtype)
    return n.builder.emit(Elementwise, [total, start], y, kind=name)

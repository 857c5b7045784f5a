"""Operators with an operand that says what to do with another: select, shifts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from ..operators.elementwise import Elementwise, Select
from ..operators.tensors import Region
from ..slice.derive import ACT_WORDS
from ..slice.errors import IllegalSliceProgram
from ..slice.formats import LIMITS, limits, product_lanes
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT
from ..slice.tensor import View
from .alike import Alike, unlike
from .kernel import Places
from .strided import Walk, at, start, vectors, walks

_MODES = {"LSL": "LSL", "LSR": "LSR", "ASR": "ASR", "ASR_ROUND": "ASR"}
_GROUP_BYTES = 32


class SelectKernel(Alike[Select]):
    """One of two, by a condition; which may have one step along axes but the last."""

    name = "select"

    def accepts(self, op: Select) -> str | None:
        """None, or why it cannot run the operator."""
        if not op.a.dtype == op.b.dtype == op.y.dtype or product_lanes(op.a.dtype, "int8") is None:
            return f"{op.a.dtype} or {op.b.dtype} to {op.y.dtype}"
        if op.y.dtype not in LIMITS:
            return f"{op.y.dtype} is no integer"
        if op.condition.dtype != "int8":
            return f"a condition of {op.condition.dtype}"
        return unlike(op, repeated=("condition",))

    def nests(self, op: Select, out: Region, places: Places) -> Sequence[SliceKernel]:
        """The condition is the weights of both."""
        tensors = tuple(places[name] for name in ("condition", "a", "y"))
        return [_select(places, walk) for walk in walks(tensors, places["y"].shape)]


def _select(places: Places, walk: Walk) -> SliceKernel:
    condition, a, b, y = (places[name] for name in ("condition", "a", "b", "y"))
    if a.strides != b.strides:
        raise IllegalSliceProgram(
            "operands", f"'{a.name}' in steps of {a.strides} and '{b.name}' of {b.strides}"
        )
    lanes = product_lanes(a.dtype, "int8")
    assert lanes is not None
    width = ACT_WORDS // lanes.partials
    low, high = limits(y.dtype)
    k = SliceKernel("select")
    with ExitStack() as nest:
        chosen, read, write = walk.enter(k, nest)
        v = nest.enter_context(k.each(vectors(walk.run, width), FLAT))
        k.load_weights(at(condition, chosen + v * width, width))
        with k.each(2) as side:
            there = read + v * (width * a.element) + side * (b.address - a.address)
            k.load_data(at(a, there, width))
            k.multiply("SEL", elementwise=True)
        k.activate(width=width, low=low, high=high)
        k.append(start(y, write), walk.run)
    return k


class ShiftKernel(Alike[Elementwise]):
    """Integers shifted by others."""

    name = "shift"

    def accepts(self, op: Elementwise) -> str | None:
        """None, or why it cannot run the operator."""
        if op.kind not in _MODES:
            return f"no kind {op.kind}"
        if not op.a.dtype == op.b.dtype == op.y.dtype or op.y.dtype not in LIMITS:
            return f"{op.a.dtype} by {op.b.dtype} to {op.y.dtype}"
        return unlike(op)

    def nests(self, op: Elementwise, out: Region, places: Places) -> Sequence[SliceKernel]:
        """Values and amounts come in one transfer."""
        if places["a"].strides != places["b"].strides:
            raise IllegalSliceProgram("operands", "values and amounts in other steps")
        found = walks((places["a"], places["y"]), places["y"].shape)
        return [_shift(op, places, walk) for walk in found]


def _shift(op: Elementwise, places: Places, walk: Walk) -> SliceKernel:
    a, b, y = places["a"], places["b"], places["y"]
    width = min(ACT_WORDS, _GROUP_BYTES // a.element)
    low, high = limits(a.dtype)
    # Values and amounts come as words of 32 bits; the activation unit takes elements out of them.
    words = replace(a, dtype="int32")
    k = SliceKernel("shift")
    with ExitStack() as nest:
        read, write = walk.enter(k, nest)
        v = nest.enter_context(k.each(vectors(walk.run, width), FLAT))
        k.load_data(
            View(
                tensor=words,
                place=read + v * (width * a.element),
                shape=(2, width * a.element // 4),
                strides=(b.address - a.address, 4),
            ),
            parts=2,
        )
        k.combine("BOR")
        k.activate(
            width=width,
            low=low,
            high=high,
            mode=_MODES[op.kind],
            rounding="NTP" if op.kind == "ASR_ROUND" else "OFF",
            sum_bits=8 * a.element,
        )
        k.append(start(y, write), walk.run)
    return k

"""Operators of two tensors, element by element: sums, products, combinations."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from ..operators.elementwise import Add, Elementwise, Mul
from ..operators.quantisation import FloatRange, Rescale
from ..operators.tensors import Region
from ..slice.derive import ACT_WORDS
from ..slice.errors import IllegalSliceProgram
from ..slice.formats import LIMITS, Lanes, bypass_lanes, is_float, limits, product_lanes
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT
from ..slice.tensor import Tensor
from .alike import SCALE, VECTOR_BYTES, Alike, packed_scale, scale_refusal, single_scale, unlike
from .kernel import ConstantSpec, Places, Values
from .strided import Walk, at, start, vectors, walks

_OPERATIONS = {"ADD": "ACC", "SUB": "SACC"}
_COMBINATIONS = ("MAX", "MIN", "GT", "GE", "EQ", "AND", "OR", "XOR", "BAND", "BOR", "BXOR")
_COMPARISONS = ("GT", "GE", "EQ")
_COMPARISON_SHIFT = 16
_FACTORS = ConstantSpec(name="factors", dtype="int16", shape=(2,))


class AddKernel(Alike[Add]):
    """Sums of tensors of different quantisation, each times a weight of 16 bits."""

    name = "add"

    def accepts(self, op: Add) -> str | None:
        """None, or why it cannot run the operator."""
        if op.a.dtype != op.b.dtype or product_lanes(op.a.dtype, "int16") is None:
            return f"{op.a.dtype} and {op.b.dtype} with int16"
        if is_float(op.y.dtype):
            return f"{op.a.dtype} to {op.y.dtype}"
        return unlike(op) or scale_refusal(op.rescale)

    def constants(self, op: Add, out: Region) -> tuple[ConstantSpec, ...]:
        """Bias and factor, and the weights."""
        return SCALE, _FACTORS

    def pack(self, op: Add, out: Region, values: Values) -> dict[str, NDArray[np.generic]]:
        """All from the operator itself."""
        factors = np.array(op.weights_ab, np.int16)
        return {"scales": packed_scale(op.rescale, op.bias), "factors": factors}

    def nests(self, op: Add, out: Region, places: Places) -> Sequence[SliceKernel]:
        """A vector of a, then one of b."""
        _check_pair(places["a"], places["b"])
        found = walks((places["a"], places["y"]), places["y"].shape)
        return [_add(op, places, walk) for walk in found]


def _add(op: Add, places: Places, walk: Walk) -> SliceKernel:
    lanes = product_lanes(op.a.dtype, "int16")
    assert lanes is not None
    a, y = places["a"], places["y"]
    vector = VECTOR_BYTES // a.element // lanes.data_repeats
    width = ACT_WORDS // lanes.partials
    k = SliceKernel("add")
    k.load_bias(places["scales"][0])
    with ExitStack() as nest:
        read, write = walk.enter(k, nest)
        v = nest.enter_context(k.each(vectors(walk.run, vector), FLAT))
        with k.each(2) as side:
            k.load_weights(places["factors"][side])
            there = read + v * (vector * a.element) + side * (places["b"].address - a.address)
            k.load_data(at(a, there, vector))
            k.multiply()
        with k.each(vector // width, FLAT):
            shift = single_scale(op.rescale).shift
            k.activate_scaled(width=width, scaling=op.rescale, shift=shift)
            k.append(start(y, write), walk.run)
    return k


class MulKernel(Alike[Mul]):
    """Products; either side may have one step along axes but the last."""

    name = "mul"

    def accepts(self, op: Mul) -> str | None:
        """None, or why it cannot run the operator."""
        if product_lanes(op.a.dtype, op.b.dtype) is None:
            return f"no product of {op.a.dtype} and {op.b.dtype}"
        if is_float(op.a.dtype) != is_float(op.y.dtype):
            return f"{op.a.dtype} to {op.y.dtype}"
        if isinstance(op.rescale, Rescale if is_float(op.a.dtype) else FloatRange):
            return f"{op.a.dtype} with {type(op.rescale).__name__}"
        return unlike(op, repeated=("a", "b")) or scale_refusal(_scaling(op))

    def constants(self, op: Mul, out: Region) -> tuple[ConstantSpec, ...]:
        """A factor, of integers."""
        return () if is_float(op.a.dtype) else (SCALE,)

    def pack(self, op: Mul, out: Region, values: Values) -> dict[str, NDArray[np.generic]]:
        """From the operator itself."""
        return {} if is_float(op.a.dtype) else {"scales": packed_scale(_scaling(op))}

    def nests(self, op: Mul, out: Region, places: Places) -> Sequence[SliceKernel]:
        """As many products at a time as the activation unit takes."""
        found = walks((places["a"], places["b"], places["y"]), places["y"].shape)
        return [_mul(op, places, walk) for walk in found]


def _scaling(op: Mul) -> Rescale:
    if isinstance(op.rescale, Rescale):
        return op.rescale
    low, high = LIMITS.get(op.y.dtype, LIMITS["int32"])
    return Rescale(low=low, high=high)


def _mul(op: Mul, places: Places, walk: Walk) -> SliceKernel:
    lanes = product_lanes(op.a.dtype, op.b.dtype)
    assert lanes is not None
    a, b, y = places["a"], places["b"], places["y"]
    width = ACT_WORDS // lanes.partials
    floating = is_float(a.dtype)
    k = SliceKernel("mul")
    if not floating:
        k.load_bias(places["scales"][0])
    with ExitStack() as nest:
        from_a, from_b, write = walk.enter(k, nest)
        v = nest.enter_context(k.each(vectors(walk.run, width), FLAT))
        k.load_data(at(a, from_a + v * (width * a.element), width))
        k.load_weights(at(b, from_b + v * (width * b.element), width))
        k.multiply(elementwise=True)
        if floating:
            within = op.rescale if isinstance(op.rescale, FloatRange) else FloatRange()
            k.activate_float(width=width, limits=within)
        else:
            scaling = _scaling(op)
            shift = single_scale(scaling).shift
            k.activate_scaled(width=width, scaling=scaling, shift=shift)
        k.append(start(y, write), walk.run)
    return k


class CombineKernel(Alike[Elementwise]):
    """Sums and differences that saturate, extremes, comparisons, logic."""

    name = "combine"

    def accepts(self, op: Elementwise) -> str | None:
        """None, or why it cannot run the operator."""
        if op.kind not in (*_OPERATIONS, *_COMBINATIONS):
            return f"no kind {op.kind}"
        if op.a.dtype != op.b.dtype or op.a.dtype == "float32":
            return f"{op.a.dtype} with {op.b.dtype}"
        if op.kind not in _COMPARISONS and is_float(op.a.dtype) != is_float(op.y.dtype):
            return f"{op.a.dtype} to {op.y.dtype}"
        return unlike(op)

    def nests(self, op: Elementwise, out: Region, places: Places) -> Sequence[SliceKernel]:
        """A vector of a, then one of b."""
        _check_pair(places["a"], places["b"])
        found = walks((places["a"], places["y"]), places["y"].shape)
        return [_combine(op, places, walk) for walk in found]


def _combine(op: Elementwise, places: Places, walk: Walk) -> SliceKernel:
    operation = _OPERATIONS.get(op.kind, op.kind)
    a, y = places["a"], places["y"]
    lanes: Lanes = bypass_lanes(a.dtype, operation)
    vector = VECTOR_BYTES // a.element
    width = min(ACT_WORDS // lanes.partials, vector)
    k = SliceKernel(op.kind.lower())
    with ExitStack() as nest:
        read, write = walk.enter(k, nest)
        v = nest.enter_context(k.each(vectors(walk.run, vector), FLAT))
        with k.each(2) as side:
            there = read + v * (vector * a.element) + side * (places["b"].address - a.address)
            k.load_data(at(a, there, vector))
            k.combine(operation)
        with k.each(vector // width, FLAT):
            _take(k, operation, y.dtype, width)
            k.append(start(y, write), walk.run)
    return k


def _take(k: SliceKernel, operation: str, dtype: str, width: int) -> None:
    """The results of a combination as they are."""
    if is_float(dtype):
        narrow = operation not in _OPERATIONS.values()
        k.activate_float(width=width, limits=FloatRange(), narrow=narrow)
        return
    low, high = limits(dtype)
    shift = _COMPARISON_SHIFT if operation in _COMPARISONS else 0
    k.activate(width=width, shift=shift, low=low, high=high)


def _check_pair(a: Tensor, b: Tensor) -> None:
    """One agent reads both, so one must be as far from the other everywhere."""
    if a.strides != b.strides:
        raise IllegalSliceProgram(
            "operands", f"'{a.name}' in steps of {a.strides} and '{b.name}' of {b.strides}"
        )

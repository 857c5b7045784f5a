"""Operators that go over one tensor element by element."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.hw.torq.facts.machine import limit

from ..operators.elementwise import Clamp, Scale, Table, Unary
from ..operators.quantisation import FloatRange, Rescale
from ..operators.tensors import Region
from ..slice.derive import ACT_WORDS, MOST_VECTORS
from ..slice.errors import IllegalSliceProgram
from ..slice.formats import LIMITS, bypass_lanes, is_float, limits
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT
from ..slice.scaling import bias_pairs
from .alike import SCALE, VECTOR_BYTES, Alike, packed_scale, scale_refusal, single_scale, unlike
from .kernel import ConstantSpec, Places, Values
from .strided import Walk, at, start, vectors, walks

_MODES = {"ABS": "ABS", "NEG": "NEG", "CLZ": "CLZ", "CEIL": "CEL", "FLOOR": "FLR"}
_INTEGERS_ONLY = ("CLZ",)
_FLOATS_ONLY = ("CEIL", "FLOOR")
_FLOATS_AT_A_TIME = 8
_LEAST_PITCH = 4
_LOOKUPS = limit("table_lookups")
ENTRIES = {"int8": 256, "int16": 513}
"""Entries of a table by what is looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What happens to integers on their way: ALU operation, results at a time, activation."""

    op: str
    width: int
    scaling: Rescale
    shift: int = 0
    mode: str = "ACT"
    words: tuple[int, ...] | None = None


class ScaleKernel(Alike[Scale]):
    """RESCALE of integers with one multiplier."""

    name = "rescale"

    def accepts(self, op: Scale) -> str | None:
        """None, or why it cannot run the operator."""
        return unlike(op) or _no_integers(op.x.dtype, op.y.dtype) or scale_refusal(op.rescale)

    def constants(self, op: Scale, out: Region) -> tuple[ConstantSpec, ...]:
        """Bias and factor."""
        return (SCALE,)

    def pack(self, op: Scale, out: Region, values: Values) -> dict[str, NDArray[np.generic]]:
        """From the operator itself."""
        return {"scales": packed_scale(op.rescale, -op.input_zp)}

    def nests(self, op: Scale, out: Region, places: Places) -> Sequence[SliceKernel]:
        """Sums of one element each."""
        how = Pass(
            op="ACC",
            width=ACT_WORDS // bypass_lanes(op.x.dtype, "ACC").partials,
            scaling=op.rescale,
            shift=single_scale(op.rescale).shift,
        )
        return _passes("rescale", places, how)


class ClampKernel(Alike[Clamp]):
    """Limits of integers and of bfloat16."""

    name = "clamp"

    def accepts(self, op: Clamp) -> str | None:
        """None, or why it cannot run the operator."""
        if is_float(op.x.dtype):
            same = op.x.dtype == op.y.dtype == "bfloat16"
            return unlike(op) if same else f"{op.x.dtype} to {op.y.dtype}"
        return unlike(op) or _no_integers(op.x.dtype, op.y.dtype)

    def nests(self, op: Clamp, out: Region, places: Places) -> Sequence[SliceKernel]:
        """Words as they are."""
        if is_float(op.x.dtype):
            return _float_passes("clamp", places, "ACT", FloatRange(op.low, op.high))
        scaling = Rescale(low=int(op.low), high=int(op.high))
        return _passes("clamp", places, _as_they_are(op.x.dtype, scaling))


class UnaryKernel(Alike[Unary]):
    """The activation unit's modes, and casts."""

    name = "unary"

    def accepts(self, op: Unary) -> str | None:
        """None, or why it cannot run the operator."""
        floating = is_float(op.x.dtype)
        if op.kind == "CAST":
            if floating == is_float(op.y.dtype):
                return f"cast of {op.x.dtype} to {op.y.dtype}"
        elif op.kind not in _MODES or op.kind in (_INTEGERS_ONLY if floating else _FLOATS_ONLY):
            return f"no {op.kind} of {op.x.dtype}"
        elif floating != is_float(op.y.dtype):
            return f"{op.x.dtype} to {op.y.dtype}"
        if op.x.dtype == "float32":
            return f"{op.kind} of float32"
        return unlike(op)

    def nests(self, op: Unary, out: Region, places: Places) -> Sequence[SliceKernel]:
        """Words as they are, through a mode."""
        name, floating = op.kind.lower(), is_float(op.x.dtype)
        if op.kind == "CAST" and floating:
            low, high = limits(op.y.dtype)
            return _float_passes(name, places, "F2I", FloatRange(low, high))
        if floating:
            return _float_passes(name, places, _MODES[op.kind], FloatRange())
        mode = "I2F" if op.kind == "CAST" else _MODES[op.kind]
        low, high = limits(op.x.dtype if op.kind == "CAST" else op.y.dtype)
        scaling = Rescale(low=low, high=high)
        return _passes(name, places, replace(_as_they_are(op.x.dtype, scaling), mode=mode))


class TableKernel(Alike[Table]):
    """Look-ups, two at a time: so many the activation unit makes in a cycle."""

    name = "table"

    def accepts(self, op: Table) -> str | None:
        """None, or why it cannot run the operator."""
        if op.x.dtype not in ENTRIES or op.y.dtype != op.x.dtype:
            return f"{op.x.dtype} to {op.y.dtype}"
        if len(op.entries) != ENTRIES[op.x.dtype]:
            return f"{len(op.entries)} entries for {op.x.dtype}"
        try:
            _table_words(op)
        except IllegalSliceProgram as error:
            return str(error)
        return unlike(op)

    def constants(self, op: Table, out: Region) -> tuple[ConstantSpec, ...]:
        """Bias and factor."""
        return (SCALE,)

    def pack(self, op: Table, out: Region, values: Values) -> dict[str, NDArray[np.generic]]:
        """int8 x becomes (x - 128) * 128, which is entry x + 128 with no fraction."""
        bias, factor = (-128, 128) if op.x.dtype == "int8" else (0, 1)
        return {"scales": bias_pairs([bias], [factor])}

    def nests(self, op: Table, out: Region, places: Places) -> Sequence[SliceKernel]:
        """Sums of one element each, looked up."""
        low, high = LIMITS["int16"]  # of what is looked up
        scaling = Rescale(low=low, high=high)
        how = Pass(op="ACC", width=_LOOKUPS, scaling=scaling, words=_table_words(op))
        return _passes("table", places, how)


def _table_words(op: Table) -> tuple[int, ...]:
    """Base and slope of each entry; of 8-bit results the high byte of the base is taken."""
    if op.x.dtype == "int8":
        return tuple((value << 8) & 0xFFFF for value in op.entries)
    words = []
    for base, following in itertools.pairwise(op.entries):
        slope = following - base
        if not -(1 << 15) <= slope < 1 << 15:
            raise IllegalSliceProgram("table", f"a step of {slope} does not fit 16 bits")
        words.append((slope & 0xFFFF) << 16 | base & 0xFFFF)
    return tuple(words)


def _as_they_are(dtype: str, scaling: Rescale) -> Pass:
    """Each result is one word."""
    width = ACT_WORDS // bypass_lanes(dtype, "BOR").partials
    return Pass(op="BOR", width=width, scaling=scaling)


def _passes(name: str, places: Places, how: Pass) -> list[SliceKernel]:
    tensors = places["x"], places["y"]
    return [_pass(name, places, how, walk) for walk in walks(tensors, tensors[1].shape)]


def _pass(name: str, places: Places, how: Pass, walk: Walk) -> SliceKernel:
    x, y = places["x"], places["y"]
    vector = min(VECTOR_BYTES // x.element, how.width * MOST_VECTORS)
    if how.width * bypass_lanes(x.dtype, how.op).partials < _LEAST_PITCH:
        vector = how.width  # Several vectors of a block lie at least so many words apart.
    width = min(how.width, vector)
    k = SliceKernel(name)
    if "scales" in places:
        k.load_bias(places["scales"][0])
    with ExitStack() as nest:
        read, write = walk.enter(k, nest)
        v = nest.enter_context(k.each(vectors(walk.run, vector), FLAT))
        k.load_data(at(x, read + v * (vector * x.element), vector))
        k.combine(how.op)
        with k.each(vector // width, FLAT):
            k.activate_scaled(
                width=width,
                scaling=how.scaling,
                shift=how.shift,
                mode=how.mode,
                table=how.words,
                sum_bits=8 * x.element if how.mode == "CLZ" else 0,
            )
            k.append(start(y, write), walk.run)
    return k


def _float_passes(name: str, places: Places, mode: str, within: FloatRange) -> list[SliceKernel]:
    x, y = places["x"], places["y"]
    vector = VECTOR_BYTES // x.element
    found = []
    for walk in walks((x, y), y.shape):
        k = SliceKernel(name)
        with ExitStack() as nest:
            read, write = walk.enter(k, nest)
            v = nest.enter_context(k.each(vectors(walk.run, vector), FLAT))
            k.load_data(at(x, read + v * (vector * x.element), vector))
            k.combine("BOR")
            with k.each(vector // _FLOATS_AT_A_TIME, FLAT):
                k.activate_float(
                    width=_FLOATS_AT_A_TIME,
                    limits=within,
                    narrow=True,
                    mode=mode,
                    rounding="NTE",
                )
                k.append(start(y, write), walk.run)
        found.append(k)
    return found


def _no_integers(*dtypes: str) -> str | None:
    if any(is_float(dtype) for dtype in dtypes):
        return f"{' to '.join(dtypes)}, not of integers"
    return None

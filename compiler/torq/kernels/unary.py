"""Operators that go over one dense tensor element by element."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from assay.hw.torq.words.commands import SliceTask

from ..slice.derive import ACT_WORDS, MOST_VECTORS
from ..slice.errors import IllegalSliceProgram
from ..slice.formats import LIMITS, bypass_lanes, is_float, limits
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT
from ..slice.lram import Lram
from ..slice.scaling import FloatRange, Rescale, bias_pairs, channel_runs
from ..slice.tensor import Tensor

VECTOR_BYTES = 64
MODES = ("ABS", "NEG", "CLZ", "CEL", "FLR")
_INTEGER_MODES = ("CLZ",)
_FLOAT_MODES = ("CEL", "FLR")
_FLOATS_AT_A_TIME = 8
_SHORT_TABLE = 256
_LONG_TABLE = 513


def rescale(
    lram: Lram, x: Tensor, output: Tensor, *, rescale: Rescale, input_zp: int = 0
) -> list[SliceTask]:
    """Tasks for output = (x - input_zp) scaled. One multiplier for all.

    Raises IllegalSliceProgram.
    """
    _alike("rescale", x, output)
    _whole("rescale", x, output)
    (run,) = channel_runs(rescale, 1)
    pair = lram.constant(f"scale of {output.name}", bias_pairs([-input_zp], run.factors))
    lanes = bypass_lanes(x.dtype, "ACC")
    return [
        _pass(
            "rescale",
            x,
            output,
            op="ACC",
            width=ACT_WORDS // lanes.partials,
            bias=pair,
            scaling=rescale,
            shift=run.shift,
        )
    ]


def clamp(x: Tensor, output: Tensor, low: int, high: int) -> list[SliceTask]:
    """Tasks for output = x within `low` and `high`. Raises IllegalSliceProgram."""
    _alike("clamp", x, output)
    _whole("clamp", x, output)
    scaling = Rescale(low=low, high=high)
    return [_pass("clamp", x, output, op="BOR", width=_words(x), scaling=scaling)]


def copy(x: Tensor, output: Tensor) -> list[SliceTask]:
    """Tasks for output = x. Raises IllegalSliceProgram."""
    x, output = x.bits, output.bits
    low, high = limits(x.dtype)
    return clamp(x, output, low, high)


def unary(mode: str, x: Tensor, output: Tensor) -> list[SliceTask]:
    """Tasks for one of the activation unit's modes: ABS, NEG, CLZ, CEL (ceil), FLR (floor).

    CLZ is of integers and counts in as many bits as x has; CEL and FLR are of bfloat16. Raises
    IllegalSliceProgram.
    """
    _alike(mode.lower(), x, output)
    if mode not in MODES or mode in (_INTEGER_MODES if is_float(x.dtype) else _FLOAT_MODES):
        raise IllegalSliceProgram("activation", f"no mode {mode} of {x.dtype}")
    if is_float(x.dtype):
        return [_pass_floats(mode.lower(), x, output, mode=mode)]
    low, high = limits(output.dtype)
    scaling = Rescale(low=low, high=high)
    return [_pass(mode.lower(), x, output, op="BOR", width=_words(x), scaling=scaling, mode=mode)]


def cast(x: Tensor, output: Tensor) -> list[SliceTask]:
    """Tasks for output = x as another type: bfloat16 to integers, integers to bfloat16 or float32.

    Floats are rounded to the nearest, ties to even, and saturate. Raises IllegalSliceProgram.
    """
    _alike("cast", x, output)
    if is_float(x.dtype) == is_float(output.dtype):
        raise IllegalSliceProgram("formats", f"cast: {x.dtype} to {output.dtype}")
    if is_float(x.dtype):
        low, high = limits(output.dtype)
        return [_pass_floats("cast", x, output, mode="F2I", within=FloatRange(low, high))]
    low, high = limits(x.dtype)
    scaling = Rescale(low=low, high=high)
    return [_pass("cast", x, output, op="BOR", width=_words(x), scaling=scaling, mode="I2F")]


def table(lram: Lram, x: Tensor, output: Tensor, entries: Sequence[int]) -> list[SliceTask]:
    """Tasks for a look-up: 256 int8 entries for int8, 513 int16 entries for int16.

    Of int16 the result is interpolated and rounded to a whole number (TOSA gives 7 more bits).
    Raises IllegalSliceProgram.
    """
    _alike("table", x, output)
    if x.dtype not in ("int8", "int16") or output.dtype != x.dtype:
        raise IllegalSliceProgram("formats", f"table: {x.dtype} to {output.dtype}")
    short = x.dtype == "int8"
    if len(entries) != (_SHORT_TABLE if short else _LONG_TABLE):
        raise IllegalSliceProgram("table", f"{len(entries)} entries for {x.dtype}")
    # int8 x becomes (x - 128) * 128, which is entry x + 128 with no fraction.
    bias, factor = (-128, 128) if short else (0, 1)
    pair = lram.constant(f"scale of {output.name}", bias_pairs([bias], [factor]))
    words = _short_words(entries) if short else _long_words(entries)
    low, high = LIMITS["int16"]  # of what is looked up
    return [
        _pass(
            "table",
            x,
            output,
            op="ACC",
            width=ACT_WORDS // bypass_lanes(x.dtype, "ACC").partials,
            bias=pair,
            scaling=Rescale(low=low, high=high),
            words=words,
        )
    ]


def _short_words(entries: Sequence[int]) -> tuple[int, ...]:
    """Of 8-bit results the high byte of `base` is taken."""
    return tuple((value << 8) & 0xFFFF for value in entries)


def _long_words(entries: Sequence[int]) -> tuple[int, ...]:
    words = []
    for base, following in itertools.pairwise(entries):
        slope = following - base
        if not -(1 << 15) <= slope < 1 << 15:
            raise IllegalSliceProgram("table", f"a step of {slope} does not fit 16 bits")
        words.append((slope & 0xFFFF) << 16 | base & 0xFFFF)
    return tuple(words)


def _pass(
    name: str,
    x: Tensor,
    output: Tensor,
    *,
    op: str,
    width: int,
    scaling: Rescale,
    bias: Tensor | None = None,
    shift: int = 0,
    mode: str = "ACT",
    words: tuple[int, ...] | None = None,
) -> SliceTask:
    count = math.prod(x.shape)
    vector = min(VECTOR_BYTES // x.element, width * MOST_VECTORS)
    k = SliceKernel(name)
    if bias is not None:
        k.load_bias(bias[0])
    with k.each(-(-count // vector), FLAT) as v:
        block = x[(0,) * len(x.shape)].at(v * (vector * x.element))
        k.load_data(block.with_block((vector, x.element)))
        k.combine(op)
        with k.each(max(1, vector // width), FLAT):
            k.activate_scaled(
                width=min(width, vector),
                scaling=scaling,
                shift=shift,
                mode=mode,
                table=words,
                sum_bits=8 * x.element if mode == "CLZ" else 0,
            )
            k.append(output[(0,) * len(output.shape)], count)
    return k.task()


def _pass_floats(
    name: str, x: Tensor, output: Tensor, *, mode: str, within: FloatRange | None = None
) -> SliceTask:
    if x.dtype != "bfloat16":
        raise IllegalSliceProgram("formats", f"{name}: {x.dtype}")
    count = math.prod(x.shape)
    vector = VECTOR_BYTES // x.element
    zero = (0,) * len(x.shape)
    k = SliceKernel(name)
    with k.each(-(-count // vector), FLAT) as v:
        block = x[zero].at(v * (vector * x.element))
        k.load_data(block.with_block((vector, x.element)))
        k.combine("BOR")
        with k.each(vector // _FLOATS_AT_A_TIME, FLAT):
            k.activate_float(
                width=_FLOATS_AT_A_TIME,
                limits=within or FloatRange(),
                narrow=True,
                mode=mode,
                rounding="NTE",
            )
            k.append(output[zero], count)
    return k.task()


def _whole(name: str, x: Tensor, output: Tensor) -> None:
    if is_float(x.dtype) or is_float(output.dtype):
        raise IllegalSliceProgram(
            "formats", f"{name}: {x.dtype} to {output.dtype}, not of integers"
        )


def _words(x: Tensor) -> int:
    """Results at a time when each is one word."""
    return ACT_WORDS // bypass_lanes(x.dtype, "BOR").partials


def _alike(name: str, x: Tensor, output: Tensor) -> None:
    if x.shape != output.shape:
        raise IllegalSliceProgram("shapes", f"{name}: {x.shape} to {output.shape}")

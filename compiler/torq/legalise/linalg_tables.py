"""Functions of one number of 8 or 16 bits: looked up."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from ...graph.elements import NUMPY, Array
from ..hl.elementwise import Scale, Select, Table
from ..hl.moves import Gather
from ..hl.types import Tensor, tensor_of
from ..operators.quantisation import Rescale
from .integers import Numbers, bits_of

_MOST_ROWS = 1 << 14
"""Numbers of 16 bits that a gather reaches with offsets of 16 bits."""
_LEAST_RUN = 256
"""Equal entries from which on a constant is better than entries."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Entries from `start` on for the numbers from `first` on; a single one is a constant."""

    first: int
    start: int
    entries: Array


def arguments(dtype: str) -> Array:
    """All numbers of a type of 8 or 16 bits, in the order of their bits as signed integers."""
    if dtype == "bool":
        return np.array([False, True])
    bits = bits_of(dtype)
    half = 1 << (bits - 1)
    return np.arange(-half, half).astype(f"int{bits}").view(NUMPY[dtype])


def looked_up(n: Numbers, x: SSAValue, results: Array, dtype: str) -> SSAValue:
    """The value whose elements are `results` of those of x, which are in the order of `arguments`.

    x is of 8 or 16 bits, or truth values; results of any type.
    """
    source = tensor_of(x).dtype
    if source == "bool":
        return _chosen(n, x, results, dtype)
    x = n.integers(x)
    if bits_of(source) == 8 and bits_of(dtype) <= 8:
        entries = tuple(int(e) for e in results.astype(np.int8))
        made = n.builder.emit(Table, [x], tensor_of(x).like(dtype="int8"), entries=entries)
        return n.seen_as(made, dtype)
    short = n.widened(x, "int16")
    if bits_of(dtype) <= 8:
        return n.seen_as(n.cut(_pieces(n, short, results.astype(np.int16)), "int8"), dtype)
    if bits_of(dtype) == 16:
        return n.seen_as(_pieces(n, short, results.view(np.int16)), dtype)
    words = results.view(np.int32)
    high = n.widened(_pieces(n, short, (words >> 16).astype(np.int16)), "int32")
    low = n.unsigned(_pieces(n, short, words.astype(np.int16)), "int32")
    top = n.combine("LSL", high, n.number(16, high), "int32")
    return n.seen_as(n.combine("BOR", top, low, "int32"), dtype)


def _chosen(n: Numbers, x: SSAValue, results: Array, dtype: str) -> SSAValue:
    """One of two."""
    kept = {"bool": "int8", "bfloat16": "int16", "float32": "int32"}.get(dtype, dtype)
    bits = np.ascontiguousarray(results).view(NUMPY[kept])
    rank = len(tensor_of(x).shape)
    no, yes = (n.builder.const(bits[i].reshape((1,) * rank), kept) for i in (0, 1))
    made = n.builder.emit(Select, [x, yes, no], tensor_of(x).like(dtype=kept))
    return n.seen_as(made, dtype)


def _pieces(n: Numbers, x: SSAValue, entries: Array) -> SSAValue:
    """int16 of int16: entries gathered from tables and constants, by where x lies."""
    made: SSAValue | None = None
    for piece in pieces(entries):
        value = _piece(n, x, piece)
        if made is None:
            made = value
            continue
        behind = n.combine("GE", x, n.number(piece.first, x), "int16", "bool")
        made = n.builder.emit(Select, [behind, value, made], tensor_of(x).like())
    assert made is not None
    if tensor_of(made).shape != tensor_of(x).shape:
        zero = n.number(0, x)
        made = n.combine("BOR", n.combine("BAND", x, zero, "int16"), made, "int16")
    return made


def _piece(n: Numbers, x: SSAValue, piece: _Piece) -> SSAValue:
    if len(piece.entries) == 1:
        return n.number(int(piece.entries[0]), x)
    kind = tensor_of(x)
    count, last = math.prod(kind.shape), len(piece.entries) - 1
    flat = n.builder.view(x, (1, count))
    places = n.builder.emit(
        Scale,
        [flat],
        Tensor(dtype="int32", shape=(1, count)),
        input_zp=piece.start,
        rescale=Rescale(low=0, high=last),
    )
    table = n.builder.const(piece.entries.reshape(1, -1, 1), "int16")
    found = n.builder.emit(Gather, [table, places], Tensor(dtype="int16", shape=(1, count, 1)))
    return n.builder.view(found, kind.shape)


def pieces(entries: Array) -> list[_Piece]:
    """Entries for numbers from -len / 2 on, taken apart into constants and short tables.

    A table has one of the equal entries before and behind it: it stands for all of them, since
    numbers beyond a table get the entry at its end.
    """
    least = -(len(entries) // 2)
    edges = np.flatnonzero(entries[1:] != entries[:-1]) + 1
    starts = np.concatenate([[0], edges]).tolist()
    ends = [*starts[1:], len(entries)]
    is_long = [end - start >= _LEAST_RUN for start, end in zip(starts, ends, strict=True)]
    found: list[_Piece] = []
    run, constant = 0, False
    while run < len(starts):
        if is_long[run]:
            found.append(_Piece(least + starts[run], least, entries[starts[run] :][:1]))
            run += 1
            constant = True
            continue
        first = run
        while run < len(starts) and not is_long[run]:
            run += 1
        begin = starts[first] - (1 if first else 0)
        reach = begin
        if first and constant:
            reach = found.pop().first - least
        end = ends[run - 1]
        if run < len(starts):
            end += 1
            run += 1
        constant = False
        for start in range(begin, end, _MOST_ROWS):
            table = entries[start : min(end, start + _MOST_ROWS)]
            found.append(_Piece(least + (reach if start == begin else start), least + start, table))
    return found

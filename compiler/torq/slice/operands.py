"""What the agents of a nest touch, from its views and loops: what the words are checked against."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from assay.hw.torq.intervals import ADDRESSES, merged
from assay.hw.torq.notes import Operand, Ranges, TaskNote
from assay.hw.torq.words.commands import Ndl

from .kernel import Load, SliceKernel, Store, Window

_MOST_PIECES = 1 << 20
"""Pieces with gaps between them beyond which only their bounds are given."""


def linear(agent: str, memory: str, tensor: str, address: int, size: int) -> Operand:
    """Bytes one behind the other."""
    return Operand(agent=agent, tensor=tensor, memory=memory, ranges=((address, address + size),))


def note_of(kernel: SliceKernel, ndls: Iterable[Ndl]) -> TaskNote:
    """What a complete nest is for: its operands are those of its loads and its store."""
    loads = {
        "DEDR": kernel.data,
        "DEDR1": kernel.indices,
        "DEWR": kernel.weights,
        "DEBR": kernel.bias,
    }
    operands = []
    for ndl in ndls:
        load = loads.get(ndl.name)
        if load is not None:
            operands.append(_loaded(kernel, ndl, load))
        elif ndl.name == "DEQW" and kernel.store_ is not None:
            operands.append(_stored(ndl, kernel.store_))
    target = kernel.store_.view.tensor.name if kernel.store_ is not None else ""
    return TaskNote(operation=f"{kernel.name} of {target}", operands=tuple(operands))


def _loaded(kernel: SliceKernel, ndl: Ndl, load: Load) -> Operand:
    tensor = load.view.tensor
    if ndl.name == "DEDR" and kernel.indices is not None:
        # A transfer may start at the last element and reach as far beyond it.
        reach = tensor.size - tensor.element + load.view.bytes_
        whole = ((tensor.address, tensor.address + reach),)
        own = of_loops(ndl, tensor.name)
        return replace(own, ranges=whole, exact=False, unmoved=own.ranges)
    before = 0
    if ndl.name == "DEDR" and kernel.window is not None:
        before = _before(kernel.window, tensor.element)
    return of_loops(ndl, tensor.name, before=before)


def _before(window: Window, element: int) -> int:
    """Bytes from a window's first tap to its centre."""
    rows, columns = (-(-reach // window.stride) for reach in (window.top, window.left))
    return (rows * window.width + columns) * element


def _stored(ndl: Ndl, store: Store) -> Operand:
    """Of a plane that is filled transfer by transfer, what is beyond its end is not written."""
    if ndl.special:
        ndl = replace(ndl, low=ndl.special)
    return of_loops(ndl, store.view.tensor.name)


def of_loops(ndl: Ndl, tensor: str, *, before: int = 0) -> Operand:
    """What an agent touches whose loops begin so many bytes before its base address."""
    steps = [(dim.count, dim.stride) for dim in ndl.low + ndl.high]
    ranges, exact = spans(ndl.base_address - before, steps)
    return Operand(agent=ndl.name, tensor=tensor, memory="LRAM", ranges=ranges, exact=exact)


def spans(
    base: int, loops: Iterable[tuple[int, int]], addresses: int = ADDRESSES
) -> tuple[Ranges, bool]:
    """Bytes at `base` and at all steps (count, stride) from there, and whether just these.

    They are in a memory of so many `addresses`.
    """
    first, size = base, 1
    apart: list[tuple[int, int]] = []
    for count, stride in sorted(loops, key=lambda loop: abs(loop[1])):
        first += min(0, (count - 1) * stride)
        if abs(stride) <= size:
            size += (count - 1) * abs(stride)
        elif count > 1:
            apart.append((count, abs(stride)))
    if math.prod(count for count, _ in apart) > _MOST_PIECES:
        return ((first, first + size + sum((n - 1) * step for n, step in apart)),), False
    starts = np.array([first], np.int64)
    for count, stride in apart:
        steps = np.arange(count, dtype=np.int64) * stride
        starts = np.unique((starts[:, None] + steps).ravel())
    return merged(starts, size, addresses), True

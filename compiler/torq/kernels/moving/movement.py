"""Elements from places of any strides to places of any others, in the cheapest of three ways.

Runs that are dense on both sides go 64 bytes per cycle. Where neighbours in the source lie apart in
the target, blocks are turned (`turning`), or pairs are written to two places per cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from ...slice.formats import LIMITS
from ...slice.kernel import SliceKernel
from ...slice.loops import Index
from ...slice.tensor import Tensor, View
from ..strided import Axis, merged

_WORDS = {1: "int8", 2: "int16", 4: "int32"}
_MOST_BYTES = 64
_MOST_SCATTERED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """`axes`, outermost first: steps, and bytes from one to the next in source and target."""

    name: str
    source: Tensor
    target: Tensor
    axes: tuple[Axis, ...]
    read: int = 0
    write: int = 0

    @property
    def element(self) -> int:
        """Bytes of an element."""
        return self.source.element

    def without(self, axis: int) -> tuple[Axis, ...]:
        """All axes but one."""
        return self.axes[:axis] + self.axes[axis + 1 :]


def movement(
    name: str,
    source: Tensor,
    target: Tensor,
    axes: Sequence[Axis],
    offsets: tuple[int, int] = (0, 0),
) -> Movement:
    """A movement with as few axes as possible; `offsets` in bytes of source and target."""
    kept = [axis for axis in axes if axis[0] > 1]
    read, write = offsets
    return Movement(
        name=name,
        source=source,
        target=target,
        axes=tuple(merged(kept)),
        read=read,
        write=write,
    )


def nests(moved: Movement) -> list[SliceKernel]:
    """The tasks of a movement."""
    from .turning import turned

    ways = [_runs(moved), _pairs(moved), turned(moved)]
    return min((way for way in ways if way), key=lambda way: sum(k.cycles for k in way))


def words(tensor: Tensor, size: int) -> Tensor:
    """A tensor's memory as integers of so many bytes."""
    return replace(tensor, dtype=_WORDS[size])


def loops(
    k: SliceKernel, nest: ExitStack, axes: Sequence[Axis], offsets: tuple[int, int]
) -> tuple[Index, Index]:
    """Loops over axes; gives the places in source and target."""
    read, write = Index({}, offsets[0]), Index({}, offsets[1])
    for count, (from_, to) in axes:
        loop = nest.enter_context(k.each(count))
        read, write = read + loop * from_, write + loop * to
    return read, write


def block(tensor: Tensor, place: Index, count: int) -> View:
    """So many neighbouring elements."""
    return View(tensor=tensor, place=place, shape=(count,), strides=(tensor.element,))


def power_below(count: int) -> int:
    """The largest power of two that is not more."""
    return 1 << (count.bit_length() - 1)


def _runs(moved: Movement) -> list[SliceKernel]:
    """Dense runs as words as wide as possible. The last ones of a run may go twice."""
    axes, element = moved.axes, moved.element
    run = element
    if axes and axes[-1][1] == (element, element):
        run, axes = axes[-1][0] * element, axes[:-1]
    size = min(_MOST_BYTES, power_below(run))
    found = [_run(moved, axes, 0, run // size, size)]
    if run % size:
        found.append(_run(moved, axes, run - size, 1, size))
    return found


def _run(moved: Movement, axes: Sequence[Axis], start: int, count: int, size: int) -> SliceKernel:
    unit = min(size, 4)
    source, target = words(moved.source, unit), words(moved.target, unit)
    low, high = LIMITS[source.dtype]
    k = SliceKernel(moved.name)
    with ExitStack() as nest:
        offsets = moved.read + start, moved.write + start
        read, write = loops(k, nest, (*axes, (count, (size, size))), offsets)
        # The activation unit takes two words at the least; of one the second is dropped.
        k.load_data(block(source, read, size // unit))
        k.combine("BOR")
        k.activate(width=size // unit, low=low, high=high)
        k.store(block(target, write, size // unit))
    return k


def _pairs(moved: Movement) -> list[SliceKernel]:
    """Neighbours of the source, two at a time to two places of the target."""
    element = moved.element
    dense = [
        number
        for number, (_, (source, target)) in enumerate(moved.axes)
        if source == element and target != element
    ]
    if not dense or element > _MOST_SCATTERED:
        return []
    count, (_, apart) = moved.axes[dense[0]]
    others = moved.without(dense[0])
    found = [_pair(moved, (*others, (count // 2, (2 * element, 2 * apart))), 0, apart)]
    if count % 2:
        found.append(_pair(moved, others, count - 2, apart))
    return found


def _pair(moved: Movement, axes: Sequence[Axis], start: int, apart: int) -> SliceKernel:
    source, target = words(moved.source, moved.element), words(moved.target, moved.element)
    low, high = LIMITS[source.dtype]
    k = SliceKernel(moved.name)
    with ExitStack() as nest:
        offsets = moved.read + start * moved.element, moved.write + start * apart
        read, write = loops(k, nest, axes, offsets)
        k.load_data(block(source, read, 2))
        k.combine("BOR")
        k.activate(width=2, low=low, high=high)
        k.store(block(target, write, 2), apart=apart)
    return k

"""The grid that a kernel is run on: given, or chosen by what the kernel asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import mul
from typing import TYPE_CHECKING

from assay.hw.apple.facts.limits import limits
from assay.sim.simt.analysis.linear_form import number_of
from assay.sim.simt.ir.operations import positions as p
from assay.sim.simt.ir.operations.marks import EXPECT_SIMDGROUPS
from assay.sim.simt.ir.operations.operation import OfThread, Operation
from assay.sim.simt.ir.operations.synchronisation import SIMDGROUP_BARRIER
from assay.sim.simt.ir.operations.table import OPERATIONS

from .inputs import Setup, Size
from .stated import Shape, largest_array

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction

ASSUMED_THREADS = 256
"""Threads of a threadgroup that nobody stated."""

_SIMDGROUP = limits().thread_execution_width
_GROUPS = {1: (3, 1, 1), 2: (2, 2, 1), 3: (2, 2, 2)}
_GRID_POSITIONS = (p.THREAD_POSITION_IN_GRID, p.THREADGROUP_POSITION_IN_GRID)
_PLACES = (
    p.THREAD_POSITION_IN_GRID,
    p.THREAD_POSITION_IN_THREADGROUP,
    p.THREAD_INDEX_IN_THREADGROUP,
    p.SIMDGROUP_INDEX_IN_THREADGROUP,
)
_THREAD_POSITIONS = (p.THREAD_POSITION_IN_GRID, p.THREAD_POSITION_IN_THREADGROUP)
_OF_SIMDGROUPS = (
    p.THREAD_INDEX_IN_SIMDGROUP,
    p.SIMDGROUP_INDEX_IN_THREADGROUP,
    p.SIMDGROUPS_PER_THREADGROUP,
    SIMDGROUP_BARRIER,
)
# A kernel that asks for nothing else treats its threads alike, whatever their threadgroups.
_PLAIN = {p.THREAD_POSITION_IN_GRID, p.THREADS_PER_GRID}
_OF_MATRICES = {p.MATRIX_ROW, p.MATRIX_COLUMN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A grid in threads or, if that is None, in threadgroups; `elements` is what it is made for."""

    threads: Size | None
    threadgroups: Size | None
    threadgroup: Size
    elements: Size
    axes: int
    assumptions: tuple[str, ...]

    @property
    def group_threads(self) -> int:
        """Threads of a whole threadgroup."""
        return math.prod(self.threadgroup)

    @property
    def size(self) -> Size:
        """Threads of the grid in each dimension."""
        return size_in_threads(self.threads, self.threadgroups, self.threadgroup)

    @property
    def total(self) -> int:
        """Threads of the grid."""
        return math.prod(self.size)

    def __str__(self) -> str:
        return grid_text(self.threads, self.threadgroups, self.threadgroup)


def size_in_threads(threads: Size | None, threadgroups: Size | None, threadgroup: Size) -> Size:
    """Threads in each dimension of a grid that is given in threads or else in threadgroups."""
    if threads is not None:
        return threads
    assert threadgroups is not None
    x, y, z = map(mul, threadgroups, threadgroup)
    return x, y, z


@dataclass(frozen=True, slots=True, kw_only=True)
class _Use:
    """What a kernel asks about its threads: axes of positions, and whether groups matter.

    `threads` bounds a threadgroup whose threads do not know which they are, and `is_alone` tells a
    kernel that does not know which threadgroup it is: several would do the same to the same memory.
    """

    thread_axes: int
    grid_axes: int
    by_threadgroup: bool
    is_alone: bool
    threads: int


def choose_grid(kernel: KernelFunction, setup: Setup, *, shrink: int = 1) -> Grid:
    """The grid of `setup`, completed; an assumed threadgroup has `shrink` times fewer threads.

    A `shrink` of -1 stands for 1. What is given may be more than a device takes. What is assumed
    has no more threads than the largest array has elements, if the sizes of all are given.
    """
    use = _use_of(kernel)
    is_open = setup.threads is None and setup.threadgroups is None
    room = largest_array(kernel, setup) if is_open else None
    threadgroup = setup.threadgroup
    assumed: list[str] = []
    if threadgroup is None:
        most = setup.threads or _within(room, use.thread_axes)
        if most is not None and is_open and use.by_threadgroup:
            most = _powers(most)
        threadgroup = _threadgroup(kernel, use, most, shrink)
        assumed.append(f"threadgroups of {size_text(threadgroup)} threads")
    threads, threadgroups = setup.threads, setup.threadgroups
    if is_open:
        if use.is_alone:
            threadgroups = (1, 1, 1)
            assumed.append("1 threadgroup, as the kernel asks for no position in the grid")
        elif use.by_threadgroup:
            threadgroups = _groups(threadgroup, use.grid_axes, room)
            assumed.append(f"{size_text(threadgroups)} threadgroups")
        else:
            threads = _odd_grid(threadgroup, use.grid_axes, _within(room, use.grid_axes))
            assumed.append(f"{size_text(threads)} threads")
    return Grid(
        threads=threads,
        threadgroups=threadgroups,
        threadgroup=threadgroup,
        elements=threads or _elements(threadgroups or (1, 1, 1), threadgroup),
        axes=use.grid_axes,
        assumptions=tuple(assumed),
    )


def grid_text(threads: Size | None, threadgroups: Size | None, threadgroup: Size) -> str:
    """A grid in words; it is given in threads or in threadgroups."""
    size = size_text(threadgroup)
    if threads is not None:
        return f"{size_text(threads)} threads in threadgroups of {size}"
    assert threadgroups is not None
    count = size_text(threadgroups)
    return f"{count} threadgroup{'' if count == '1' else 's'} of {size}"


def size_text(size: Size) -> str:
    """`256`, `16x16` or `8x8x4`."""
    last = max((axis for axis in range(3) if size[axis] != 1), default=0)
    return "x".join(map(str, size[: last + 1]))


def _use_of(kernel: KernelFunction) -> _Use:
    """Found in the optimised code: what a position is declared as says less than what is used."""
    asked = {OPERATIONS[name]: axes for name, axes in kernel.program().asked.items()}
    has_atomics = any(each.is_atomic for each in asked)
    thread_axes = max((asked.get(each, 1) for each in _THREAD_POSITIONS), default=1)
    grid_axes = max(thread_axes, *(asked.get(each, 1) for each in _GRID_POSITIONS))
    tells_apart = has_atomics or any(each in asked for each in _PLACES)
    by_lane = any(each.crosses_lanes or each in _OF_SIMDGROUPS for each in asked)
    positions = {each for each in asked if _is_position(each) or _is_barrier(each)}
    has_memory = kernel.program().static_threadgroup_memory > 0
    has_memory |= any(argument.kind == "threadgroup" for argument in kernel.arguments)
    return _Use(
        thread_axes=thread_axes,
        grid_axes=grid_axes,
        # Matrices need whole simdgroups, which a grid of any number of threads has not.
        by_threadgroup=has_memory or not positions <= _PLAIN or not _OF_MATRICES.isdisjoint(asked),
        is_alone=not has_atomics and not any(each in asked for each in _GRID_POSITIONS),
        threads=ASSUMED_THREADS if tells_apart else _SIMDGROUP if by_lane else 1,
    )


def _is_position(operation: Operation) -> bool:
    return isinstance(operation.meaning, OfThread) and operation not in _OF_MATRICES


def _is_barrier(operation: Operation) -> bool:
    return operation.meets and not operation.crosses_lanes


def _threadgroup(kernel: KernelFunction, use: _Use, threads: Size | None, shrink: int) -> Size:
    """As many threads as the kernel allows, or the usual number, about square."""
    axes = use.thread_axes
    count = max(1, (kernel.max_total_threads_per_threadgroup or use.threads) // abs(shrink))
    together = _together(kernel)
    if together:
        size = (together * _SIMDGROUP, 1, 1)
        return size if threads is None else _least(size, threads)
    if axes == 1:
        size = (count, 1, 1)
    elif axes == 2:
        width = 1 << (count.bit_length() // 2)
        size = (width, max(1, count // width), 1)
    else:
        width = 1 << ((count.bit_length() - 1) // 3 + 1)
        width = min(width, count)
        size = (width, max(1, min(width, count // width)), 1)
        size = (size[0], size[1], max(1, count // (size[0] * size[1])))
    return size if threads is None else _least(size, threads)


def _together(kernel: KernelFunction) -> int:
    """Simdgroups of a threadgroup that a tensor operation says it is of; 0 if none says it."""
    program = kernel.program()
    if EXPECT_SIMDGROUPS.name.encode() not in program.bitcode:
        return 0
    marked = program.marked_function(frozenset({"uniform"}))
    said = {
        number_of(each.operands[0])
        for each in marked.instructions()
        if each.operation is EXPECT_SIMDGROUPS
    }
    return said.pop() or 0 if len(said) == 1 else 0


def _groups(threadgroup: Size, axes: int, room: Shape | None) -> Size:
    """Some threadgroups; of one axis no more than there are elements for."""
    if axes > 1 or room is None:
        return _GROUPS[axes]
    fitting = math.prod(room) // math.prod(threadgroup)
    return max(1, min(_GROUPS[1][0], fitting)), 1, 1


def _odd_grid(threadgroup: Size, axes: int, most: Size | None) -> Size:
    """Some threadgroups with smaller ones at the edges, where threads are easily forgotten."""
    sizes = [size * (3 - axis) - size // 2 - 1 for axis, size in enumerate(threadgroup[:axes])]
    x, y, z = (*(max(1, size) for size in sizes), 1, 1)[:3]
    return (x, y, z) if most is None else _least((x, y, z), most)


def _within(room: Shape | None, axes: int) -> Size | None:
    """As many threads along each axis as an array has elements; None if that cannot be told."""
    if room is None or (axes > 1 and axes != len(room)):
        return None
    x, y, z = (*((math.prod(room),) if axes == 1 else room), 1, 1)[:3]
    return x, y, z


def _powers(size: Size) -> Size:
    """The next powers of two below: what threadgroups that share memory are made for."""
    x, y, z = (1 << (count.bit_length() - 1) for count in size)
    return x, y, z


def _least(one: Size, other: Size) -> Size:
    x, y, z = (min(a, b) for a, b in zip(one, other, strict=True))
    return x, y, z


def _elements(threadgroups: Size, threadgroup: Size) -> Size:
    """Not quite what whole threadgroups cover, so that the kernel's own guard has work to do."""
    sizes = [g * t for g, t in zip(threadgroups, threadgroup, strict=True)]
    x, y, z = (s - 3 if t > 8 else s for s, t in zip(sizes, threadgroup, strict=True))
    return x, y, z

"""The reference engine: runs a kernel lane by lane, slowly, as the oracle of the fast engine.

It reads the same IR and shares nothing else with the lane-vector engine. Every lane runs alone up
to the next operation across lanes. Where lanes of a simdgroup wait at several, those that are
behind in the program go first, so that lanes which diverged meet again. That is right for programs
in which lanes communicate by barriers and simdgroup operations only.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence

import numpy as np

from ..ir.faults import FaultPlace
from ..ir.meaning.lanes import LANES
from ..ir.nodes import Function, Instruction
from ..ir.operations.operation import OfLanes, Thread
from ..read.roots import Parameter
from .lane import Crossing, Fuel, Lane
from .memory import Bytes, Memories, ThreadgroupMemory
from .order import Clock, execution_order

Size = tuple[int, int, int]
DEFAULT_FUEL = 10_000_000
_PARAMETER_ALIGNMENT = 16


def run_reference(
    function: Function,
    parameters: Sequence[Parameter],
    arguments: Sequence[int],
    buffers: Mapping[int, tuple[Bytes, str]],
    *,
    threadgroup_size: Size,
    threads: Size | None = None,
    threadgroups: Size | None = None,
    fuel: int = DEFAULT_FUEL,
    lock_step: bool = False,
) -> None:
    """Run a whole dispatch, one threadgroup after the other.

    Args:
        function: the kernel as `import_kernel` gives it.
        parameters: what the arguments are.
        arguments: a GPU address for each buffer, a length in bytes for each threadgroup parameter.
        buffers: bytes and name of every buffer by its handle, the top 16 bits of its address.
        threadgroup_size: threads of a full threadgroup.
        threads: threads of the grid; threadgroups at its edges may be smaller.
        threadgroups: whole threadgroups of the grid, instead of `threads`.
        fuel: how many blocks of the program may be entered, over all lanes.
        lock_step: whether the lanes of a simdgroup make each access to memory together, the first
            lane first, so that the last one's value stays; else each runs on by itself.

    Raises:
        KernelFault: for a bad access or an endless loop. Nothing is undone.
    """
    if (threads is None) == (threadgroups is None):
        raise ValueError("run_reference: give either threads or threadgroups")
    if threadgroups is not None:
        grid = _times(threadgroups, threadgroup_size)
    else:
        assert threads is not None
        grid = threads
    accesses = (each for each in function.instructions() if each.operation.accesses_memory)
    dispatch = Dispatch(
        function,
        parameters,
        arguments,
        buffers,
        threadgroup_size,
        grid,
        fuel,
        pauses=frozenset(accesses if lock_step else ()),
    )
    count = _ceiling(grid, threadgroup_size)
    for z, y, x in itertools.product(*(range(n) for n in reversed(count))):
        dispatch.run_threadgroup((x, y, z))


def _times(left: Size, right: Size) -> Size:
    return (left[0] * right[0], left[1] * right[1], left[2] * right[2])


def _ceiling(grid: Size, step: Size) -> Size:
    return (-(-grid[0] // step[0]), -(-grid[1] // step[1]), -(-grid[2] // step[2]))


def _zeros(count: int) -> Bytes:
    return np.zeros(count, np.uint8)


class Dispatch:
    """What all threadgroups of a dispatch have in common."""

    def __init__(
        self,
        function: Function,
        parameters: Sequence[Parameter],
        arguments: Sequence[int],
        buffers: Mapping[int, tuple[Bytes, str]],
        full_size: Size,
        grid: Size,
        fuel: int,
        *,
        pauses: Collection[Instruction] = (),
        fill: Callable[[int], Bytes] = _zeros,
    ) -> None:
        self.pauses = pauses
        self.fill = fill
        self.function = function
        self.buffers = buffers
        self.full_size = full_size
        self.grid = grid
        self.fuel = Fuel(fuel)
        self.order = execution_order(function.blocks)
        self.constants = np.frombuffer(function.constants, np.uint8)
        self.addresses: dict[int, int] = {}
        self.parameter_starts: dict[int, tuple[int, int]] = {}
        end = function.threadgroup_memory
        for number, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True)):
            if parameter.kind == "buffer":
                self.addresses[number] = argument
            else:
                start = -(-end // _PARAMETER_ALIGNMENT) * _PARAMETER_ALIGNMENT
                self.parameter_starts[number] = (start, argument)
                end = start + argument
        self.arena_size = end

    def run_threadgroup(self, position: Size) -> None:
        """Run one threadgroup to its end."""
        simdgroups = self.simdgroups(position)
        while any(simdgroup.waiting for simdgroup in simdgroups):
            for simdgroup in simdgroups:
                simdgroup.run_to_barrier()
            for simdgroup in simdgroups:
                simdgroup.pass_barrier()

    def simdgroups(self, position: Size) -> list[Simdgroup]:
        """The simdgroups of one threadgroup, not started."""
        lanes = list(self._lanes(position))
        return [Simdgroup(lanes[at : at + LANES]) for at in range(0, len(lanes), LANES)]

    def _lanes(self, group: Size) -> Iterable[Generator[Crossing, int, None]]:
        first = _times(group, self.full_size)
        x, y, z = (
            min(size, grid - start)
            for size, grid, start in zip(self.full_size, self.grid, first, strict=True)
        )
        shared = ThreadgroupMemory(
            arena=self.fill(self.arena_size), parameter_starts=self.parameter_starts
        )
        inside = itertools.product(range(z), range(y), range(x))
        for index, (at_z, at_y, at_x) in enumerate(inside):
            place = FaultPlace(
                thread_position_in_grid=(first[0] + at_x, first[1] + at_y, first[2] + at_z),
                thread_position_in_threadgroup=(at_x, at_y, at_z),
                threadgroup_position_in_grid=group,
                simdgroup=index // LANES,
                lane=index % LANES,
            )
            memories = Memories(
                buffers=self.buffers,
                arguments=self.addresses,
                constants=self.constants,
                threadgroup=shared,
                private=self.fill(self.function.private_memory),
            )
            thread = self._thread(place, (x, y, z), index)
            clock = Clock(self.order)
            yield Lane(
                self.function, memories, thread, place, self.fuel, clock, pauses=self.pauses
            ).run()

    def _thread(self, place: FaultPlace, size: Size, index: int) -> Thread:
        return Thread(
            position_in_grid=place.thread_position_in_grid,
            position_in_threadgroup=place.thread_position_in_threadgroup,
            threadgroup=place.threadgroup_position_in_grid,
            size=size,
            full_size=self.full_size,
            grid=self.grid,
            threadgroups=_ceiling(self.grid, self.full_size),
            index=index,
            lane=place.lane,
            simdgroup=place.simdgroup,
            simdgroups=_simdgroups(size),
            full_simdgroups=_simdgroups(self.full_size),
        )


def _simdgroups(size: Size) -> int:
    return -(-size[0] * size[1] * size[2] // LANES)


class Simdgroup:
    """Up to 32 lanes, each at the operation it waits at."""

    def __init__(self, lanes: Sequence[Generator[Crossing, int, None]]) -> None:
        self._lanes = lanes
        self._started = False
        self.waiting: dict[int, Crossing | None] = dict.fromkeys(range(len(lanes)))

    def _resume(self, lane: int, result: int | None) -> None:
        try:
            generator = self._lanes[lane]
            crossing = next(generator) if result is None else generator.send(result)
        except StopIteration:
            del self.waiting[lane]
        else:
            self.waiting[lane] = crossing

    def behind(self) -> dict[int, Crossing]:
        """The lanes that wait earliest in the run, all at one instruction."""
        crossings = {lane: each for lane, each in self.waiting.items() if each is not None}
        first = min(each.moment for each in crossings.values())
        return {lane: each for lane, each in crossings.items() if each.moment == first}

    @property
    def is_whole(self) -> bool:
        """Whether no lane has ended."""
        return len(self.waiting) == len(self._lanes)

    def start(self) -> None:
        """Run every lane to the first place where it waits; once."""
        if not self._started:
            self._started = True
            for lane in list(self.waiting):
                self._resume(lane, None)

    def run_to_barrier(self) -> None:
        """Run until the lanes that are behind wait at a threadgroup barrier, or all have ended."""
        self.start()
        while self.waiting:
            meeting = self.behind()
            crossing = next(iter(meeting.values()))
            if crossing.is_threadgroup_barrier:
                return
            self.complete(crossing, meeting)

    def complete(self, crossing: Crossing, meeting: Mapping[int, Crossing]) -> None:
        """Do what the lanes of `meeting` wait for, and let them go on."""
        results = [0] * LANES
        meaning = crossing.instruction.operation.meaning
        if isinstance(meaning, OfLanes):
            columns: list[list[int | None]] = [
                [None] * LANES for _ in range(max(len(crossing.operands), 1))
            ]
            for lane, each in meeting.items():
                for column, operand in zip(columns, each.operands or (0,), strict=True):
                    column[lane] = operand
            results = meaning.compute(crossing.instruction, columns)
        for lane in meeting:
            self._resume(lane, results[lane])

    def pass_barrier(self) -> None:
        """Let the lanes that wait at a threadgroup barrier go on."""
        if self.waiting:
            for lane in self.behind():
                self._resume(lane, 0)

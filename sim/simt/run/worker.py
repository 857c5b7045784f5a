"""The memory that one thread runs threadgroups with, and what is passed to it of the dispatch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ir import context as c
from ..ir.shape import LANES
from .boxes import Box, Size
from .executable import Executable
from .fault_report import explain_fault
from .memory import Memory
from .observation import Observation

_ALIGNMENT = 64
_NO_FUEL_IS_ENOUGH = (1 << 63) - 1


@dataclass(slots=True)
class Launch:
    """What is passed to all workers of one dispatch.

    Attributes:
        memory: the device's buffers.
        arguments: of the kernel, as `dispatch` takes them.
        groups: grid in threadgroups.
        grid: grid in threads.
        fuel: IR instructions that a simdgroup may run.
        observation: what watches the dispatch, if anything does.
        tape_writer: host address of what a taped kernel writes to, 0 if it is not taped.
    """

    memory: Memory
    arguments: Sequence[int]
    groups: Size
    grid: Size
    fuel: int
    observation: Observation | None = None
    tape_writer: int = 0


def _aligned(size: int) -> tuple[NDArray[np.uint8], int]:
    """Zeroed bytes and their host address."""
    raw = np.zeros(size + _ALIGNMENT, np.uint8)
    address: int = raw.ctypes.data
    start = -address % _ALIGNMENT
    return raw[start : start + size], address + start


class Worker:
    """The memory that one thread runs threadgroups with, laid out as `context` says."""

    def __init__(self, run: Launch, box: Box) -> None:
        self.box = box
        self.run_ = run
        executable = box.executable
        program = executable.program
        needs = program.needs
        self.arguments, arena = self._place_arguments(program.parameters, run, needs)
        self.arena_size = arena
        simdgroups = executable.shape.simdgroups if executable.has_barriers else 1
        private = executable.private_memory * LANES * simdgroups
        shadows = 2 if "init" in executable.observers else 1
        sizes = {
            "context": c.CONTEXT_SIZE,
            "arguments": max(1, len(self.arguments)) * c.ARGUMENT_STRIDE,
            "scratch": c.SCRATCH_SIZE,
            "fault": c.FAULT_SIZE,
            "stop": 4,
            "arena": arena,
            "arena_shadow": arena if shadows == 2 else 0,
            "private": private * shadows,
            "states": executable.state_size * simdgroups,
            "constants": len(executable.constants),
            "reached": executable.blocks,
        }
        places, total = {}, 0
        for name, size in sizes.items():
            places[name] = total
            total += -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
        self.memory, base = _aligned(total)
        self.at = {name: base + place for name, place in places.items()}
        self.address = self.at["context"]
        self._view = {
            name: self.memory[places[name] : places[name] + size] for name, size in sizes.items()
        }
        self._stop = self._view["stop"].view(np.int32)
        self._floor = self._view["context"].view(np.int64)[c.FLOOR // 8 :]
        self._fill(executable, arena)

    def _place_arguments(
        self, parameters: Sequence[object], run: Launch, needs: object
    ) -> tuple[list[tuple[int, int, int]], int]:
        """((host address or arena offset, bytes, GPU address) of each argument, arena size)."""
        program = self.box.executable.program
        arena = self.box.executable.threadgroup_memory
        placed = []
        for parameter, value in zip(program.parameters, run.arguments, strict=True):
            if parameter.kind == "threadgroup":
                start = -(-arena // 16) * 16
                arena = start + value
                placed.append((-1 - start, value, (c.THREADGROUP_HANDLE << c.HANDLE_SHIFT) + start))
            else:
                host, available = run.memory.resolve(value)
                placed.append((host, available, value))
        return placed, arena

    def _fill(self, executable: Executable, arena: int) -> None:
        constants = executable.constants
        if constants:
            self._view["constants"][:] = np.frombuffer(constants, np.uint8)
        table = self._view["arguments"].view(np.uint64).reshape(-1, c.ARGUMENT_STRIDE // 8)
        for row, (host, available, address) in zip(table, self.arguments, strict=False):
            row[0] = self.at["arena"] + (-1 - host) if host < 0 else host
            row[1], row[2] = available, address
        context = self._view["context"]
        wide = context.view(np.int64)
        for offset, value in (
            (c.TABLE, self.run_.memory.table_address),
            (c.ARGUMENTS, self.at["arguments"]),
            (c.ARENA, self.at["arena"]),
            (c.PRIVATE, self.at["private"]),
            (c.SCRATCH, self.at["scratch"]),
            (c.FAULT, self.at["fault"]),
            (c.STOP, self.at["stop"]),
            (c.STATES, self.at["states"]),
            (c.STATE_STRIDE, executable.state_size),
            (c.FUEL, self.run_.fuel),
            (c.CONSTANTS, self.at["constants"]),
            (c.ARENA_SIZE, arena),
            (c.CONSTANTS_SIZE, len(constants)),
            (c.PRIVATE_SIZE, executable.private_memory),
            (c.PRIVATE_ALL, self.at["private"]),
            (c.GRID_THREADS, self._streaming_threads()),
            (c.TAPE_WRITER, self.run_.tape_writer),
            (c.REACHED, self.at["reached"]),
        ):
            wide[offset // 8] = value
        narrow = context.view(np.int32)
        if self.run_.observation is not None:
            self._attach(self.run_.observation, arena, wide, narrow)
        for offset, triple in (
            (c.THREADGROUPS, self.run_.groups),
            (c.THREADS, self.run_.grid),
            (c.ORIGIN, self.box.origin),
            (c.BOX, self.box.extent),
        ):
            at = offset // 4
            narrow[at], narrow[at + 1], narrow[at + 2] = triple

    def _streaming_threads(self) -> int:
        """The dispatch's threads; 0 where stores past the caches would hold up locks."""
        observation = self.run_.observation
        if observation is not None and observation.has_locks:
            return 0
        return math.prod(self.run_.grid)

    def _attach(
        self,
        observation: Observation,
        arena: int,
        wide: NDArray[np.int64],
        narrow: NDArray[np.int32],
    ) -> None:
        """Give the kernel its observers."""
        self.watch = observation.start(self.box.executable, arena, self.box.count)
        wide[c.WATCH // 8] = self.watch.address
        wide[c.ORDER // 8] = self.watch.order.ctypes.data
        wide[c.ARENA_SHADOW // 8] = self.at["arena_shadow"]
        wide[c.SHADOWS // 8] = observation.uninitialised.table.ctypes.data
        wide[c.READ_ONLY // 8] = self.run_.memory.read_only.ctypes.data
        narrow[c.FILL // 4] = observation.fill
        table = self._view["arguments"].view(np.uint64).reshape(-1, c.ARGUMENT_STRIDE // 8)
        for row, (_, _, address) in zip(table, self.arguments, strict=False):
            handle, offset = divmod(address, 1 << c.HANDLE_SHIFT)
            row[c.ARGUMENT_WATCHED // 8] = observation.shadows.watched(handle)
            shadow = int(observation.uninitialised.table[handle])
            row[c.ARGUMENT_SHADOW // 8] = shadow and shadow + offset

    def run(self, first: int, count: int) -> int:
        """Run so many threadgroups of the box, from the number `first` on; not 0 after a fault."""
        executable = self.box.executable
        failed = executable.run(self.address, first, count)
        if executable.blocks:
            executable.note_reached(self._view["reached"])
        return failed

    def stop(self) -> None:
        """End at the next threadgroup, or as if out of fuel at the end of a loop's round."""
        self._stop[0] = 1
        self._floor[0] = _NO_FUEL_IS_ENOUGH

    def fault(self, memory: Memory) -> Exception:
        """The fault that this worker's kernel left behind."""
        return explain_fault(
            self.box.executable,
            memory,
            self.arguments,
            self._view["fault"].view(np.int32),
            int(self._view["fault"].view(np.int64)[4]),
        )

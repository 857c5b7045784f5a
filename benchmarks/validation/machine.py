"""Predicts dispatches: compiles, tapes what the chip's sample asks for, simulates."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.compiler.msl import compile_library
from assay.hal.metal.emulated.resources.memory import zeroed
from assay.hw.apple.core.result import DispatchTime
from assay.hw.apple.core.sampled import sampled_dispatch, time_sampled
from assay.hw.apple.facts.chips import Chip, chip
from assay.hw.apple.lower.code import MachineCode
from assay.hw.apple.lower.lower import lower
from assay.hw.apple.system.overheads import Overheads, overheads
from assay.sim.simt import Memory
from assay.sim.simt.emit.tape import Tape
from assay.sim.simt.run.executable import Executable
from assay.sim.simt.run.taping import tape_dispatch

from .launches import Buffer, Launch, Scalars, Scratch, Size

_PREPARED = 4  # launches whose buffers are kept
_TAPES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    executable: Executable
    code: MachineCode


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """Buffers in emulated memory, and what the kernel takes."""

    memory: Memory
    arrays: Sequence[NDArray[np.uint8]]
    arguments: Sequence[int]


class Tapes:
    """Compiled kernels and tapes, shared by all chips."""

    def __init__(self) -> None:
        self._compiled: dict[tuple[str, str, Size], _Compiled] = {}
        self._prepared: OrderedDict[Launch, _Prepared] = OrderedDict()
        self._tapes: OrderedDict[tuple[Launch, tuple[Size, ...]], Tape] = OrderedDict()

    def compiled(self, launch: Launch) -> _Compiled:
        """The kernel for its threadgroup size, and as the GPU would see it."""
        key = (launch.source, launch.kernel, launch.threads)
        if key not in self._compiled:
            program = compile_library(launch.source).function(launch.kernel).program()
            self._compiled[key] = _Compiled(
                executable=program.specialise(launch.threads),
                code=lower(program.taped_function),
            )
        return self._compiled[key]

    def tape(self, launch: Launch, positions: tuple[Size, ...]) -> Tape:
        """What the threadgroups at these positions do."""
        key = (launch, positions)
        found = self._tapes.get(key)
        if found is None:
            prepared = self._buffers(launch)
            found = tape_dispatch(
                self.compiled(launch).executable,
                prepared.memory,
                prepared.arguments,
                threadgroups=launch.threadgroups,
                sample=positions,
            )
            self._tapes[key] = found
            if len(self._tapes) > _TAPES:
                self._tapes.popitem(last=False)
        self._tapes.move_to_end(key)
        return found

    def _buffers(self, launch: Launch) -> _Prepared:
        found = self._prepared.get(launch)
        if found is None:
            found = _prepare(launch)
            self._prepared[launch] = found
            if len(self._prepared) > _PREPARED:
                self._prepared.popitem(last=False)
        self._prepared.move_to_end(launch)
        return found


def _prepare(launch: Launch) -> _Prepared:
    memory = Memory()
    arrays: list[NDArray[np.uint8]] = []
    arguments: list[int] = []
    for number, argument in enumerate(launch.arguments):
        if isinstance(argument, Scratch):
            arguments.append(argument.bytes)
            continue
        content = argument.bytes_of() if isinstance(argument, Scalars) else b""
        length = argument.bytes if isinstance(argument, Buffer) else len(content)
        array = zeroed("validation", length, length, 0)
        if content:
            array[:] = np.frombuffer(content, np.uint8)
        elif isinstance(argument, Buffer) and argument.fill is not None:
            argument.fill(array)
        arrays.append(array)
        arguments.append(memory.register(array, name=f"buffer {number}"))
    return _Prepared(memory=memory, arrays=arrays, arguments=arguments)


class Machine:
    """One chip, on which launches are predicted."""

    def __init__(self, name: str, tapes: Tapes) -> None:
        self.chip: Chip = chip(name)
        self._tapes = tapes
        self._times: dict[Launch, DispatchTime] = {}

    @property
    def overheads(self) -> Overheads:
        """What it costs to hand over work, in nanoseconds."""
        return overheads(self.chip)

    @property
    def cores(self) -> int:
        """Cores of the chip."""
        return self.chip.cores

    @property
    def peak(self) -> float:
        """Floating-point operations per second, by fused operations of 32 bits."""
        return self.cores * 256 * self.chip.clock

    def sibling(self, name: str) -> Machine:
        """Another chip, with the same tapes."""
        return Machine(name, self._tapes)

    def time(self, launch: Launch) -> DispatchTime:
        """The dispatch, alone on an idle GPU, without what it costs to start it."""
        found = self._times.get(launch)
        if found is None:
            found = self._times[launch] = self._simulate(launch)
        return found

    def seconds(self, launch: Launch) -> float:
        """Seconds of `time`."""
        return self.time(launch).seconds

    def cycles(self, launch: Launch) -> float:
        """Cycles of `time`."""
        return self.time(launch).cycles

    def alone(self, launch: Launch) -> float:
        """Seconds of GPU time of a command buffer with this dispatch only."""
        costs = self.overheads
        return self.seconds(launch) + (costs.command_buffer + costs.dispatch) / 1e9

    def in_own_pass(self, launch: Launch) -> float:
        """Seconds of the dispatch among others, each in a pass of its own."""
        costs = self.overheads
        return self.seconds(launch) + (costs.pass_change + costs.dispatch) / 1e9

    def in_turn(self, launch: Launch) -> float:
        """Seconds of the dispatch in a pass whose dispatches wait for each other."""
        return self.seconds(launch) + (self.overheads.barrier + self.overheads.dispatch) / 1e9

    def _simulate(self, launch: Launch) -> DispatchTime:
        compiled = self._tapes.compiled(launch)
        dispatch = sampled_dispatch(
            self.chip,
            compiled.executable,
            launch.threadgroups,
            given_memory=sum(a.bytes for a in launch.arguments if isinstance(a, Scratch)),
            code=compiled.code,
        )
        return time_sampled(
            dispatch,
            lambda positions: self._tapes.tape(launch, positions),
            warm=launch.warm,
            footprint=sum(a.bytes for a in launch.arguments if isinstance(a, Buffer)),
        )

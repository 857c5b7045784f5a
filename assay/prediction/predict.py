"""One dispatch: recorded on the emulated device, lowered to machine code, simulated."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from assay.hal.metal.emulated.timing import Size, executable_of, record_dispatch, threadgroups_in
from assay.hw.apple.timing.lower import lower
from assay.hw.apple.timing.model import simulate
from assay.hw.apple.timing.occupancy import occupancy
from assay.hw.apple.timing.sample import choose_sample

from .caches import CacheHistory
from .keys import DispatchKey, Keys
from .prediction import Prediction

if TYPE_CHECKING:
    from assay.hal.metal.emulated import MTLDevice
    from assay.hal.metal.emulated.commands import DispatchCommand
    from assay.hw.apple.chips import Chip
    from assay.hw.apple.timing.code import MachineCode
    from assay.hw.apple.timing.result import DispatchTime
    from assay.sim.simt import Program
    from assay.sim.simt.recording import Recording

_SHOWN = 16  # threadgroups of which a timeline shows the arrays
_MANY = 1 << 30  # threadgroups: more than any chip holds at a time


class ChipPredictor:
    """Predicts dispatches on one chip; those that do the same are simulated once.

    Two dispatches do the same if their keys are equal and no branch or address of the kernel
    depends on what buffers hold. Where one does, each dispatch is recorded, and simulated unless
    the recording is one that was seen before.

    Args:
        chip: which GPU.
        warm: whether caches hold what an earlier run of the same dispatch left; None to tell by
            what the program ran before.
        keep: keep recordings and what a core's simdgroups did, for a timeline.
        say: told of each simulation, in a few words.
    """

    def __init__(
        self,
        chip: Chip,
        *,
        warm: bool | None = None,
        keep: bool = False,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.chip = chip
        self.simulations = 0
        """How many were made so far."""
        self._warm = warm
        self._history = CacheHistory(chip.slc)
        self._keys = Keys()
        self._keep = keep
        self._say = say
        self._code: dict[Program, MachineCode] = {}
        self._known: dict[tuple[DispatchKey, bool, bytes], Prediction] = {}
        self._varying: dict[DispatchKey, bool] = {}

    def __call__(self, device: MTLDevice, command: DispatchCommand) -> Prediction:
        """The prediction for a dispatch that is about to run."""
        key = self._keys.key_of(device, command)
        varies = self._varying.get(key)
        if varies is None:
            varies = self._varying[key] = key.depends_on_data
        warm = self._history.is_warm(device, command) if self._warm is None else self._warm
        known = None if varies else self._known.get((key, warm, b""))
        prediction = known or self._simulated(device, command, key, warm, varies)
        if self._warm is None:
            self._history.ran(device, command, prediction.time.bytes.get("dram", 0.0))
        return prediction

    def _simulated(
        self,
        device: MTLDevice,
        command: DispatchCommand,
        key: DispatchKey,
        warm: bool,
        varies: bool,
    ) -> Prediction:
        executable = executable_of(command)
        program = executable.program
        name = program.name
        self._tell(f"recording {name}")
        code = self._lowered(program)
        memory = executable.threadgroup_memory + _given_memory(key)
        simdgroups = executable.shape.simdgroups
        grid = threadgroups_in(command)
        total = grid[0] * grid[1] * grid[2]
        resident = occupancy(
            self.chip,
            registers=code.registers,
            simdgroups=simdgroups,
            threadgroup_memory=memory,
            threadgroups=total,
        )
        sample = choose_sample(grid, resident, self.chip)
        recording = record_dispatch(device, command, sample.positions)
        digest = _digest(recording) if varies else b""
        known = self._known.get((key, warm, digest))
        if known is not None:
            return known
        self._tell(f"simulating {name}")
        time = simulate(
            code,
            recording,
            self.chip,
            sample=sample,
            warm=warm,
            footprint=key.footprint,
            timeline=self._keep,
        )
        self.simulations += 1
        most = occupancy(
            self.chip,
            registers=code.registers,
            simdgroups=simdgroups,
            threadgroup_memory=memory,
            threadgroups=_MANY,
        )
        prediction = Prediction(
            time=time,
            share=_share(time, most.threadgroups * self.chip.cores, self.chip),
            recording=self._with_places(device, command, sample.positions),
        )
        self._known[key, warm, digest] = prediction
        return prediction

    def _with_places(
        self, device: MTLDevice, command: DispatchCommand, positions: Sequence[Size]
    ) -> Recording | None:
        """The first threadgroups once more, with where in threadgroup memory they are."""
        if not self._keep:
            return None
        return record_dispatch(device, command, positions[:_SHOWN], places=True)

    def _lowered(self, program: Program) -> MachineCode:
        code = self._code.get(program)
        if code is None:
            code = self._code[program] = lower(program.recorded_function)
        return code

    def _tell(self, text: str) -> None:
        if self._say is not None:
            self._say(text)


def _given_memory(key: DispatchKey) -> int:
    """Bytes of threadgroup memory that the host gives."""
    given = (token for token in key.arguments if token[0] == "threadgroup")
    return sum(int(str(length)) for _, length in given)


def _share(time: DispatchTime, slots: int, chip: Chip) -> float:
    """Part of the GPU that is taken: of places for threadgroups, of pipes, or of bandwidth."""
    placed = time.threadgroups / max(1, slots)
    pipes = max(time.pipes.values(), default=0.0) / time.cycles * time.cores / chip.cores
    dram = time.achieved_bytes.get("dram", 0.0) / time.roofline.bytes_per_second
    return min(1.0, max(placed, pipes, dram, 1e-6))


def _digest(recording: Recording) -> bytes:
    digest = hashlib.blake2b(recording.words.tobytes(), digest_size=16)
    digest.update(recording.starts.tobytes())
    return digest.digest()

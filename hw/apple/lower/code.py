"""A kernel as the GPU's core would see it: instructions by class, registers, source places.

This is what stands between the engine's IR and the core model: `lower` makes it from the IR of a
kernel, and the core model executes it along a tape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.sim.site import Site

SOURCES = 4
# Classes of accesses that an engine makes for an asynchronous copy: this, and what the same access
# of a simdgroup would be. They stand between instructions and are none.
ENGINE = "copy_"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineCode:
    """Instructions of all blocks, one after the other, in the order in which they issue.

    A register is the result of one instruction (there are as many as needed; how many are alive at
    a time is in `registers`). What costs nothing (folded into an address, fused, constant, computed
    before the kernel starts) is not an instruction; who reads it reads what it was made from.

    Attributes:
        classes: names of instruction classes, keys of the tables in `facts/instructions.toml`.
        starts: where each block starts, and where the last ends; blocks + 1 numbers.
        kinds: index into `classes` of each instruction.
        destinations: register that is written, -1 for none.
        sources: registers that are read, -1 for none; shape (instructions, SOURCES).
        accesses: ordinal of the memory access in its block as the tape counts it, or -1.
        flops: floating-point operations of one lane (2 for a fused multiply-add; an 8x8x8 matrix
            product is 1,024 over 32 lanes, so 32).
        places: index into `sites` of each instruction.
        sites: places in the user's source.
        move_starts: where the moves of each block start, and where the last end; blocks + 1.
        moves: what a block's phis take on entry: (predecessor block, destination register, source
            register or -1); shape (moves, 3).
        register_count: registers of all blocks.
        registers: 32-bit registers that a thread needs at a time, by liveness.
        uniform_registers: 32-bit registers that the threads of a simdgroup share.
        names: block names, for people.
    """

    classes: tuple[str, ...]
    starts: NDArray[np.int32]
    kinds: NDArray[np.int16]
    destinations: NDArray[np.int32]
    sources: NDArray[np.int32]
    accesses: NDArray[np.int32]
    flops: NDArray[np.int32]
    places: NDArray[np.int32]
    sites: tuple[Site, ...]
    move_starts: NDArray[np.int32]
    moves: NDArray[np.int32]
    register_count: int
    registers: int
    uniform_registers: int
    names: tuple[str, ...]

    def issued(self) -> NDArray[np.int64]:
        """How many instructions of each block are issued."""
        return self._by_block(np.ones(len(self.kinds), np.int64))

    def block_of(self) -> NDArray[np.int64]:
        """The number of each instruction's block."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def block_flops(self) -> NDArray[np.int64]:
        """Floating-point operations of one lane in each block."""
        return self._by_block(self.flops)

    def _by_block(self, values: NDArray[np.integer]) -> NDArray[np.int64]:
        """Sums of `values` over the instructions that are issued, which what engines do is not."""
        engine = np.array([name.startswith(ENGINE) for name in self.classes], bool)
        own = np.append(0, np.cumsum(np.where(engine[self.kinds], 0, values), dtype=np.int64))
        return np.diff(own[self.starts])

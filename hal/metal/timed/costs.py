"""Answers compilers what a kernel would cost on a chip, by executing a sample of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from assay.compiler.costs import Cost, CostError, KernelUse
from assay.hw.apple.core.model import TimingError
from assay.hw.apple.core.sample import WAVES
from assay.hw.apple.core.sampled import sampled_dispatch, time_sampled
from assay.sim.simt import DispatchError, KernelFault, Memory, UnsupportedKernel, tape_dispatch

from ..emulated.errors import MetalError
from ..emulated.resources.memory import zeroed

if TYPE_CHECKING:
    from assay.hw.apple.core.result import DispatchTime
    from assay.hw.apple.core.sample import Position
    from assay.hw.apple.facts.chips import Chip
    from assay.sim.simt import Tape

_MOST_BYTES = 1 << 34  # of all buffers of one use; pages that nobody touches take no memory


class ChipCosts:
    """Costs of kernels on one chip, with buffers of zeros.

    Args:
        chip: which GPU.
        warm: whether caches hold what an earlier run of the same kernel left.
        fuel: instructions that a simdgroup may run before it counts as endless; None for the
            engine's own limit.
        waves: how much is executed of what a core gets; less is cheaper and less exact.
    """

    def __init__(
        self, chip: Chip, *, warm: bool = True, fuel: int | None = None, waves: int = WAVES
    ) -> None:
        self._chip = chip
        self._warm = warm
        self._fuel = fuel
        self._waves = waves

    def cost_of(self, use: KernelUse) -> Cost:
        """What a run costs. Raises CostError."""
        time = self.time_of(use)
        seconds = time.seconds / time.cycles if time.cycles else 0.0
        return Cost(
            seconds=time.seconds,
            error=time.error,
            causes={cause: cycles * seconds for cause, cycles in time.causes.items()},
        )

    def time_of(self, use: KernelUse) -> DispatchTime:
        """All that the core model says of a run. Raises CostError."""
        names = [argument.name for argument in use.kernel.arguments]
        if len(names) != len(use.arguments):
            raise CostError(
                f"kernel '{use.kernel.name}' takes {len(names)} arguments ({', '.join(names)}), "
                f"{len(use.arguments)} given"
            )
        try:
            return self._time(use)
        except (KernelFault, DispatchError, UnsupportedKernel, MetalError, TimingError) as error:
            raise CostError(f"kernel '{use.kernel.name}' has no cost: {error}") from None

    def _time(self, use: KernelUse) -> DispatchTime:
        executable = use.kernel.program().specialise(use.threadgroup)
        memory = Memory()
        arguments = list(_bound(use, memory))

        def taped(positions: Sequence[Position]) -> Tape:
            return tape_dispatch(
                executable,
                memory,
                arguments,
                threadgroups=use.threadgroups,
                sample=positions,
                fuel=self._fuel,
            )

        follows = executable.program.needs.follows_pointers
        return time_sampled(
            sampled_dispatch(
                self._chip,
                executable,
                use.threadgroups,
                given_memory=_given_memory(use),
                waves=self._waves,
            ),
            taped,
            warm=self._warm,
            footprint=None if follows else _footprint(use),
        )


def _bound(use: KernelUse, memory: Memory) -> Iterator[int]:
    """What the kernel takes: addresses of buffers in `memory`, bytes of threadgroup memory."""
    allocated = 0
    for argument, given in zip(use.kernel.arguments, use.arguments, strict=True):
        if argument.kind == "threadgroup" and isinstance(given, int):
            yield given
            continue
        if argument.kind != "buffer":
            raise CostError(
                f"argument '{argument.name}' of kernel '{use.kernel.name}' is a {argument.kind}: "
                "only buffers and bytes of threadgroup memory can be given"
            )
        size = given if isinstance(given, int) else len(given)
        array = zeroed(f"argument '{argument.name}'", size, _MOST_BYTES, allocated)
        if isinstance(given, bytes):
            array[:] = np.frombuffer(given, np.uint8)
        allocated += size
        yield memory.register(array, name=argument.name)


def _given_memory(use: KernelUse) -> int:
    """Bytes of threadgroup memory that the host gives."""
    both = zip(use.kernel.arguments, use.arguments, strict=True)
    return sum(g for a, g in both if a.kind == "threadgroup" and isinstance(g, int))


def _footprint(use: KernelUse) -> int:
    """Bytes of the buffers; small constants come another way."""
    both = zip(use.kernel.arguments, use.arguments, strict=True)
    return sum(g for a, g in both if a.kind == "buffer" and isinstance(g, int))

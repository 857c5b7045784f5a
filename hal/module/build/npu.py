"""Programs for the NPU: kernels' models compiled, kept by what they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path

from assay.compiler.models import ModelError
from assay.compiler.module.kernel import Kernel
from assay.compiler.torq.schedule.compile import compiled
from assay.compiler.torq.schedule.options import USUAL
from assay.compiler.torq.schedule.summary import Summary
from assay.hw.torq.facts.costs import machine_of
from assay.hw.torq.facts.hardware import hardware
from assay.sim.native.work_folder import work_folder

from ...torq.format import Action, HostCopy, StartNss
from ...torq.pack import pack
from ...vm.build.torq import torq_module

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuProgram:
    """A module with one function, what its schedule is expected to do, and what the host does."""

    data: bytes
    summary: Summary
    actions: tuple[Action, ...]

    @property
    def seconds(self) -> float:
        """What a run is expected to take, with starts, interrupts and the first commands' copy."""
        machine = machine_of(hardware())
        cycles = self.summary.cycles
        for action in self.actions:
            if isinstance(action, StartNss):
                cycles += machine.host_start + machine.host_interrupt
            elif isinstance(action, HostCopy):
                cycles += machine.host_window_cycles(prod(action.shape) * action.element_bytes)
        return cycles / machine.clock_hz


class NpuPrograms:
    """Compiles each kernel once."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._known: dict[str, NpuProgram] = {}

    def of(self, kernel: Kernel) -> NpuProgram:
        """The program of a kernel. Raises ModelError."""
        if kernel.constants:
            raise ModelError("its part is told sizes, which the NPU's programs have inside")
        if kernel.entry not in self._known:
            self._say(f"compiling {kernel.entry} for the NPU")
            with work_folder() as work:
                path = Path(work) / f"{kernel.entry}.{'mlir' if kernel.mlir else 'onnx'}"
                path.write_bytes(kernel.mlir.encode() or kernel.model)
                made = compiled(path, None, USUAL)
            executable = pack(made.program, kernel.entry)
            self._known[kernel.entry] = NpuProgram(
                data=torq_module(executable, kernel.entry),
                summary=made.summary,
                actions=executable.actions,
            )
        return self._known[kernel.entry]

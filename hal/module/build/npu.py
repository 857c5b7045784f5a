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

from ...status import StatusError
from ...torq.buffers import read_by, written_by
from ...torq.format import Executable, HostCopy, StartNss
from ...torq.pack import pack
from ...torq.write import write_executable
from .. import records
from ..records import NONE, Argument, Stage
from ..staged import TORQ

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuProgram:
    """An executable, and what its schedule is expected to do."""

    executable: Executable
    summary: Summary

    @property
    def data(self) -> bytes:
        """The executable's bytes."""
        return write_executable(self.executable)

    @property
    def seconds(self) -> float:
        """What a run is expected to take, with starts, interrupts and the first commands' copy."""
        machine = machine_of(hardware())
        cycles = self.summary.cycles
        for action in self.executable.actions:
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
            self._known[kernel.entry] = NpuProgram(
                executable=pack(made.program, kernel.entry), summary=made.summary
            )
        return self._known[kernel.entry]


def npu_kernel(device: int, entry: str, executable: Executable) -> records.Kernel:
    """A kernel that is one run of an executable. Raises StatusError for what no kernel can be.

    Buffers that are read are its inputs, those that are written its outputs, both in the order of
    their numbers.
    """
    inputs, outputs = read_by(executable), written_by(executable)
    both = sorted(set(inputs) & set(outputs))
    if both:
        raise StatusError("UNIMPLEMENTED", f"{entry}: buffer {both[0]} is both read and written")
    arguments = tuple(
        Argument(operand, buffer, 0, NONE) for operand, buffer in enumerate((*inputs, *outputs))
    )
    stage = Stage(executable.name or entry, NONE, arguments, (), ())
    return records.Kernel(device, TORQ, NONE, entry, len(inputs), 0, len(outputs), (stage,))

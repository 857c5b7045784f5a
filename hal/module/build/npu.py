"""Programs for the NPU: kernels' models compiled, kept by what they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assay.compiler.module.kernels import Kernel
from assay.compiler.torq.schedule.compile import compiled
from assay.compiler.torq.schedule.options import USUAL
from assay.compiler.torq.schedule.summary import Summary
from assay.sim.native.work_folder import work_folder

from ...torq.pack import pack
from ...vm.build.torq import torq_module

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuProgram:
    """A module with one function, and what its schedule is expected to do."""

    data: bytes
    summary: Summary


class NpuPrograms:
    """Compiles each kernel once."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._known: dict[str, NpuProgram] = {}

    def of(self, kernel: Kernel) -> NpuProgram:
        """The program of a kernel. Raises ModelError."""
        if kernel.entry not in self._known:
            self._say(f"compiling {kernel.entry} for the NPU")
            with work_folder() as work:
                path = Path(work) / f"{kernel.entry}.onnx"
                path.write_bytes(kernel.model)
                made = compiled(path, None, USUAL)
            module = torq_module(pack(made.program, kernel.entry), kernel.entry)
            self._known[kernel.entry] = NpuProgram(data=module, summary=made.summary)
        return self._known[kernel.entry]

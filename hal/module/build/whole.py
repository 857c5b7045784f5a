"""Whole models as one kernel per device: those that come in TFLite or MLIR.

So a quantised model runs on the NPU, the GPU or the CPU from one file. The NPU's programs have the
model's own shapes; those for other devices take every shape that the model leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from assay.compiler.graph.symbolic.dims import Dims, is_known
from assay.compiler.graph.symbolic.dims import text as dims_text
from assay.compiler.graph.symbolic.graph import Graph, Operator
from assay.compiler.graph.symbolic.mlir_function import MlirFunction
from assay.compiler.models import ModelError, compile_model
from assay.compiler.models.compile import Target
from assay.compiler.module.groups import Group
from assay.compiler.module.kernel import Kernel
from assay.compiler.torq.schedule.compile import compiled
from assay.compiler.torq.schedule.options import USUAL

from ...torq.format import Executable
from ...torq.pack import pack
from ...torq.write import write_executable
from .. import records
from ..records import NONE
from .device_model import Part
from .npu import npu_kernel
from .pool import CONSUMING, Pool

_ASYNC_FLAG: Final = "--iree-execution-model=async-external"
Say = Callable[[str], None]


class WholeModel:
    """A model with one function of tensors."""

    def __init__(self, path: Path, say: Say) -> None:
        """Raises ModelError."""
        say(f"reading {path.name}")
        self.path = path
        self.function = MlirFunction(path)

    def add_program(
        self, pool: Pool, device: int, target: Target | None, say: Say, *, cache: bool
    ) -> None:
        """A device's program; without a target it is the NPU's. Raises ModelError."""
        function = self.function
        if target is None:
            executable = self._for_npu(say)
            kernel = npu_kernel(device, function.entry, executable)
            pool.add_program(device, write_executable(executable), [kernel])
            return
        say(f"compiling {self.path.name} for {target}")
        flags = [_ASYNC_FLAG]
        made = compile_model(self.path, target=target, flags=flags, progress=say, cache=cache)
        counts = len(function.inputs), 0, len(function.outputs)
        pool.add_program(
            device, made.data, [records.Kernel(device, CONSUMING, NONE, function.entry, *counts)]
        )

    def _for_npu(self, say: Say) -> Executable:
        if not all(is_known(dims) for dims in self.function.declared().values()):
            raise ModelError(f"{self.path}: programs for the NPU need shapes that are numbers")
        made = compiled(self.path, say, USUAL)
        return pack(made.program, self.path.stem)

    def part(self, shapes: Mapping[str, Dims], device: int, devices: Sequence[str]) -> Part:
        """What becomes a device model for these input shapes. Raises ModelError."""
        graph: Graph = self.function.graph(shapes)
        (operator,) = graph.steps
        assert isinstance(operator, Operator)
        group = Group((operator,))
        kernel = Kernel(
            entry=self.function.entry, arguments=operator.inputs, outputs=operator.outputs
        )
        sets = ", ".join(f"{each.name}={dims_text(each.dims)}" for each in graph.inputs)
        return Part(
            name=f"{sets} on {devices[device]}",
            file=self.path.name,
            graph=graph,
            steps=[group],
            kernels={group: kernel},
            devices={group: device},
        )

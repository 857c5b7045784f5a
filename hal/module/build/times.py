"""Predicted times of groups of operators on each device a module can be built for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from pathlib import Path
from typing import Any

import numpy as np

from assay.compiler.graph.symbolic.dims import greatest
from assay.compiler.graph.symbolic.graph import Graph
from assay.compiler.models import ModelError, compile_model
from assay.compiler.module.balance import Links
from assay.compiler.module.groups import Group
from assay.compiler.module.kernel import Kernel
from assay.compiler.module.kernels import flags_of, mlir_of
from assay.hw.apple.facts.chips import Chip
from assay.hw.apple.system import Pass, overheads
from assay.hw.processor import processor_costs
from assay.sim.clock import seconds_of
from assay.sim.native.work_folder import work_folder

from ... import element_type as elements
from ... import observe
from ...buffer import BufferView
from ...device import Device
from ...metal import api
from ...metal.driver import MetalDriver
from ...metal.timed import ChipPredictor, ProgramTimer, schedule_of
from ...status import StatusError
from ..effort import effort
from ..memory import allocate
from ..programs import VmProgram

Ranges = dict[str, tuple[int, int | None]]
Say = Callable[[str], None]
_NANOSECOND = 1e-9


class Sizes:
    """Shapes and bytes of a graph's tensors, at most."""

    def __init__(self, graph: Graph, ranges: Ranges) -> None:
        self._graph, self._ranges = graph, ranges

    def shape(self, name: str) -> tuple[int, ...]:
        """Raises ModelError for a shape that has no most."""
        if name in self._graph.constants:
            return self._graph.constants[name].shape
        found = []
        for dim in self._graph.tensors[name].dims:
            most = greatest(dim, self._ranges)
            if most is None:
                raise ModelError(
                    f"split: {name} may have any size, so nothing can be predicted; give its "
                    "dimensions bounds, or say in a file what goes where"
                )
            found.append(most)
        return tuple(found)

    def is_constant(self, name: str) -> bool:
        """Whether it is no tensor that is computed or given."""
        return name in self._graph.constants

    def dtype(self, name: str) -> np.dtype[Any]:
        """The type of its elements."""
        constant = self._graph.constants.get(name)
        return constant.dtype if constant is not None else self._graph.tensors[name].dtype

    def bytes(self, name: str) -> int:
        """All of its elements."""
        return prod(self.shape(name)) * self.dtype(name).itemsize


def cpu_seconds(group: Group, kernel: Kernel, sizes: Sizes) -> float:
    """By the stated model of the board's processor."""
    kinds = [operator.node.op_type for operator in group.operators]
    shapes = [sizes.shape(name) for name in kernel.arguments]
    moved = sum(sizes.bytes(name) for name in (*kernel.arguments, *kernel.outputs))
    work = effort(kinds, shapes, sizes.shape(kernel.outputs[0]), moved)
    return processor_costs().kernel(macs=work.macs, elements=work.elements, moved=work.moved)


def links(devices: Sequence[str], chip: Chip) -> Links:
    """Crossings between devices, and what it takes to hand the GPU work and to see its end."""
    costs = overheads(chip)
    seen = costs.completion // 2 * _NANOSECOND
    begun = seen + costs.command_buffer * _NANOSECOND
    return Links(
        copy=lambda size, source, target: copy_seconds(
            size, devices[source], devices[target], chip
        ),
        enter=tuple(begun if device == "metal" else 0.0 for device in devices),
        leave=tuple(seen if device == "metal" else 0.0 for device in devices),
    )


def copy_seconds(size: int, source: str, target: str, chip: Chip) -> float:
    """A copy to another device; from the GPU, after the host saw its end; to it, with the begin of
    a command buffer."""
    costs = overheads(chip)
    seen = costs.completion // 2 if source == "metal" else 0
    begun = costs.command_buffer if target == "metal" else 0
    return processor_costs().copy(size) + (seen + begun) * _NANOSECOND


class GpuTimes:
    """Predicts kernels on a chip as `assay time` does; each is compiled and simulated once."""

    def __init__(self, chip: Chip, say: Say, *, cache: bool) -> None:
        self._chip, self._say, self._cache = chip, say, cache
        self._known: dict[str, float] = {}
        self.refused: dict[str, str] = {}
        """Kernels that cannot be compiled for the GPU, or not be predicted, and why."""

    def predict(self, kernels: Sequence[Kernel], sizes: Sizes) -> None:
        """Finds out the seconds of kernels that are new. Raises ModelError."""
        new = {each.entry: each for each in kernels if each.entry not in self._known}
        if not new:
            return
        data = self._compiled(list(new.values()))
        self._known |= dict.fromkeys(self.refused, inf)
        good = [kernel for kernel in new.values() if kernel.entry not in self.refused]
        if not good:
            return
        timer = ProgramTimer(ChipPredictor(self._chip), results=False)
        device = MetalDriver(api.load("emulated")).open()
        program = VmProgram(device, memoryview(data))
        for number, kernel in enumerate(good):
            self._say(f"predicting kernel {number + 1} of {len(good)}: {kernel.entry}")
            try:
                self._known[kernel.entry] = self._timed(timer, device, program, kernel, sizes)
            except StatusError as error:
                self._known[kernel.entry] = inf
                self.refused[kernel.entry] = f"its time cannot be predicted: {error}"
                device = MetalDriver(api.load("emulated")).open()
                program = VmProgram(device, memoryview(data))

    def seconds(self, kernel: Kernel) -> float:
        """Of a kernel that was predicted; infinite if it cannot be done."""
        return self._known[kernel.entry]

    def _timed(
        self, timer: ProgramTimer, device: Device, program: VmProgram, kernel: Kernel, sizes: Sizes
    ) -> float:
        views = [self._view(device, name, sizes) for name in kernel.arguments]
        places = [self._view(device, name, sizes) for name in kernel.outputs]
        # Where a slice begins is as good as any place; that it ends behind it is what counts.
        constants = [number % 2 for number in range(len(kernel.constants))]
        first = len(timer.buffers)
        with observe.timing(timer):
            done = program.call(kernel.entry, views, constants, places, None)
            if done is not None:
                done.wait()
        timer.finish()
        if timer.failures:
            raise ModelError(f"split: {timer.failures[0]}")
        return self._seconds(timer, first)

    def _view(self, device: Device, name: str, sizes: Sizes) -> BufferView:
        buffer = allocate(device, sizes.bytes(name))
        code = elements.code_of(sizes.dtype(name))
        exact = buffer.subspan(0, sizes.bytes(name))
        return BufferView(exact, sizes.shape(name), code, elements.DENSE_ROW_MAJOR)

    def _seconds(self, timer: ProgramTimer, first: int) -> float:
        """Of a kernel between others in one command buffer: its work, and a barrier for each."""
        made = schedule_of(timer.buffers[first:], (), self._chip).submissions
        passes = [step for each in made for step in each.steps if isinstance(step, Pass)]
        work = [work for each in passes for work in each.work]
        costs = overheads(self._chip)
        between = len(work) * (costs.barrier + costs.dispatch) * _NANOSECOND
        return seconds_of(sum(each.ticks for each in work)) + between

    def _compiled(self, kernels: Sequence[Kernel]) -> bytes:
        """All kernels that can be compiled, together; the others are refused."""
        self._say(f"compiling {len(kernels)} kernels to predict their times")
        try:
            return self._module(kernels)
        except ModelError:
            good = []
            for kernel in kernels:
                try:
                    self._module([kernel])
                    good.append(kernel)
                except ModelError as error:
                    self.refused[kernel.entry] = str(error).splitlines()[-1].strip()
            return self._module(good) if good else b""

    def _module(self, kernels: Sequence[Kernel]) -> bytes:
        with work_folder() as work:
            source = Path(work) / "kernels.mlir"
            module = mlir_of(kernels)
            source.write_bytes(module)
            flags = flags_of(module)
            return compile_model(source, target="metal", flags=flags, cache=self._cache).data

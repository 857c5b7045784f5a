"""What each instruction of a run gives a device to do, from one run, instruction by instruction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from assay.hal import observe
from assay.hal.buffer import Buffer
from assay.hal.metal.timed import ChipPredictor, ProgramTimer
from assay.hal.metal.timed.timer import BufferLog
from assay.hal.module.context import Array, Context
from assay.hal.module.effort import Effort, effort
from assay.hal.module.opened import OpenedModule
from assay.hal.module.queues import meet
from assay.hal.module.records import (
    NONE,
    Call,
    Copy,
    Instruction,
    Kernel,
    Location,
    Model,
    Read,
)
from assay.hal.module.rounds import parts
from assay.hal.torq.archive import read_container
from assay.hal.torq.format import Executable
from assay.hw.apple.facts.chips import Chip

from ..errors import TimeInputError


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """What one instruction gives a device to do.

    Attributes:
        name: of the operators, or of the tensor that is copied.
        device: the module's name of the device; of a copy, that of the source.
        target: the device that a copy goes to, else "".
        part: which of the run's parts it belongs to.
        gpu: command buffers.
        npu: executables.
        effort: of kernels of the CPU, and of copies.
        is_read: whether the host waits for the device here, and does nothing before.
        behind: places among the tasks of copies to other devices whose source this writes.
    """

    name: str
    device: str
    part: int
    target: str = ""
    gpu: tuple[BufferLog, ...] = ()
    npu: tuple[Executable, ...] = ()
    effort: Effort | None = None
    is_read: bool = False
    behind: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """All that a run gives devices to do, in the order in which it is submitted."""

    model: str
    devices: tuple[str, ...]
    parts: int
    tasks: tuple[Task, ...]


Say = Callable[[str], None]


def profiled(
    opened: OpenedModule, inputs: Sequence[Array], chip: Chip, say: Say | None = None
) -> Profile:
    """The profile of a run on these inputs; of the GPU's work only samples are executed.

    Raises TimeInputError for what cannot be predicted, and StatusError.
    """
    context = Context(opened)
    try:
        names = [given.name for given in context.model.inputs]
        pairs = list(zip(names, inputs, strict=True))
        context.reshape({name: array.shape for name, array in pairs})
        for name, array in pairs:
            context.write(name, array)
        return _Profiler(context, chip, say).profile()
    finally:
        context.close()


class _Profiler:
    def __init__(self, context: Context, chip: Chip, say: Say | None) -> None:
        self._context = context
        self._model: Model = context.model
        items = self._model.regions[0].instructions
        # A read needs true elements; without any, what is not sampled need not be executed.
        reads = any(isinstance(item, Read) for r in self._model.regions for item in r.instructions)
        self._timer = ProgramTimer(ChipPredictor(chip, say=say), results=reads, say=say)
        self._parts = parts(self._model)
        self._places = {id(item): at for at, item in enumerate(items)}
        self._part = 0
        self._logged = 0
        self._tasks: list[Task] = []
        self._copied: dict[int, Buffer] = {}
        """Sources of copies to other devices that nothing wrote since, by their tasks' places."""

    def profile(self) -> Profile:
        with observe.timing(self._timer):
            self._context.run(self._done)
        if self._timer.failures:
            raise TimeInputError(f"{self._model.name}: {self._timer.failures[0]}")
        module = self._context.opened.module
        return Profile(
            model=self._model.name,
            devices=tuple(module.devices[number] for number in self._model.devices),
            parts=len(self._parts),
            tasks=tuple(self._tasks),
        )

    def _done(self, item: Instruction) -> None:
        """Behind each instruction, also of inner regions: what it gave a device to do."""
        at = self._places.get(id(item))
        if at is not None:
            self._part = next(n for n, (_, end) in enumerate(self._parts) if at < end)
        if isinstance(item, Read):
            tensor = self._model.tensors[item.tensor]
            device = self._context.opened.module.devices[tensor.device]
            self._tasks.append(
                Task(name=f"read {tensor.name}", device=device, part=self._part, is_read=True)
            )
        if not isinstance(item, Call | Copy):
            return
        self._context.finish()
        self._timer.finish()
        buffers = tuple(self._timer.buffers[self._logged :])
        self._logged = len(self._timer.buffers)
        task = self._call(item, buffers) if isinstance(item, Call) else self._copy(item, buffers)
        written = item.outputs if isinstance(item, Call) else (item.target,)
        self._tasks.append(replace(task, behind=tuple(self._overwritten(written))))
        if task.target and isinstance(item, Copy):
            self._copied[len(self._tasks) - 1] = self._context.view(item.source).buffer

    def _overwritten(self, tensors: Sequence[int]) -> Iterator[int]:
        """Copies whose source lies where these tensors do; later ones need not wait for them."""
        buffers = [self._context.view(number).buffer for number in tensors]
        for place, source in list(self._copied.items()):
            if any(meet(source, each) for each in buffers):
                del self._copied[place]
                yield place

    def _call(self, item: Call, buffers: tuple[BufferLog, ...]) -> Task:
        opened = self._context.opened
        kernel = opened.module.kernels[item.kernel]
        device = opened.module.devices[kernel.device]
        location = self._location(item.outputs[0])
        name = f"{location.operator} {location.name}" if location else kernel.entry
        return Task(
            name=name,
            device=device,
            part=self._part,
            gpu=buffers,
            npu=tuple(self._executables(kernel)) if device == "torq" else (),
            effort=self._effort(item, location) if device == "cpu" else None,
        )

    def _executables(self, kernel: Kernel) -> Iterator[Executable]:
        """What the NPU runs for a call."""
        file = self._context.opened.file
        for stage in kernel.stages:
            segment = kernel.segment if stage.segment == NONE else stage.segment
            for names in read_container(file.segment(segment)).executables:
                if stage.entry in (names[0], names[1].name):
                    yield names[1]
                    break

    def _copy(self, item: Copy, buffers: tuple[BufferLog, ...]) -> Task:
        source, target = (self._model.tensors[n] for n in (item.source, item.target))
        devices = self._context.opened.module.devices
        size = self._context.view(item.source).buffer.length
        crosses = source.device != target.device
        return Task(
            name=f"copy {source.name}",
            device=devices[source.device],
            target=devices[target.device] if crosses else "",
            part=self._part,
            gpu=buffers,
            effort=Effort(macs=0, elements=0, moved=size),
        )

    def _effort(self, item: Call, location: Location | None) -> Effort:
        if location is None or location.operator.startswith("the whole"):
            raise TimeInputError(
                f"{self._model.name}: a model that is one kernel has no predicted time on the CPU"
            )
        views = [self._context.view(number) for number in (*item.inputs, *item.outputs)]
        shapes = [view.shape for view in views]
        return effort(
            location.operator.split("+"),
            shapes[: len(item.inputs)],
            shapes[len(item.inputs)],
            sum(view.buffer.length for view in views),
        )

    def _location(self, tensor: int) -> Location | None:
        number = self._model.tensors[tensor].location
        return self._context.opened.module.locations[number] if number >= 0 else None

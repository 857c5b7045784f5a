"""Kernels of a module's own: texts of MSL and executables of the NPU, dispatched as stages say."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from .. import element_type as elements
from ..buffer import BufferView
from ..device import BufferRef, Device, Executable
from ..flags import CommandBufferMode
from ..msl import FORMAT as MSL_FORMAT
from ..msl import MslKernel
from ..semaphore import Fence
from ..status import StatusError, invalid_argument, out_of_range
from .expressions import fits
from .noting import NotedCommands, NotingDevice
from .records import NONE, Argument, Kernel, Stage

MSL: Final = "msl"
TORQ: Final = "torq"
STAGED: Final = (MSL, TORQ)
"""Formats of kernels that do what their stages say."""
_TORQ_FORMAT: Final = "torq-fb"
_MOST_THREADGROUPS: Final = 1 << 31
_MOST_THREADS: Final = 1024
MOST_SIZES: Final = 32
"""Of threadgroups, for which a kernel keeps code; they may follow from a run's sizes."""
Size = tuple[int, int, int]
Segments = Callable[[int], memoryview]
"""The bytes of a segment, by number."""


class StagedProgram(ABC):
    """A kernel: operands by number, and what each stage is passed of them."""

    def __init__(self, device: Device, kernel: Kernel) -> None:
        self._device = NotingDevice(device)
        self._kernel = kernel
        self._own = kernel.inputs + kernel.outputs
        """How many of the operands are tensors; constants come next, then the workspace."""

    def noted(self, entry: str) -> NotingDevice:
        """What notes its commands: they follow from constants alone."""
        del entry
        return self._device

    def call(
        self,
        entry: str,
        inputs: Sequence[BufferView],
        constants: Sequence[int],
        outputs: Sequence[BufferView],
        wait: Fence | None,
    ) -> Fence:
        """Dispatches all stages in one command buffer; what is behind the outputs is workspace.

        The first of `constants` are sizes of grids, where stages have one.
        """
        del entry
        tensors = [*inputs, *outputs[: self._kernel.outputs]]
        sizes, numbers = constants[: self.sizes], constants[self.sizes :]
        workspace = outputs[-1] if len(outputs) > self._kernel.outputs else None
        commands = self._device.create_command_buffer(CommandBufferMode.ONE_SHOT, 0)
        for at, stage in enumerate(self._kernel.stages):
            memory = [
                (each.index, self._memory(each, tensors, numbers, workspace))
                for each in stage.arguments
                if not self.is_constant(each)
            ]
            self._record(commands, at, stage, dict(memory), numbers, sizes)
            commands.execution_barrier()
        commands.finalize()
        done = Fence(((self._device.create_semaphore(0, private=True), 1),))
        self._device.queue_execute(wait, done, commands)
        return done

    @property
    def sizes(self) -> int:
        """How many of a call's integers are sizes of grids."""
        return 0

    def is_constant(self, argument: Argument) -> bool:
        """Whether an argument is a number, and no memory."""
        return self._own <= argument.operand < self._own + self._kernel.constants

    def _memory(
        self,
        argument: Argument,
        tensors: Sequence[BufferView],
        numbers: Sequence[int],
        workspace: BufferView | None,
    ) -> BufferRef:
        if argument.operand < self._own:
            buffer = tensors[argument.operand].buffer
            return BufferRef(buffer, 0, 0, buffer.length)
        if workspace is None:
            raise invalid_argument(f"{self._kernel.entry} takes a workspace and has none")
        offset = 0 if argument.offset == NONE else numbers[argument.offset - self._own]
        length = workspace.buffer.length
        if not 0 <= offset <= length:
            raise out_of_range(f"byte {offset} of a workspace of {length} bytes")
        return BufferRef(workspace.buffer, 0, offset, length - offset)

    @abstractmethod
    def _record(
        self,
        commands: NotedCommands,
        at: int,
        stage: Stage,
        memory: Mapping[int, BufferRef],
        numbers: Sequence[int],
        sizes: Sequence[int],
    ) -> None:
        """Records stage number `at`, given its memory by index. Raises StatusError."""


class MslProgram(StagedProgram):
    """A text, whose functions are compiled for the sizes of threadgroups that calls ask for."""

    def __init__(self, device: Device, kernel: Kernel, segment: Segments) -> None:
        """Reads the texts. Raises StatusError."""
        super().__init__(device, kernel)
        self._sources = [_text(kernel, stage, segment) for stage in kernel.stages]
        self._made: dict[tuple[int, Size], Executable] = {}
        """By stage and size; the last one that was asked for is the last."""
        self._lock = threading.Lock()

    @property
    def sizes(self) -> int:
        """Three for a grid, three for a threadgroup, of each stage."""
        return 6 * len(self._kernel.stages)

    def _record(
        self,
        commands: NotedCommands,
        at: int,
        stage: Stage,
        memory: Mapping[int, BufferRef],
        numbers: Sequence[int],
        sizes: Sequence[int],
    ) -> None:
        behind = 3 * len(self._kernel.stages)
        groups = _size(sizes[3 * at : 3 * at + 3])
        threads = _size(sizes[behind + 3 * at : behind + 3 * at + 3])
        if max(groups) >= _MOST_THREADGROUPS or not all(threads) or _count(threads) > _MOST_THREADS:
            raise out_of_range(
                f"{stage.entry}: {groups} threadgroups of {threads} threads; 1 to {_MOST_THREADS} "
                "threads are possible"
            )
        executable = self._executable(at, stage, threads)
        ranges = [memory[index] for index in sorted(memory)]
        commands.dispatch(executable, 0, groups, self._words(stage, numbers), ranges)

    def _executable(self, at: int, stage: Stage, threads: Size) -> Executable:
        """The code for a size of threadgroups, made unless it is one of the last ones."""
        with self._lock:
            found = self._made.pop((at, threads), None) or self._prepared(at, stage, threads)
            while len(self._made) >= MOST_SIZES:
                del self._made[next(iter(self._made))]
            self._made[at, threads] = found
        return found

    def _prepared(self, at: int, stage: Stage, threads: Size) -> Executable:
        kernel = MslKernel(
            source=self._sources[at],
            function=stage.entry,
            threads=threads,
            buffers=tuple(sorted(a.index for a in stage.arguments if not self.is_constant(a))),
            constants=tuple((index, size) for index, size in self._blocks(stage).items()),
            function_constants=tuple(
                (each.index, each.element_type, each.bits) for each in stage.function_constants
            ),
            threadgroup_memory=stage.threadgroup_memory,
        )
        cache = self._device.executable_cache
        return cache.prepare(MSL_FORMAT, memoryview(kernel.to_bytes()), ())

    def _blocks(self, stage: Stage) -> dict[int, int]:
        """Bytes of what constants become, by index: whole elements of the largest in it."""
        ends: dict[int, int] = {}
        largest: dict[int, int] = {}
        for each in stage.arguments:
            if self.is_constant(each):
                size = elements.dtype_of(each.element_type).itemsize
                ends[each.index] = max(ends.get(each.index, 0), each.offset + size)
                largest[each.index] = max(largest.get(each.index, 1), size)
        return {at: -(-ends[at] // largest[at]) * largest[at] for at in sorted(ends)}

    def _words(self, stage: Stage, numbers: Sequence[int]) -> list[int]:
        sizes = self._blocks(stage)
        blocks = {index: bytearray(-(-size // 4) * 4) for index, size in sizes.items()}
        for each in stage.arguments:
            if self.is_constant(each):
                number = numbers[each.operand - self._own]
                size = elements.dtype_of(each.element_type).itemsize
                data = _bytes(number, size, stage.entry)
                blocks[each.index][each.offset : each.offset + size] = data
        whole = b"".join(blocks.values())
        return [int.from_bytes(whole[at : at + 4], "little") for at in range(0, len(whole), 4)]


class TorqProgram(StagedProgram):
    """An executable of the NPU, or a container of some; each stage is a run of one."""

    def __init__(self, device: Device, kernel: Kernel, segment: Segments) -> None:
        """Reads the executables. Raises StatusError."""
        super().__init__(device, kernel)
        cache = device.executable_cache
        used = dict.fromkeys(_segment(kernel, stage) for stage in kernel.stages)
        made = {each: cache.prepare(_TORQ_FORMAT, segment(each), ()) for each in used}
        self._functions = [
            (made[at], made[at].lookup(stage.entry))
            for at, stage in ((_segment(kernel, stage), stage) for stage in kernel.stages)
        ]

    def _record(
        self,
        commands: NotedCommands,
        at: int,
        stage: Stage,
        memory: Mapping[int, BufferRef],
        numbers: Sequence[int],
        sizes: Sequence[int],
    ) -> None:
        ranges = [memory[index] for index in sorted(memory)]
        executable, function = self._functions[at]
        commands.dispatch(executable, function, (1, 1, 1), (), ranges)


StagedLoader = Callable[[Device, Kernel, Segments], StagedProgram]
STAGED_LOADERS: Final[Mapping[str, StagedLoader]] = {MSL: MslProgram, TORQ: TorqProgram}
"""By format."""


def _segment(kernel: Kernel, stage: Stage) -> int:
    return kernel.segment if stage.segment == NONE else stage.segment


def _text(kernel: Kernel, stage: Stage, segment: Segments) -> str:
    try:
        return bytes(segment(_segment(kernel, stage))).decode()
    except UnicodeDecodeError as error:
        raise invalid_argument(f"the MSL of {stage.entry} is no text: {error}") from None


def _size(numbers: Sequence[int]) -> Size:
    x, y, z = numbers
    if min(numbers) < 0:
        raise out_of_range(f"a grid of {x} x {y} x {z}")
    return x, y, z


def _count(size: Size) -> int:
    return fits(size[0] * size[1] * size[2])


def _bytes(number: int, size: int, entry: str) -> bytes:
    """A number of so many bytes, signed or not. Raises StatusError if it does not fit."""
    bits = 8 * size
    if not -(1 << bits - 1) <= number < 1 << bits:
        raise StatusError("OUT_OF_RANGE", f"{entry}: {number} does not fit {bits} bits")
    return (number & (1 << bits) - 1).to_bytes(size, "little")

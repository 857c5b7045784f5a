"""What encoders record and queues run. Memory is touched only here, when a command runs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ....observe import Watch, watch_of_work
from ..errors import MetalError
from ..observer import MetalObserver
from ..order.hooks import thread
from ..resources.residency import within
from ..worker import at_work, running
from .checking import report_failure
from .constant_findings import report_constants
from .timing import place_of_dispatch, threadgroups_in

if TYPE_CHECKING:
    from assay.sim.check import Checker
    from assay.sim.simt import Executable, Memory
    from assay.sim.simt.run.accesses import AccessLog

    from ..device import MTLDevice
    from ..programs.pipeline import MTLComputePipelineState
    from ..resources.buffer import MTLBuffer
    from ..resources.residency import Reach
    from ..tensors.tensor import MTLTensor
    from ..textures.texture import MTLTexture
    from .event import MTLEvent

Size = tuple[int, int, int]


class Command(Protocol):
    """One recorded step of a command buffer."""

    def run(self, device: "MTLDevice") -> None:
        """Do it, on the queue's thread. Raises what stops the command buffer."""


# These classes are not frozen: frozen instances cost three times as much to make, on the path
# whose cost per dispatch counts.
@dataclass(slots=True)
class DispatchCommand:
    """A grid of one kernel, given in threads or in threadgroups.

    `ordering` is its group among those of an indirect command buffer and for times (see
    `ordering`); `reach` says what it finds through addresses in
    memory, None if it follows none.
    """

    pipeline: "MTLComputePipelineState"
    arguments: Sequence[int]
    threads: Size | None
    threadgroups: Size | None
    threads_per_threadgroup: Size
    ordering: int
    reach: "Reach | None"

    def run(self, device: "MTLDevice") -> None:
        """Run the grid; an empty one does nothing."""
        if 0 in (self.threads or self.threadgroups or ()):
            return
        # Or the kernel could still reach buffers that are gone.
        device.memory.settle()
        place = place_of_dispatch()
        if place is not None:
            place.timer.dispatch(place, device, self, partial(self._run, device))
        else:
            self._run(device)

    def _run(self, device: "MTLDevice") -> None:
        watch = watch_of_work()
        if watch is not None:
            self._run_checked(device, watch)
            return
        self._dispatch(device, self.pipeline.executable_for(self.threads_per_threadgroup))

    def _run_checked(self, device: "MTLDevice", watch: Watch) -> None:
        """Run the grid under `watch`; a fault becomes a finding too."""
        for observer in watch.of(MetalObserver):  # type: ignore[type-abstract]
            observer.dispatch_begins(device, self)
        follower = thread.follower
        try:
            executable = self.pipeline.watched_executable(
                self.threads_per_threadgroup,
                watch.checker.observers,
                math.prod(threadgroups_in(self)),
            )
            run = partial(self._dispatch, device, executable, watch.checker)
            if follower is None:
                run()
            else:
                follower.dispatch(self, run)
        except Exception as error:
            report_failure(watch, error)
            raise
        finally:
            report_constants(watch, self.pipeline.kernel)

    def _dispatch(
        self,
        device: "MTLDevice",
        executable: "Executable",
        checker: "Checker | None" = None,
        accesses: "AccessLog | None" = None,
    ) -> None:
        with at_work(running), within(self.reach, device) as memory:
            self.run_on_engine(device, memory, executable, checker, accesses)

    def run_on_engine(
        self,
        device: "MTLDevice",
        memory: "Memory",
        executable: "Executable",
        checker: "Checker | None" = None,
        accesses: "AccessLog | None" = None,
    ) -> None:
        """Have the engine run the grid in this memory. Raises KernelFault."""
        device.engine.dispatch(
            executable,
            memory,
            self.arguments,
            threads=self.threads,
            threadgroups=self.threadgroups,
            workers=device.options.workers,
            fuel=device.options.fuel,
            checker=checker,
            accesses=accesses,
        )


@dataclass(slots=True)
class IndirectDispatchCommand:
    """A grid whose number of threadgroups lies in a buffer as three 32-bit integers."""

    pipeline: "MTLComputePipelineState"
    arguments: Sequence[int]
    buffer: "MTLBuffer"
    offset: int
    threads_per_threadgroup: Size
    ordering: int
    reach: "Reach | None"

    def run(self, device: "MTLDevice") -> None:
        """Read the size, then run the grid. Raises GridError for a size that cannot be."""
        words = self.buffer.data[self.offset : self.offset + 12].view("<u4")
        width, height, depth = (int(word) for word in words)
        groups = (width, height, depth)
        self.pipeline.check_grid(
            lambda: (
                f"the indirect dispatch of kernel {self.pipeline.kernel.name!r}: {groups}, read "
                f"at byte {self.offset} of {self.buffer!r},"
            ),
            groups,
            self.threads_per_threadgroup,
        )
        DispatchCommand(
            self.pipeline,
            self.arguments,
            None,
            groups,
            self.threads_per_threadgroup,
            self.ordering,
            self.reach,
        ).run(device)


@dataclass(slots=True)
class CopyCommand:
    """`size` bytes from one buffer to another."""

    source: "MTLBuffer"
    source_offset: int
    destination: "MTLBuffer"
    destination_offset: int
    size: int

    def run(self, device: "MTLDevice") -> None:
        """Copy."""
        source = self.source.data[self.source_offset : self.source_offset + self.size]
        target = slice(self.destination_offset, self.destination_offset + self.size)
        self.destination.data[target] = source


@dataclass(slots=True)
class CopyTensorCommand:
    """A slice of one tensor to a slice of another, the outermost dimension first."""

    source: "MTLTensor"
    source_slice: tuple[slice, ...]
    destination: "MTLTensor"
    destination_slice: tuple[slice, ...]

    def run(self, device: "MTLDevice") -> None:
        """Copy, as if through a third tensor."""
        source = self.source.elements(self.source.room.data)[self.source_slice].copy()
        target = self.destination.elements(self.destination.room.data)[self.destination_slice]
        target[...] = source.reshape(target.shape)


@dataclass(slots=True)
class FillCommand:
    """One byte value over a range of a buffer."""

    buffer: "MTLBuffer"
    start: int
    length: int
    value: int

    def run(self, device: "MTLDevice") -> None:
        """Fill."""
        self.buffer.data[self.start : self.start + self.length] = self.value


@dataclass(slots=True)
class SynchronizeCommand:
    """The device's copy of a managed resource becomes visible to the host."""

    resource: "MTLBuffer | MTLTexture"

    def run(self, device: "MTLDevice") -> None:
        """Copy device to host."""
        self.resource.synchronize_host()


@dataclass(slots=True)
class WaitCommand:
    """The queue stands still until an event is at a value."""

    event: "MTLEvent"
    value: int

    def run(self, device: "MTLDevice") -> None:
        """Wait. Raises BrokenWait."""
        self.event.wait_until_at(self.value)


@dataclass(slots=True)
class SignalCommand:
    """An event is set to a value."""

    event: "MTLEvent"
    value: int

    def run(self, device: "MTLDevice") -> None:
        """Signal."""
        self.event.set_value(self.value)

    def give_up(self, why: str) -> None:
        """Tell those who wait that an earlier command failed."""
        self.event.break_waits(self.value, why)


class ProcessEnds(MetalError):
    """The process is ending; what was committed is not run any more."""

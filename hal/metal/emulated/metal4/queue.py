"""MTL4CommandQueue: runs command buffers in the order in which they are committed."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..commands.queue import MTLCommandQueue
from ..errors import NSError
from ..objects import Allocated, MetalObject, UserMade, call_of, expect
from ..resources.residency import MTLResidencySet
from ..structs import as_list
from ..worker import run_handler
from .command_buffer import MTL4CommandBuffer

if TYPE_CHECKING:
    from ..commands.commandbuffer import MTLCommandBuffer
    from ..commands.event import MTLEvent
    from ..device import MTLDevice

_log = logging.getLogger(__name__)
Handler = Callable[["MTL4CommitFeedback"], None]


class MTL4CommandQueueDescriptor(UserMade):
    """How a queue is to be: its label."""


class MTL4CommitFeedback(MetalObject):
    """What came of a commit."""

    def __init__(self, ended: "list[MTLCommandBuffer]") -> None:
        self._ended = ended

    def error(self) -> NSError | None:
        """What stopped the commands, or None."""
        return next((each.error() for each in self._ended if each.error() is not None), None)

    def GPUStartTime(self) -> float:
        """Host time in seconds when the first command began."""
        return self._ended[0].GPUStartTime()

    def GPUEndTime(self) -> float:
        """Host time in seconds when the last command had ended."""
        return self._ended[-1].GPUEndTime()


class MTL4CommitOptions(Allocated, MetalObject):
    """What is to be done when committed commands have run."""

    def __init__(self) -> None:
        self.handlers: list[Handler] = []

    def addFeedbackHandler_(self, handler: Handler) -> None:
        """Call handler(feedback) when the commands have run or failed."""
        self.handlers.append(handler)


class MTL4CommandQueue(MetalObject):
    """Runs command buffers, one after the other.

    Deviation: an error of commands that were committed without a feedback handler is logged.
    """

    def __init__(self, device: "MTLDevice", label: str | None = None) -> None:
        self._device = device
        self._label = label
        self._queue = MTLCommandQueue(device, 64)

    def device(self) -> "MTLDevice":
        """The device that runs the commands."""
        return self._device

    def commit_count_(self, buffers: Sequence[MTL4CommandBuffer], count: int) -> None:
        """Run command buffers, in this order."""
        self._commit(call_of(self), buffers, count, [])

    def commit_count_options_(
        self, buffers: Sequence[MTL4CommandBuffer], count: int, options: MTL4CommitOptions
    ) -> None:
        """Run command buffers, and call the feedback handlers when they have run."""
        where = call_of(self)
        expect(where, "the options", options, MTL4CommitOptions)
        self._commit(where, buffers, count, list(options.handlers))

    def signalEvent_value_(self, event: "MTLEvent", value: int) -> None:
        """Set `event` to `value` when all that was committed before has run."""
        inner = self._queue.commandBuffer()
        inner.encodeSignalEvent_value_(event, value)
        inner.commit()

    def waitForEvent_value_(self, event: "MTLEvent", value: int) -> None:
        """Run nothing that is committed later before `event` is at `value`."""
        inner = self._queue.commandBuffer()
        inner.encodeWaitForEvent_value_(event, value)
        inner.commit()

    def addResidencySet_(self, chosen: MTLResidencySet) -> None:
        """Let kernels of this queue reach what the set holds."""
        self._queue.addResidencySet_(chosen)

    def addResidencySets_count_(self, chosen: Sequence[MTLResidencySet], count: int) -> None:
        """Let kernels of this queue reach what several sets hold."""
        self._queue.addResidencySets_count_(chosen, count)

    def removeResidencySet_(self, chosen: MTLResidencySet) -> None:
        """Undo addResidencySet_ for command buffers that are committed from now on."""
        self._queue.removeResidencySet_(chosen)

    def removeResidencySets_count_(self, chosen: Sequence[MTLResidencySet], count: int) -> None:
        """Undo addResidencySets_count_ for command buffers that are committed from now on."""
        self._queue.removeResidencySets_count_(chosen, count)

    def _commit(
        self,
        where: str,
        buffers: Sequence[MTL4CommandBuffer],
        count: int,
        handlers: list[Handler],
    ) -> None:
        made = []
        for buffer in as_list(where, "the command buffers", buffers, count):
            expect(where, "a command buffer", buffer, MTL4CommandBuffer)
            inner = self._inner(buffer)
            buffer.replay(where, inner)
            made.append(inner)
        if not made:
            return
        tell = partial(_tell, made, handlers)
        tell.is_unseen = not handlers  # type: ignore[attr-defined]  # see `tells_program`
        made[-1].addCompletedHandler_(tell)
        for inner in made:
            inner.commit()

    def _inner(self, buffer: MTL4CommandBuffer) -> "MTLCommandBuffer":
        from ..descriptors import MTLCommandBufferDescriptor

        descriptor = MTLCommandBufferDescriptor.new()
        if buffer.log_state is not None:
            descriptor.setLogState_(buffer.log_state)
        return self._queue.commandBufferWithDescriptor_(descriptor)


def _tell(ended: "list[MTLCommandBuffer]", handlers: list[Handler], _last: object) -> None:
    feedback = MTL4CommitFeedback(ended)
    for handler in handlers:
        run_handler(handler, feedback)
    error = feedback.error()
    if error is not None and not handlers:
        _log.error("commands of an MTL4CommandQueue failed: %s", error.localizedDescription())

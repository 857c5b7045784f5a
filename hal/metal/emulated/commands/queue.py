"""MTLCommandQueue: committed command buffers run in order, on the queue's own thread."""

import logging
import threading
from collections import deque
from collections.abc import Sequence
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from ..constants import MTLCommandBufferStatusCommitted, MTLCommandBufferStatusEnqueued
from ..descriptors import MTLCommandBufferDescriptor
from ..objects import MetalObject, call_of, expect
from ..resources.residency import MTLResidencySet, checked_set
from ..structs import as_list
from ..worker import SerialThread, Task
from .commandbuffer import MTLCommandBuffer
from .log_state import MTLLogState

if TYPE_CHECKING:
    from ..device import MTLDevice

_log = logging.getLogger(__name__)
# After so many looks at a full queue, a second apart, say why the program stands still.
_LOOKS_BEFORE_WARNING = 5


class MTLCommandQueue(MetalObject):
    """Makes command buffers, and runs them in the order of enqueueing."""

    def __init__(self, device: "MTLDevice", most_command_buffers: int):
        self._device = device
        self._most = most_command_buffers
        self._lock = threading.Lock()
        self._order: deque[MTLCommandBuffer] = deque()
        # Places never taken yet, and those given back. Unlike a semaphore, a SimpleQueue may be
        # put to from a finaliser.
        self._fresh_slots = most_command_buffers
        self.slots: SimpleQueue[None] = SimpleQueue()
        self.log_state = MTLLogState()
        self.residency_sets: list[MTLResidencySet] = []
        self._worker = SerialThread("metal-queue")
        self._callbacks = SerialThread("metal-queue-handlers")

    def device(self) -> "MTLDevice":
        """The device that runs the commands."""
        return self._device

    def commandBuffer(self) -> MTLCommandBuffer:
        """A fresh command buffer; waits while too many are unfinished."""
        self._take_slot()
        return MTLCommandBuffer(self, retained=True, log_state=self.log_state)

    def commandBufferWithUnretainedReferences(self) -> MTLCommandBuffer:
        """A fresh command buffer that leaves it to the program to keep buffers of kernels alive.

        Deviation: buffers of copies and fills are kept alive in any case.
        """
        self._take_slot()
        return MTLCommandBuffer(self, retained=False, log_state=self.log_state)

    def commandBufferWithDescriptor_(
        self, descriptor: MTLCommandBufferDescriptor
    ) -> MTLCommandBuffer:
        """A fresh command buffer as `descriptor` says."""
        where = call_of(self)
        expect(where, "the descriptor", descriptor, MTLCommandBufferDescriptor)
        state = descriptor.logState()
        if state is not None:
            expect(where, "the log state", state, MTLLogState)
        self._take_slot()
        return MTLCommandBuffer(
            self,
            retained=descriptor.retainedReferences(),
            log_state=state or self.log_state,
        )

    def addResidencySet_(self, chosen: MTLResidencySet) -> None:
        """Let kernels of this queue reach what the set holds."""
        where = call_of(self)
        self.residency_sets.append(checked_set(where, chosen, self._device))

    def addResidencySets_count_(self, chosen: Sequence[MTLResidencySet], count: int) -> None:
        """Let kernels of this queue reach what several sets hold."""
        where = call_of(self)
        for each in as_list(where, "the residency sets", chosen, count):
            self.addResidencySet_(each)

    def removeResidencySet_(self, chosen: MTLResidencySet) -> None:
        """Undo addResidencySet_ for command buffers that are encoded from now on."""
        where = call_of(self)
        checked_set(where, chosen, self._device)
        self.residency_sets = [each for each in self.residency_sets if each is not chosen]

    def removeResidencySets_count_(self, chosen: Sequence[MTLResidencySet], count: int) -> None:
        """Undo addResidencySets_count_ for command buffers that are encoded from now on."""
        where = call_of(self)
        for each in as_list(where, "the residency sets", chosen, count):
            self.removeResidencySet_(each)

    def _take_slot(self) -> None:
        with self._lock:
            if self._fresh_slots:
                self._fresh_slots -= 1
                return
        looks = 0
        while True:
            try:
                return self.slots.get(timeout=1.0)
            except Empty:
                looks += 1
                if looks == _LOOKS_BEFORE_WARNING:
                    _log.warning(
                        "MTLCommandQueue.commandBuffer still waits: all %d command buffers of "
                        "the queue are unfinished; commit those that are not, or make the queue "
                        "with newCommandQueueWithMaxCommandBufferCount_",
                        self._most,
                    )

    def enqueue_buffer(self, command_buffer: MTLCommandBuffer) -> None:
        """Give a command buffer its place in the order."""
        with self._lock:
            command_buffer.stage = MTLCommandBufferStatusEnqueued
            self._order.append(command_buffer)

    def commit_buffer(self, command_buffer: MTLCommandBuffer) -> None:
        """Run a command buffer once those before it in the order are committed too."""
        with self._lock:
            if command_buffer.stage != MTLCommandBufferStatusEnqueued:
                self._order.append(command_buffer)
            command_buffer.stage = MTLCommandBufferStatusCommitted
            while self._order and self._order[0].stage == MTLCommandBufferStatusCommitted:
                self._worker.submit(self._order.popleft().run_commands)

    def call_back(self, task: Task) -> None:
        """Run a handler on the thread of handlers."""
        self._callbacks.submit(task)

    def is_callback_thread(self) -> bool:
        """Whether a handler is asking."""
        return self._callbacks.is_current()

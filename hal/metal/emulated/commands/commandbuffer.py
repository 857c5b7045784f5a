"""MTLCommandBuffer: what was encoded, and how its run went."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ....observe import Watch, current_timer, current_watch, tells_program, under
from ..constants import (
    MTLCommandBufferErrorOptionNone,
    MTLCommandBufferStatusCommitted,
    MTLCommandBufferStatusCompleted,
    MTLCommandBufferStatusError,
    MTLCommandBufferStatusNotEnqueued,
    MTLCommandBufferStatusScheduled,
    MTLDispatchTypeConcurrent,
    MTLDispatchTypeSerial,
)
from ..descriptors import MTLBlitPassDescriptor, MTLComputePassDescriptor
from ..errors import MetalValidationError, NSError, command_buffer_error
from ..objects import MetalObject, call_of, expect
from ..observer import CommandBufferObserver
from ..order.hooks import follow
from ..order.notes import PassNotes
from ..resources.residency import MTLResidencySet, checked_set
from ..structs import as_integer, as_list
from ..worker import Latch, closing, run_handler
from .blit import MTLBlitCommandEncoder
from .commands import Command, ProcessEnds, SignalCommand, WaitCommand
from .compute import MTLComputeCommandEncoder
from .encoder import MTLCommandEncoder
from .event import MTLEvent, MTLSharedEvent
from .log_state import MTLLogState
from .timing import PassMark, Place, Timer, timed
from .together import run_together, unordered

if TYPE_CHECKING:
    from ..device import MTLDevice
    from ..order.running import Running
    from .queue import MTLCommandQueue

Handler = Callable[["MTLCommandBuffer"], None]


class MTLCommandBuffer(MetalObject):
    """Commands that run in the order of encoding once committed.

    Deviation: GPU times are those of the host's clock while the emulator ran.
    """

    def __init__(self, queue: "MTLCommandQueue", *, retained: bool, log_state: MTLLogState):
        self.log_state = log_state
        self._queue = queue
        self._device: MTLDevice = queue.device()
        self._retains = retained
        self.commands: list[Command] = []
        self.residency_sets: list[MTLResidencySet] = []
        self.retained: dict[int, MetalObject] = {}
        self.inline: list[int] = []
        self.encoder: MTLCommandEncoder | None = None
        self._groups = 0
        self.stage = MTLCommandBufferStatusNotEnqueued
        self._error: NSError | None = None
        self._times = [0.0, 0.0]
        self._scheduled_handlers: list[Handler] = []
        self._completed_handlers: list[Handler] = []
        self._scheduled = Latch()
        self._completed = Latch()
        self._holds_slot = True
        self._watch: Watch | None = None
        self._timer: Timer | None = None
        self.passes: list[PassMark] = []
        self.notes: list[PassNotes | None] = []
        self._running: Running | None = None

    def device(self) -> "MTLDevice":
        """The device that runs the commands."""
        return self._device

    def commandQueue(self) -> "MTLCommandQueue":
        """The queue that made this command buffer."""
        return self._queue

    def retainedReferences(self) -> bool:
        """Whether the command buffer keeps the resources it uses alive."""
        return self._retains

    def errorOptions(self) -> int:
        """Always MTLCommandBufferErrorOptionNone."""
        return MTLCommandBufferErrorOptionNone

    # Encoding

    def computeCommandEncoder(self) -> MTLComputeCommandEncoder:
        """An encoder whose dispatches run one after another."""
        return self._new_compute_encoder("computeCommandEncoder", MTLDispatchTypeSerial)

    def computeCommandEncoderWithDispatchType_(self, kind: int) -> MTLComputeCommandEncoder:
        """An encoder whose dispatches are ordered by barriers alone, when concurrent.

        Deviation: dispatches that write what others use by what is bound to them run in the order
        of encoding, barriers or not.
        """
        call = "computeCommandEncoderWithDispatchType_"
        if kind not in (MTLDispatchTypeSerial, MTLDispatchTypeConcurrent):
            raise MetalValidationError(f"MTLCommandBuffer.{call}: {kind!r} is no MTLDispatchType")
        return self._new_compute_encoder(call, kind)

    def computeCommandEncoderWithDescriptor_(
        self, descriptor: MTLComputePassDescriptor
    ) -> MTLComputeCommandEncoder:
        """An encoder with the descriptor's dispatch type."""
        call = "computeCommandEncoderWithDescriptor_"
        expect(f"MTLCommandBuffer.{call}", "the descriptor", descriptor, MTLComputePassDescriptor)
        return self._new_compute_encoder(call, descriptor.dispatchType())

    def blitCommandEncoder(self) -> MTLBlitCommandEncoder:
        """An encoder for copies and fills."""
        self._check_encodable("blitCommandEncoder")
        encoder = MTLBlitCommandEncoder(self)
        self.encoder = encoder
        self.passes.append(PassMark(len(self.commands), is_compute=False))
        self.notes.append(encoder.notes)
        return encoder

    def blitCommandEncoderWithDescriptor_(
        self, descriptor: MTLBlitPassDescriptor
    ) -> MTLBlitCommandEncoder:
        """An encoder for copies and fills."""
        where = call_of(self)
        expect(where, "the descriptor", descriptor, MTLBlitPassDescriptor)
        return self.blitCommandEncoder()

    def useResidencySet_(self, chosen: MTLResidencySet) -> None:
        """Let kernels of this command buffer reach what the set holds."""
        where = call_of(self)
        self.residency_sets.append(checked_set(where, chosen, self._device))

    def useResidencySets_count_(self, chosen: Sequence[MTLResidencySet], count: int) -> None:
        """Let kernels of this command buffer reach what several sets hold."""
        where = call_of(self)
        for each in as_list(where, "the residency sets", chosen, count):
            self.useResidencySet_(each)

    def encodeWaitForEvent_value_(self, event: MTLEvent, value: int) -> None:
        """Run nothing further, on this queue, before `event` is at `value`."""
        where = call_of(self)
        self._check_encodable("encodeWaitForEvent_value_")
        self._check_event(where, event)
        self.commands.append(WaitCommand(event, _event_value(where, value)))

    def encodeSignalEvent_value_(self, event: MTLEvent, value: int) -> None:
        """Set `event` to `value` once the commands before have run."""
        where = call_of(self)
        self._check_encodable("encodeSignalEvent_value_")
        self._check_event(where, event)
        self.commands.append(SignalCommand(event, _event_value(where, value)))

    def _check_event(self, where: str, event: MTLEvent) -> None:
        expect(where, "the event", event, MTLEvent)
        if event.device() is not self._device and not isinstance(event, MTLSharedEvent):
            raise MetalValidationError(
                f"{where}: {event!r} belongs to another device; take a shared event"
            )

    def pushDebugGroup_(self, name: str) -> None:
        """Open a named group."""
        self._groups += 1

    def popDebugGroup(self) -> None:
        """Close the group opened last."""
        if not self._groups:
            raise MetalValidationError(
                "MTLCommandBuffer.popDebugGroup: no debug group is open; call pushDebugGroup_ first"
            )
        self._groups -= 1

    def _new_compute_encoder(self, call: str, kind: int) -> MTLComputeCommandEncoder:
        self._check_encodable(call)
        encoder = MTLComputeCommandEncoder(self, kind)
        self.encoder = encoder
        self.passes.append(PassMark(len(self.commands), is_compute=True))
        self.notes.append(encoder.notes)
        return encoder

    def _check_encodable(self, call: str) -> None:
        if self.stage >= MTLCommandBufferStatusCommitted:
            raise MetalValidationError(
                f"MTLCommandBuffer.{call}: {self!r} is committed; take a new command buffer from "
                "the queue, they are for one use"
            )
        if self.encoder is not None:
            raise MetalValidationError(
                f"MTLCommandBuffer.{call}: {self.encoder!r} is still encoding into {self!r}; "
                "call its endEncoding first"
            )

    # Running

    def enqueue(self) -> None:
        """Take a place in the queue; commands run only after commit."""
        if self.stage != MTLCommandBufferStatusNotEnqueued:
            raise MetalValidationError(
                f"MTLCommandBuffer.enqueue: {self!r} is in the queue already"
            )
        self._queue.enqueue_buffer(self)

    def commit(self) -> None:
        """Hand the commands over to the queue."""
        self._check_encodable("commit")
        self._watch = current_watch()
        self._running = follow(self, self._watch)
        self._timer = current_timer(Timer)  # type: ignore[type-abstract]
        if self._timer is not None:
            self._timer.committed(self)
        if self._watch is not None:
            for observer in self._watch.of(CommandBufferObserver):  # type: ignore[type-abstract]
                observer.buffer_committed(self)
        self._queue.commit_buffer(self)

    def addScheduledHandler_(self, handler: Handler) -> None:
        """Call handler(command_buffer) when the commands are about to run."""
        self._check_handler("addScheduledHandler_", handler)
        self._scheduled_handlers.append(handler)

    def addCompletedHandler_(self, handler: Handler) -> None:
        """Call handler(command_buffer) when the commands have run or failed."""
        self._check_handler("addCompletedHandler_", handler)
        self._completed_handlers.append(handler)

    def waitUntilScheduled(self) -> None:
        """Return when the commands are about to run."""
        self._check_committed("waitUntilScheduled")
        self._scheduled.wait()

    def waitUntilCompleted(self) -> None:
        """Return when the commands have run or failed, and the handlers too."""
        self._check_committed("waitUntilCompleted")
        if self._queue.is_callback_thread() and self.stage >= MTLCommandBufferStatusCompleted:
            return
        self._completed.wait()
        self._host_knows()
        if self._timer is not None:
            self._timer.waited(self)

    def status(self) -> int:
        """The MTLCommandBufferStatus."""
        status = self.stage
        if status >= MTLCommandBufferStatusCompleted:
            self._host_knows()
        return status

    def error(self) -> NSError | None:
        """What stopped the commands, or None."""
        return self._error

    def GPUStartTime(self) -> float:
        """Host time in seconds when the first command began, after waits for events; 0 before."""
        return self._times[0]

    def GPUEndTime(self) -> float:
        """Host time in seconds when the last command had ended; 0 before."""
        return self._times[1]

    def kernelStartTime(self) -> float:
        """Host time in seconds when the queue took the commands; the same as GPUStartTime."""
        return self._times[0]

    def kernelEndTime(self) -> float:
        """Host time in seconds when the queue was done with the commands."""
        return self._times[1]

    def _check_handler(self, call: str, handler: object) -> None:
        if not callable(handler):
            raise MetalValidationError(
                f"MTLCommandBuffer.{call}: the handler must be callable, and is {handler!r}"
            )
        if self.stage >= MTLCommandBufferStatusCommitted:
            raise MetalValidationError(
                f"MTLCommandBuffer.{call}: {self!r} is committed; add handlers before commit"
            )

    def _check_committed(self, call: str) -> None:
        if self.stage < MTLCommandBufferStatusCommitted:
            raise MetalValidationError(
                f"MTLCommandBuffer.{call}: {self!r} is not committed, so the wait would never end; "
                "call commit first"
            )

    def run_commands(self) -> None:
        """Run the commands; on the queue's thread."""
        self.stage = MTLCommandBufferStatusScheduled
        self._scheduled.open()
        if self._scheduled_handlers:
            self._queue.call_back(partial(self._call_handlers, self._scheduled_handlers))
        status = MTLCommandBufferStatusCompleted
        done = 0
        try:
            with under(self._watch), timed(self._timer, self) as place:
                while done < len(self.commands):
                    if closing.is_set():
                        raise ProcessEnds("the process ends")
                    if not self._times[0] and not isinstance(self.commands[done], WaitCommand):
                        self._times[0] = time.monotonic()
                    done += self._run_next(done, place)
        # Whatever happens in a kernel is this command buffer's error, never the end of the queue.
        except Exception as error:
            self._error = command_buffer_error(error, self._device.engine)
            status = MTLCommandBufferStatusError
            self._give_up(self.commands[done:])
        if self._running is not None:
            self._running.ended()
        self._times[1] = time.monotonic()
        self._times[0] = self._times[0] or self._times[1]
        self._release()
        self._call_observers()
        self.stage = status
        if self._completed_handlers:
            self._queue.call_back(self._complete)
        else:
            self._completed.open()

    def _run_next(self, index: int, place: Place | None) -> int:
        """Run the command at `index`, perhaps with some behind it; how many that were."""
        command = self.commands[index]
        if self._running is not None:
            step = partial(self._run_command, index, command, place)
            self._running.command(index, command, step)
        elif place is not None:
            self._run_command(index, command, place)
        elif self._watch is None and (count := unordered(self.commands, index)):
            run_together(self.commands[index : index + count], self._device)
            return count
        else:
            command.run(self._device)
        return 1

    def _run_command(self, index: int, command: Command, place: Place | None) -> None:
        if place is None:
            command.run(self._device)
            return
        place.arrive(index, command)
        place.run(command, self._device)

    def _host_knows(self) -> None:
        """Note that the host knows that the commands have run."""
        if self._running is not None:
            self._running.host_knows()

    def _call_observers(self) -> None:
        """Call the observers, before those who wait for the end go on."""
        if self._watch is None:
            return
        cause = self._error.cause if self._error is not None else None
        error = cause if isinstance(cause, Exception) or cause is None else RuntimeError(str(cause))
        for observer in self._watch.of(CommandBufferObserver):  # type: ignore[type-abstract]
            observer.buffer_ended(self, error)

    def _give_up(self, rest: list[Command]) -> None:
        """Break the waits for what the commands that did not run would have signalled."""
        assert self._error is not None
        why = f"{self!r} failed before it signalled: {self._error.localizedDescription()}"
        for command in rest:
            if isinstance(command, SignalCommand):
                command.give_up(why)

    def _release(self) -> None:
        """Let go of resources, inline bytes and the place among the queue's command buffers."""
        self._device.memory.release_inline(self.inline)
        self.inline = []
        self.commands = []
        self.retained = {}
        self._return_slot()

    def _complete(self) -> None:
        if any(map(tells_program, self._completed_handlers)):
            self._host_knows()
        self._call_handlers(self._completed_handlers)
        self._completed_handlers = []
        self._completed.open()

    def _call_handlers(self, handlers: list[Handler]) -> None:
        for handler in handlers:
            run_handler(handler, self)

    def _return_slot(self) -> None:
        if self._holds_slot:
            self._holds_slot = False
            self._queue.slots.put(None)

    def __del__(self) -> None:
        # A command buffer that is dropped without commit frees its place, as Metal's does.
        if "_holds_slot" in self.__dict__:
            if self.inline:
                self._device.memory.release_inline(self.inline)
            self._return_slot()


def _event_value(where: str, value: int) -> int:
    value = as_integer(where, "the value", value)
    if not 0 <= value < 1 << 64:
        raise MetalValidationError(f"{where}: {value} is not in 0..2**64-1")
    return value

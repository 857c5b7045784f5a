"""What compute and blit encoders share: their command buffer, debug groups, fences, the end."""

from typing import TYPE_CHECKING, Protocol

from ....observe import current_watch
from ..constants import MTLDispatchTypeConcurrent
from ..errors import MetalValidationError
from ..objects import MetalObject, expect
from ..order.hooks import checks_order
from ..order.notes import PassNotes
from .event import MTLFence

if TYPE_CHECKING:
    from ..device import MTLDevice
    from .commandbuffer import MTLCommandBuffer
    from .commands import Command


class DeviceObject(Protocol):
    """An object that belongs to a device."""

    def device(self) -> "MTLDevice":
        """The device that it belongs to."""


class MTLCommandEncoder(MetalObject):
    """Records commands into a command buffer until endEncoding."""

    # What checks need to know of the encoder, while there are any.
    notes: PassNotes | None = None

    def __init__(self, command_buffer: "MTLCommandBuffer", dispatch_type: int | None = None):
        self._command_buffer = command_buffer
        self._device: MTLDevice = command_buffer.device()
        if checks_order(current_watch()):
            self.notes = PassNotes(
                is_concurrent=dispatch_type == MTLDispatchTypeConcurrent,
                is_compute=dispatch_type is not None,
            )
        self._ended = False
        self._groups = 0

    def device(self) -> "MTLDevice":
        """The device that will run the commands."""
        return self._device

    def commandBuffer(self) -> "MTLCommandBuffer":
        """The command buffer that is recorded into."""
        return self._command_buffer

    def endEncoding(self) -> None:
        """Finish; the command buffer may then make its next encoder."""
        self._check_open("endEncoding")
        if self._groups:
            raise MetalValidationError(
                f"{type(self).__name__}.endEncoding: {self._groups} debug groups are still open; "
                "call popDebugGroup as often as pushDebugGroup_"
            )
        self._ended = True
        self._command_buffer.encoder = None
        self._command_buffer.passes[-1].label = self.label() or ""

    def pushDebugGroup_(self, name: str) -> None:
        """Open a named group."""
        self._check_open("pushDebugGroup_")
        self._groups += 1

    def popDebugGroup(self) -> None:
        """Close the group opened last."""
        self._check_open("popDebugGroup")
        if not self._groups:
            raise MetalValidationError(
                f"{type(self).__name__}.popDebugGroup: no debug group is open; "
                "call pushDebugGroup_ first"
            )
        self._groups -= 1

    def insertDebugSignpost_(self, text: str) -> None:
        """Accepted and ignored: signposts serve Xcode alone."""
        self._check_open("insertDebugSignpost_")

    def updateFence_(self, fence: MTLFence) -> None:
        """Later waits for `fence` see the commands up to here, as they do in any case."""
        self._check_fence("updateFence_", fence)
        fence.updated_on(self._command_buffer.commandQueue())
        if self.notes is not None:
            self.notes.updates.append(fence)

    def waitForFence_(self, fence: MTLFence) -> None:
        """Wait for the commands before updateFence_, which have run in any case."""
        self._check_fence("waitForFence_", fence)
        fence.check_waiter(
            f"{type(self).__name__}.waitForFence_", self._command_buffer.commandQueue()
        )
        if self.notes is not None:
            self.notes.waits.append(fence)

    def _append(self, command: "Command") -> None:
        if self.notes is not None:
            self.notes.encoded(len(self._command_buffer.commands))
        self._command_buffer.commands.append(command)

    def _check_fence(self, call: str, fence: MTLFence) -> None:
        self._check_open(call)
        where = f"{type(self).__name__}.{call}"
        self._check_own(where, expect(where, "the fence", fence, MTLFence))

    def _check_own(self, where: str, thing: DeviceObject) -> None:
        if thing.device() is not self._device:
            raise MetalValidationError(f"{where}: {thing!r} belongs to another device")

    def _check_open(self, call: str) -> None:
        if self._ended:
            raise MetalValidationError(
                f"{type(self).__name__}.{call}: the encoder has ended; make a new one with the "
                "command buffer"
            )

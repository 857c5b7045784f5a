"""MTL4CommandBuffer: commands that a queue runs, and what records them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..commands.log_state import MTLLogState
from ..errors import MetalValidationError
from ..objects import MetalObject, UserMade, call_of, expect
from ..resources.residency import MTLResidencySet, checked_set
from ..structs import as_list
from .encoder import MTL4ComputeCommandEncoder, Pass

if TYPE_CHECKING:
    from ..commands.commandbuffer import MTLCommandBuffer
    from ..device import MTLDevice

Step = Callable[["Pass"], None]


class MTL4CommandAllocator(MetalObject):
    """Memory for commands, which one command buffer at a time may use."""

    def __init__(self, device: "MTLDevice", label: str | None = None) -> None:
        self._device = device
        self._label = label
        self.used_by: MTL4CommandBuffer | None = None

    def device(self) -> "MTLDevice":
        """The device that the allocator belongs to."""
        return self._device

    def allocatedSize(self) -> int:
        """Always 0: commands are objects of Python."""
        return 0

    def reset(self) -> None:
        """Forget the commands of earlier command buffers, which are not to run again."""
        if self.used_by is not None:
            raise MetalValidationError(
                f"{call_of(self)}: {self.used_by!r} is still being encoded with it; call its "
                "endCommandBuffer first"
            )


class MTL4CommandAllocatorDescriptor(UserMade):
    """How a command allocator is to be: its label."""


class MTL4CommandBufferOptions(UserMade):
    """How a command buffer is to be until it ends."""

    _log_state: MTLLogState | None = None

    def logState(self) -> MTLLogState | None:
        """Where messages of kernels go, or None."""
        return self._log_state

    def setLogState_(self, state: MTLLogState | None) -> None:
        """Say where messages of kernels go."""
        self._log_state = state


class MTL4CommandBuffer(MetalObject):
    """Commands, recorded between beginCommandBufferWithAllocator_ and endCommandBuffer.

    Deviation: what does not fit a kernel is said when the command buffer is committed, and checks
    of the order of commands name the line of the commit.
    """

    def __init__(self, device: "MTLDevice") -> None:
        self._device = device
        self._allocator: MTL4CommandAllocator | None = None
        self._is_ended = False
        self._passes: list[tuple[MTL4ComputeCommandEncoder, list[Step]]] = []
        self._sets: list[MTLResidencySet] = []
        self._groups = 0
        self.encoder: MTL4ComputeCommandEncoder | None = None
        self.log_state: MTLLogState | None = None

    def device(self) -> "MTLDevice":
        """The device that will run the commands."""
        return self._device

    def beginCommandBufferWithAllocator_(self, allocator: MTL4CommandAllocator) -> None:
        """Begin anew: what was recorded before is forgotten, and so are residency sets."""
        self._begin(call_of(self), allocator, None)

    def beginCommandBufferWithAllocator_options_(
        self, allocator: MTL4CommandAllocator, options: MTL4CommandBufferOptions
    ) -> None:
        """Begin anew, with a log state."""
        where = call_of(self)
        expect(where, "the options", options, MTL4CommandBufferOptions)
        self._begin(where, allocator, options.logState())

    def _begin(
        self, where: str, allocator: MTL4CommandAllocator, log_state: MTLLogState | None
    ) -> None:
        expect(where, "the allocator", allocator, MTL4CommandAllocator)
        if self._allocator is not None:
            raise MetalValidationError(f"{where}: {self!r} has begun; call endCommandBuffer first")
        if allocator.used_by is not None:
            raise MetalValidationError(
                f"{where}: {allocator!r} serves {allocator.used_by!r}, which has not ended; one "
                "allocator serves one command buffer at a time"
            )
        self._allocator, allocator.used_by = allocator, self
        self._passes, self._sets, self._is_ended = [], [], False
        self.log_state = log_state

    def endCommandBuffer(self) -> None:
        """Finish; the allocator may then serve another command buffer."""
        where = call_of(self)
        self._check_open(where)
        if self._groups:
            raise MetalValidationError(
                f"{where}: {self._groups} debug groups are still open; call popDebugGroup"
            )
        assert self._allocator is not None
        self._allocator.used_by = None
        self._allocator = None
        self._is_ended = True

    def computeCommandEncoder(self) -> MTL4ComputeCommandEncoder:
        """Records dispatches and copies; only barriers order them."""
        self._check_open(call_of(self))
        steps: list[Step] = []
        self.encoder = MTL4ComputeCommandEncoder(self, steps)
        self._passes.append((self.encoder, steps))
        return self.encoder

    def useResidencySet_(self, chosen: MTLResidencySet) -> None:
        """Let kernels of this command buffer reach what the set holds."""
        self._sets.append(checked_set(call_of(self), chosen, self._device))

    def useResidencySets_count_(self, chosen: Sequence[MTLResidencySet], count: int) -> None:
        """Let kernels of this command buffer reach what several sets hold."""
        for each in as_list(call_of(self), "the residency sets", chosen, count):
            self.useResidencySet_(each)

    def pushDebugGroup_(self, name: str) -> None:
        """Open a named group."""
        self._check_open(call_of(self))
        self._groups += 1

    def popDebugGroup(self) -> None:
        """Close the group opened last."""
        where = call_of(self)
        self._check_open(where)
        if not self._groups:
            raise MetalValidationError(f"{where}: no debug group is open")
        self._groups -= 1

    def replay(self, where: str, into: "MTLCommandBuffer") -> None:
        """Encode what was recorded. Raises MetalValidationError."""
        if not self._is_ended:
            raise MetalValidationError(
                f"{where}: {self!r} is not ready; record it between "
                "beginCommandBufferWithAllocator_ and endCommandBuffer"
            )
        into.setLabel_(self._label)
        for chosen in self._sets:
            into.useResidencySet_(chosen)
        for encoder, steps in self._passes:
            run = Pass(into, encoder.label())
            for step in steps:
                step(run)
            run.end()

    def _check_open(self, where: str) -> None:
        if self._allocator is None:
            raise MetalValidationError(
                f"{where}: {self!r} has not begun; call beginCommandBufferWithAllocator_ first"
            )
        if self.encoder is not None:
            raise MetalValidationError(
                f"{where}: {self.encoder!r} is still encoding; call its endEncoding first"
            )

"""What the emulated Metal calls in observers of a checked program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from .commands.commandbuffer import MTLCommandBuffer
    from .commands.commands import DispatchCommand
    from .device import MTLDevice
    from .programs.pipeline import MTLComputePipelineState


@runtime_checkable
class MetalObserver(Protocol):
    """Called for what a program does while its kernels are checked; on any thread."""

    def pipeline_made(self, pipeline: MTLComputePipelineState) -> None:
        """A pipeline state was made."""

    def dispatch_begins(self, device: MTLDevice, command: DispatchCommand) -> None:
        """A grid that is not empty is about to run; buffers hold its inputs."""


@runtime_checkable
class CommandBufferObserver(Protocol):
    """Called for command buffers that are committed while they are checked; on any thread."""

    def buffer_committed(self, buffer: MTLCommandBuffer) -> None:
        """A command buffer was committed."""

    def buffer_ended(self, buffer: MTLCommandBuffer, error: Exception | None) -> None:
        """A command buffer ended, and what stopped it if it did not come to its own end."""

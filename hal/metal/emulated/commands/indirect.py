"""Indirect command buffers: compute commands that are encoded once and may run often."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.hw.apple.facts.limits import limits

from ..constants import (
    MTLIndirectCommandTypeConcurrentDispatch,
    MTLIndirectCommandTypeConcurrentDispatchThreads,
)
from ..errors import MetalValidationError
from ..objects import MetalObject, UserMade, call_of, expect
from ..programs.pipeline import Binding, MTLComputePipelineState, Size
from ..resources.buffer import MTLBuffer, checked_options
from ..structs import as_integer, as_range, as_size

if TYPE_CHECKING:
    from ..device import MTLDevice
    from ..programs.pipeline import FindResource
    from ..resources.residency import Reach
    from .log_state import MTLLogState

_LIMITS = limits()
_TYPES = MTLIndirectCommandTypeConcurrentDispatch | MTLIndirectCommandTypeConcurrentDispatchThreads


@dataclass(frozen=True, slots=True, kw_only=True)
class Inherited:
    """What an encoder lends to the commands that it runs: its state when they were encoded.

    `group` is that of dispatches that are ordered as the encoder's next one would be.
    """

    pipeline: MTLComputePipelineState | None
    bindings: Mapping[int, Binding]
    threadgroup_lengths: Mapping[int, int]
    reach: "Reach"
    find_resource: "FindResource"
    group: int
    log_state: "MTLLogState"


class MTLIndirectCommandBufferDescriptor(UserMade):
    """How an indirect command buffer is to be."""

    _command_types = 0
    _inherit_pipeline = False
    _inherit_buffers = False
    _most_buffers = _LIMITS.buffers_per_stage
    _most_threadgroup_arguments = _LIMITS.threadgroup_memory_arguments
    _dynamic_stride = False

    def commandTypes(self) -> int:
        """The MTLIndirectCommandType values that commands may have."""
        return self._command_types

    def setCommandTypes_(self, types: int) -> None:
        """Set what commands may be; dispatches are all that there is."""
        where = call_of(self)
        types = as_integer(where, "the types", types)
        if types & ~_TYPES:
            raise MetalValidationError(
                f"{where}: types {types:#x}; only ConcurrentDispatch and ConcurrentDispatchThreads "
                "are emulated, drawing is not"
            )
        self._command_types = types

    def inheritPipelineState(self) -> bool:
        """Whether commands run the encoder's pipeline state."""
        return self._inherit_pipeline

    def setInheritPipelineState_(self, inherit: bool) -> None:
        """Choose whether commands run the encoder's pipeline state."""
        self._inherit_pipeline = bool(inherit)

    def inheritBuffers(self) -> bool:
        """Whether commands take the encoder's buffers."""
        return self._inherit_buffers

    def setInheritBuffers_(self, inherit: bool) -> None:
        """Choose whether commands take the encoder's buffers."""
        self._inherit_buffers = bool(inherit)

    def maxKernelBufferBindCount(self) -> int:
        """How many buffer indices commands have."""
        return self._most_buffers

    def setMaxKernelBufferBindCount_(self, count: int) -> None:
        """Set how many buffer indices commands have."""
        where = call_of(self)
        self._most_buffers = _up_to(where, count, _LIMITS.buffers_per_stage)

    def maxKernelThreadgroupMemoryBindCount(self) -> int:
        """How many threadgroup memory indices commands have."""
        return self._most_threadgroup_arguments

    def setMaxKernelThreadgroupMemoryBindCount_(self, count: int) -> None:
        """Set how many threadgroup memory indices commands have."""
        where = call_of(self)
        most = _LIMITS.threadgroup_memory_arguments
        self._most_threadgroup_arguments = _up_to(where, count, most)

    def supportDynamicAttributeStride(self) -> bool:
        """Whether commands may give strides."""
        return self._dynamic_stride

    def setSupportDynamicAttributeStride_(self, support: bool) -> None:
        """Accepted: strides are for [[stage_in]] alone."""
        self._dynamic_stride = bool(support)


def _up_to(where: str, count: int, most: int) -> int:
    count = as_integer(where, "the count", count)
    if not 0 <= count <= most:
        raise MetalValidationError(f"{where}: the count is {count}; it must lie in 0..{most}")
    return count


class MTLIndirectComputeCommand(MetalObject):
    """One command of an indirect command buffer."""

    def __init__(self, owner: "MTLIndirectCommandBuffer", index: int):
        self._owner = owner
        self.index = index
        self.reset()

    def reset(self) -> None:
        """Make the command do nothing."""
        self.pipeline: MTLComputePipelineState | None = None
        self.bindings: dict[int, Binding] = {}
        self._buffers: dict[int, MTLBuffer] = {}
        self.threadgroup_lengths: dict[int, int] = {}
        self.threads: Size | None = None
        self.threadgroups: Size | None = None
        self.threadgroup_size: Size = (0, 0, 0)
        self.has_barrier = False

    def setComputePipelineState_(self, state: MTLComputePipelineState) -> None:
        """Run this kernel."""
        where = call_of(self)
        expect(where, "the state", state, MTLComputePipelineState)
        if self._owner.descriptor.inheritPipelineState():
            raise MetalValidationError(
                f"{where}: the indirect command buffer inherits the pipeline state; set it on the "
                "encoder, or make the buffer with setInheritPipelineState_(False)"
            )
        check_supports(where, state)
        self.pipeline = state

    def setKernelBuffer_offset_atIndex_(self, buffer: MTLBuffer, offset: int, index: int) -> None:
        """Pass `buffer` from byte `offset` on. The encoder must make it resident."""
        where = call_of(self)
        if self._owner.descriptor.inheritBuffers():
            raise MetalValidationError(
                f"{where}: the indirect command buffer inherits buffers; set them on the encoder, "
                "or make the buffer with setInheritBuffers_(False)"
            )
        expect(where, "the buffer", buffer, MTLBuffer)
        most = self._owner.descriptor.maxKernelBufferBindCount()
        index = _below(where, index, most, "setMaxKernelBufferBindCount_")
        offset = as_integer(where, "the offset", offset)
        if not 0 <= offset < buffer.length():
            raise MetalValidationError(f"{where}: offset {offset} is not within {buffer!r}")
        address, length = buffer.gpuAddress() + offset, buffer.length() - offset
        self.bindings[index] = Binding(address, length, offset, False)
        self._buffers[index] = buffer

    def setKernelBuffer_offset_attributeStride_atIndex_(
        self, buffer: MTLBuffer, offset: int, stride: int, index: int
    ) -> None:
        """The same as setKernelBuffer_offset_atIndex_: strides are for [[stage_in]] alone."""
        as_integer(call_of(self), "stride", stride)
        self.setKernelBuffer_offset_atIndex_(buffer, offset, index)

    def setThreadgroupMemoryLength_atIndex_(self, length: int, index: int) -> None:
        """Give the threadgroup argument at `index` so many bytes."""
        where = call_of(self)
        most = self._owner.descriptor.maxKernelThreadgroupMemoryBindCount()
        index = _below(where, index, most, "setMaxKernelThreadgroupMemoryBindCount_")
        length = as_integer(where, "the length", length)
        if length < 0 or length % _LIMITS.threadgroup_memory_alignment:
            raise MetalValidationError(
                f"{where}: length is {length} B; it must be a multiple of "
                f"{_LIMITS.threadgroup_memory_alignment}"
            )
        self.threadgroup_lengths[index] = length

    def setBarrier(self) -> None:
        """Run this command after the commands before it."""
        self.has_barrier = True

    def clearBarrier(self) -> None:
        """Undo setBarrier."""
        self.has_barrier = False

    def concurrentDispatchThreadgroups_threadsPerThreadgroup_(
        self, threadgroups: Sequence[int], threads: Sequence[int]
    ) -> None:
        """Run a grid of whole threadgroups, in any order with the commands around it."""
        where = call_of(self)
        self._check_type(where, MTLIndirectCommandTypeConcurrentDispatch)
        self.threadgroups = as_size(where, "threadgroupsPerGrid", threadgroups)
        self.threads = None
        self.threadgroup_size = as_size(where, "threadsPerThreadgroup", threads)

    def concurrentDispatchThreads_threadsPerThreadgroup_(
        self, threads: Sequence[int], per_threadgroup: Sequence[int]
    ) -> None:
        """Run a grid of exactly `threads`, in any order with the commands around it."""
        where = call_of(self)
        self._check_type(where, MTLIndirectCommandTypeConcurrentDispatchThreads)
        self.threads = as_size(where, "threadsPerGrid", threads)
        self.threadgroups = None
        self.threadgroup_size = as_size(where, "threadsPerThreadgroup", per_threadgroup)

    def _check_type(self, where: str, kind: int) -> None:
        if not self._owner.descriptor.commandTypes() & kind:
            raise MetalValidationError(
                f"{where}: the descriptor's commandTypes do not allow it; name it in "
                "setCommandTypes_"
            )

    def copy_from(self, other: "MTLIndirectComputeCommand") -> None:
        """Do what `other` does."""
        self.pipeline = other.pipeline
        self.bindings = dict(other.bindings)
        self._buffers = dict(other._buffers)
        self.threadgroup_lengths = dict(other.threadgroup_lengths)
        self.threads, self.threadgroups = other.threads, other.threadgroups
        self.threadgroup_size, self.has_barrier = other.threadgroup_size, other.has_barrier


def _below(where: str, index: int, most: int, setter: str) -> int:
    index = as_integer(where, "the index", index)
    if not 0 <= index < most:
        raise MetalValidationError(
            f"{where}: index is {index}; the descriptor allows {most} ({setter})"
        )
    return index


def check_supports(where: str, state: MTLComputePipelineState) -> None:
    """Raises MetalValidationError for a pipeline state that indirect commands may not run."""
    if not state.supportIndirectCommandBuffers():
        raise MetalValidationError(
            f"{where}: {state!r} was not made for indirect command buffers; call "
            "setSupportIndirectCommandBuffers_(True) on its descriptor"
        )


class MTLIndirectCommandBuffer(MetalObject):
    """Compute commands that encoders run; encoded by the host alone.

    Deviation: kernels cannot encode commands.
    """

    def __init__(
        self, device: "MTLDevice", descriptor: MTLIndirectCommandBufferDescriptor, count: int
    ):
        self._device = device
        self.descriptor = descriptor
        self._size = count
        # Commands that were asked for; the others do nothing.
        self._commands: dict[int, MTLIndirectComputeCommand] = {}

    def device(self) -> "MTLDevice":
        """The device that runs the commands."""
        return self._device

    def size(self) -> int:
        """How many commands there is room for."""
        return self._size

    def indirectComputeCommandAtIndex_(self, index: int) -> MTLIndirectComputeCommand:
        """Command number `index`, to be encoded."""
        where = call_of(self)
        index = as_integer(where, "the index", index)
        if not 0 <= index < self._size:
            raise MetalValidationError(
                f"{where}: index is {index}; there are {self._size} commands"
            )
        return self.command_at(index)

    def command_at(self, index: int) -> MTLIndirectComputeCommand:
        """Command number `index`, made when it is first asked for."""
        command = self._commands.get(index)
        if command is None:
            command = self._commands[index] = MTLIndirectComputeCommand(self, index)
        return command

    def commands_within(self, start: int, length: int) -> list[MTLIndirectComputeCommand]:
        """Commands of a range that were asked for, in order."""
        chosen = sorted(index for index in self._commands if start <= index < start + length)
        return [self._commands[index] for index in chosen]

    def resetWithRange_(self, span: Sequence[int]) -> None:
        """Make these commands do nothing."""
        start, length = self.checked_range(call_of(self), span)
        self.reset_commands(start, length)

    def reset_commands(self, start: int, length: int) -> None:
        """Make the commands of a range do nothing."""
        for command in self.commands_within(start, length):
            command.reset()

    def checked_range(self, where: str, span: Sequence[int]) -> tuple[int, int]:
        """Start and length of a range of commands. Raises MetalValidationError."""
        start, length = as_range(where, span)
        if start + length > self._size:
            raise MetalValidationError(
                f"{where}: commands {start}..{start + length} of an indirect command buffer that "
                f"has {self._size}"
            )
        return start, length


def new_indirect_command_buffer(
    device: "MTLDevice", descriptor: MTLIndirectCommandBufferDescriptor, count: int, options: int
) -> MTLIndirectCommandBuffer:
    """Room for `count` commands. Raises MetalValidationError."""
    where = "MTLDevice.newIndirectCommandBufferWithDescriptor_maxCommandCount_options_"
    expect(where, "the descriptor", descriptor, MTLIndirectCommandBufferDescriptor)
    checked_options(where, options)
    count = as_integer(where, "the count", count)
    if count <= 0:
        raise MetalValidationError(f"{where}: the count is {count}; it must be positive")
    if not descriptor.commandTypes():
        raise MetalValidationError(f"{where}: the descriptor names no command; setCommandTypes_")
    return MTLIndirectCommandBuffer(device, descriptor, count)

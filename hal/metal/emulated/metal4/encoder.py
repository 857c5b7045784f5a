"""MTL4ComputeCommandEncoder: dispatches with an argument table, and copies."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..commands.event import MTLFence
from ..constants import (
    MTLBarrierScopeBuffers,
    MTLBarrierScopeTextures,
    MTLDispatchTypeConcurrent,
    MTLStageBlit,
    MTLStageDispatch,
)
from ..errors import MetalValidationError
from ..objects import MetalObject, call_of, expect
from ..programs.pipeline import MTLComputePipelineState
from ..resources.buffer import MTLBuffer
from ..structs import as_integer, as_range, as_size
from ..tensors.extents import MTLTensorExtents
from ..tensors.tensor import MTLTensor
from ..textures.texture import MTLTexture
from .argument_table import MTL4ArgumentTable

if TYPE_CHECKING:
    from ..commands.blit import MTLBlitCommandEncoder
    from ..commands.commandbuffer import MTLCommandBuffer
    from ..commands.compute import MTLComputeCommandEncoder
    from .command_buffer import MTL4CommandBuffer

_ALL_MEMORY = MTLBarrierScopeBuffers | MTLBarrierScopeTextures


class Pass:
    """One encoder's commands on their way into a command buffer that runs."""

    def __init__(self, into: "MTLCommandBuffer", label: str | None) -> None:
        self._into = into
        self._label = label
        self._compute: MTLComputeCommandEncoder | None = None
        self._blit: MTLBlitCommandEncoder | None = None

    @property
    def compute(self) -> "MTLComputeCommandEncoder":
        """What takes dispatches."""
        if self._compute is None:
            self.end()
            make = self._into.computeCommandEncoderWithDispatchType_
            self._compute = make(MTLDispatchTypeConcurrent)
            self._compute.setLabel_(self._label)
        return self._compute

    @property
    def blit(self) -> "MTLBlitCommandEncoder":
        """What takes copies."""
        if self._blit is None:
            self.end()
            self._blit = self._into.blitCommandEncoder()
            self._blit.setLabel_(self._label)
        return self._blit

    def barrier(self) -> None:
        """Order what follows after what is there."""
        if self._compute is not None:
            self._compute.memoryBarrierWithScope_(_ALL_MEMORY)

    def end(self) -> None:
        """No command follows, or one of another kind."""
        for encoder in (self._compute, self._blit):
            if encoder is not None:
                encoder.endEncoding()
        self._compute = self._blit = None


class MTL4ComputeCommandEncoder(MetalObject):
    """Records dispatches, copies and barriers.

    Deviation: copies run in the order of encoding, and so do encoders: that a barrier between
    encoders or command buffers is missing is not found.
    """

    def __init__(
        self, command_buffer: "MTL4CommandBuffer", steps: list[Callable[[Pass], None]]
    ) -> None:
        self._command_buffer = command_buffer
        self._steps = steps
        self._pipeline: MTLComputePipelineState | None = None
        self._table: MTL4ArgumentTable | None = None
        self._threadgroup_lengths: dict[int, int] = {}
        self._stages = 0
        self._ended = False

    def commandBuffer(self) -> "MTL4CommandBuffer":
        """The command buffer that is recorded into."""
        return self._command_buffer

    def stages(self) -> int:
        """MTLStages of the commands so far."""
        return self._stages

    def setComputePipelineState_(self, state: MTLComputePipelineState) -> None:
        """Run this kernel from now on."""
        where = call_of(self)
        self._check_open(where)
        self._pipeline = expect(where, "the state", state, MTLComputePipelineState)

    def setArgumentTable_(self, table: MTL4ArgumentTable | None) -> None:
        """Give kernels what the table holds when they are dispatched."""
        where = call_of(self)
        self._check_open(where)
        if table is not None:
            expect(where, "the table", table, MTL4ArgumentTable)
        self._table = table

    def setThreadgroupMemoryLength_atIndex_(self, length: int, index: int) -> None:
        """Give the threadgroup argument at `index` so many bytes."""
        where = call_of(self)
        self._check_open(where)
        index = as_integer(where, "the index", index)
        self._threadgroup_lengths[index] = as_integer(where, "the length", length)

    def dispatchThreadgroups_threadsPerThreadgroup_(
        self, threadgroups: Sequence[int], threads: Sequence[int]
    ) -> None:
        """Run a grid of whole threadgroups."""
        where = call_of(self)
        self._check_open(where)
        count = as_size(where, "threadgroupsPerGrid", threadgroups)
        size = as_size(where, "threadsPerThreadgroup", threads)
        self._dispatch(
            where,
            lambda to: to.dispatchThreadgroups_threadsPerThreadgroup_(count, size),
        )

    def dispatchThreads_threadsPerThreadgroup_(
        self, threads: Sequence[int], per_threadgroup: Sequence[int]
    ) -> None:
        """Run a grid of exactly `threads`; threadgroups at the edges may be smaller."""
        where = call_of(self)
        self._check_open(where)
        count = as_size(where, "threadsPerGrid", threads)
        size = as_size(where, "threadsPerThreadgroup", per_threadgroup)
        self._dispatch(where, lambda to: to.dispatchThreads_threadsPerThreadgroup_(count, size))

    def dispatchThreadgroupsWithIndirectBuffer_threadsPerThreadgroup_(
        self, address: int, threads: Sequence[int]
    ) -> None:
        """Run as many threadgroups as three 32-bit integers at a GPU address say by then."""
        where = call_of(self)
        self._check_open(where)
        size = as_size(where, "threadsPerThreadgroup", threads)
        address = as_integer(where, "the address", address)
        buffer = self._buffer_at(where, address)
        offset = address - buffer.gpuAddress()
        call = "dispatchThreadgroupsWithIndirectBuffer_indirectBufferOffset_threadsPerThreadgroup_"
        self._dispatch(where, lambda to: getattr(to, call)(buffer, offset, size))

    def copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
        self, source: MTLBuffer, start: int, destination: MTLBuffer, target: int, size: int
    ) -> None:
        """Copy `size` bytes. Offsets and size are multiples of 4, as on every Mac."""
        self._check_open(call_of(self))
        self._copy(
            lambda to: to.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
                source, start, destination, target, size
            )
        )

    def fillBuffer_range_value_(self, buffer: MTLBuffer, span: Sequence[int], value: int) -> None:
        """Set each byte of `span` to `value`."""
        where = call_of(self)
        self._check_open(where)
        location, length = as_range(where, span)
        self._copy(lambda to: to.fillBuffer_range_value_(buffer, (location, length), value))

    def copyFromTensor_sourceOrigin_sourceDimensions_toTensor_destinationOrigin_destinationDimensions_(  # noqa: E501
        self,
        source: MTLTensor,
        origin: MTLTensorExtents,
        dimensions: MTLTensorExtents,
        destination: MTLTensor,
        target: MTLTensorExtents,
        target_dimensions: MTLTensorExtents,
    ) -> None:
        """Copy a slice of a tensor to one of another that has as many elements."""
        self._check_open(call_of(self))
        call = (
            "copyFromTensor_sourceOrigin_sourceDimensions_toTensor_destinationOrigin_"
            "destinationDimensions_"
        )
        self._copy(
            lambda to: getattr(to, call)(
                source, origin, dimensions, destination, target, target_dimensions
            )
        )

    def barrierAfterEncoderStages_beforeEncoderStages_visibilityOptions_(
        self, after: int, before: int, options: int
    ) -> None:
        """Order later commands of this encoder after earlier ones."""
        where = call_of(self)
        self._check_open(where)
        for what, stages in (("after", after), ("before", before)):
            if not as_integer(where, f"the stages {what}", stages):
                raise MetalValidationError(f"{where}: there are no stages {what}")
        as_integer(where, "the options", options)
        self._steps.append(Pass.barrier)

    def barrierAfterQueueStages_beforeStages_visibilityOptions_(
        self, after: int, before: int, options: int
    ) -> None:
        """Accepted: commands of a queue that were encoded before run before in any case."""
        self._check_open(call_of(self))

    def barrierAfterStages_beforeQueueStages_visibilityOptions_(
        self, after: int, before: int, options: int
    ) -> None:
        """Accepted: commands of a queue that are encoded later run later in any case."""
        self._check_open(call_of(self))

    def updateFence_afterEncoderStages_(self, fence: MTLFence, stages: int) -> None:
        """Later waits for `fence` see the commands up to here, as they do in any case."""
        where = call_of(self)
        self._check_open(where)
        expect(where, "the fence", fence, MTLFence)
        self._steps.append(lambda to: to.compute.updateFence_(fence))

    def waitForFence_beforeEncoderStages_(self, fence: MTLFence, stages: int) -> None:
        """Wait for the commands before updateFence_, which have run in any case."""
        where = call_of(self)
        self._check_open(where)
        expect(where, "the fence", fence, MTLFence)
        self._steps.append(lambda to: to.compute.waitForFence_(fence))

    def pushDebugGroup_(self, name: str) -> None:
        """Accepted and ignored: groups serve Xcode alone."""
        self._check_open(call_of(self))

    def popDebugGroup(self) -> None:
        """Accepted and ignored: groups serve Xcode alone."""
        self._check_open(call_of(self))

    def insertDebugSignpost_(self, text: str) -> None:
        """Accepted and ignored: signposts serve Xcode alone."""
        self._check_open(call_of(self))

    def endEncoding(self) -> None:
        """Finish; the command buffer may then make its next encoder."""
        self._check_open(call_of(self))
        self._ended = True
        self._command_buffer.encoder = None

    def _dispatch(self, where: str, run: "Callable[[MTLComputeCommandEncoder], None]") -> None:
        pipeline = self._pipeline
        if pipeline is None:
            raise MetalValidationError(
                f"{where}: no pipeline state is set; call setComputePipelineState_ first"
            )
        self._stages |= MTLStageDispatch
        buffers = dict(self._table.buffers) if self._table is not None else {}
        textures = dict(self._table.textures) if self._table is not None else {}
        lengths = dict(self._threadgroup_lengths)
        owners = {at: self._bound(where, each) for at, each in buffers.items()}
        self._steps.append(partial(_encode, pipeline, owners, textures, lengths, run))

    def _bound(
        self, where: str, bound: int | MTLTensor
    ) -> "MTLTensor | tuple[MTLBuffer, int] | None":
        """A tensor, a buffer with the offset in it, or nothing."""
        if isinstance(bound, MTLTensor):
            return bound
        if not bound:
            return None
        buffer = self._buffer_at(where, bound)
        return buffer, bound - buffer.gpuAddress()

    def _buffer_at(self, where: str, address: int) -> MTLBuffer:
        found = self._command_buffer.device().memory.owner_of(address)
        if not isinstance(found, MTLBuffer):
            raise MetalValidationError(f"{where}: {address:#x} is the address of no buffer")
        return found

    def _copy(self, run: "Callable[[MTLBlitCommandEncoder], None]") -> None:
        self._stages |= MTLStageBlit
        self._steps.append(lambda to: run(to.blit))

    def _check_open(self, where: str) -> None:
        if self._ended:
            raise MetalValidationError(
                f"{where}: the encoder has ended; make a new one with the command buffer"
            )


def _encode(
    pipeline: MTLComputePipelineState,
    owners: "dict[int, MTLTensor | tuple[MTLBuffer, int] | None]",
    textures: dict[int, MTLTexture],
    lengths: dict[int, int],
    run: "Callable[[MTLComputeCommandEncoder], None]",
    into: Pass,
) -> None:
    encoder = into.compute
    encoder.setComputePipelineState_(pipeline)
    encoder.forget_bindings()
    for index, bound in owners.items():
        if isinstance(bound, MTLTensor):
            encoder.bind_tensor(bound, index)
        elif bound is None:
            encoder.setBuffer_offset_atIndex_(None, 0, index)
        else:
            encoder.setBuffer_offset_atIndex_(*bound, index)
    for index, texture in textures.items():
        encoder.setTexture_atIndex_(texture, index)
    for index, length in lengths.items():
        encoder.setThreadgroupMemoryLength_atIndex_(length, index)
    run(encoder)

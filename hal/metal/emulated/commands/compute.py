"""MTLComputeCommandEncoder: bindings and dispatches of kernels."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..constants import (
    MTLBarrierScopeBuffers,
    MTLBarrierScopeTextures,
    MTLResourceUsageRead,
    MTLResourceUsageSample,
    MTLResourceUsageWrite,
)
from ..errors import MetalValidationError
from ..objects import call_of, expect
from ..programs.function_table import MTLVisibleFunctionTable
from ..programs.pipeline import MTLComputePipelineState
from ..resources.buffer import MTLBuffer
from ..resources.heap import MTLHeap
from ..resources.residency import Reach, Residency
from ..structs import as_integer, as_list, as_size, threadgroups_of
from ..tensors.tensor import MTLTensor
from ..textures.texture import MTLTexture
from .buffer_bindings import BufferEncoder
from .commands import DispatchCommand, IndirectDispatchCommand
from .execute import ExecuteCommand
from .indirect import Inherited, MTLIndirectCommandBuffer
from .log_state import with_log
from .ordering import Ordering

if TYPE_CHECKING:
    from .commandbuffer import MTLCommandBuffer

Resource = MTLBuffer | MTLTexture | MTLVisibleFunctionTable | MTLTensor
_ENCODER = "MTLComputeCommandEncoder"
# Names in messages of the calls that count: each dispatch makes all of them.
_SET_STATE = f"{_ENCODER}.setComputePipelineState_"
_USE = f"{_ENCODER}.useResource_usage_"
_BARRIER = f"{_ENCODER}.memoryBarrierWithScope_"
_DISPATCH = f"{_ENCODER}.dispatchThreadgroups_threadsPerThreadgroup_"
_USAGES = MTLResourceUsageRead | MTLResourceUsageWrite | MTLResourceUsageSample
_SCOPES = MTLBarrierScopeBuffers | MTLBarrierScopeTextures


class MTLComputeCommandEncoder(BufferEncoder):
    """Records dispatches with the pipeline and arguments set before.

    Deviation: dispatches of a concurrent encoder run at the same time only where neither barriers
    nor the buffers that are bound order them, and nobody reaches others; under checks they run in
    the order of encoding.
    """

    def __init__(self, command_buffer: "MTLCommandBuffer", dispatch_type: int):
        super().__init__(command_buffer, dispatch_type)
        self._dispatch_type = dispatch_type
        self._pipeline = None
        retains = command_buffer.retainedReferences()
        self._retained = command_buffer.retained if retains else None
        self._bindings = {}
        self._bound_buffers = {}
        self._threadgroup_lengths = {}
        self._ordering = Ordering(dispatch_type)
        self._residency = Residency(
            (command_buffer.commandQueue().residency_sets, command_buffer.residency_sets)
        )
        self._textures = {}
        self._samplers = {}
        self._tables = {}
        self._tensors = {}

    def forget_bindings(self) -> None:
        """Begin anew, as a dispatch with an argument table of its own does."""
        self._bindings, self._bound_buffers, self._threadgroup_lengths = {}, {}, {}
        self._textures, self._samplers, self._tables, self._tensors = {}, {}, {}, {}

    def dispatchType(self) -> int:
        """The MTLDispatchType."""
        return self._dispatch_type

    def setComputePipelineState_(self, state: MTLComputePipelineState) -> None:
        """Run this kernel from now on."""
        self._check_open("setComputePipelineState_")
        where = _SET_STATE
        expect(where, "the state", state, MTLComputePipelineState)
        self._check_own(where, state)
        self._pipeline = state

    # Residency and order

    def promise_barriers(self) -> None:
        """No part of Metal: barriers order all that dispatches reach, also through addresses.

        Without that, those that follow addresses, as all with textures do, run one by one, for
        nobody can tell where they meet.
        """
        self._residency.is_ordered = True

    def useResource_usage_(self, resource: Resource, usage: int) -> None:
        """Let later dispatches reach a resource through addresses in memory, and keep it alive."""
        self._check_open("useResource_usage_")
        where = _USE
        if resource.__class__ is not MTLBuffer:
            if isinstance(resource, MTLIndirectCommandBuffer):
                self._keep(resource)
                return
            if not isinstance(resource, MTLTexture | MTLVisibleFunctionTable | MTLTensor):
                expect(where, "the resource", resource, MTLBuffer)
        self._check_own(where, resource)
        usage = as_integer(where, "the usage", usage)
        if not usage or usage & ~_USAGES:
            raise MetalValidationError(f"{where}: usage {usage!r} is no MTLResourceUsage")
        self._residency.use(_addresses(resource), usage)
        self._keep(resource)
        if self.notes is not None:
            self.notes.use(resource, usage)

    def useResources_count_usage_(
        self, resources: Sequence[Resource], count: int, usage: int
    ) -> None:
        """Let later dispatches reach several resources."""
        where = call_of(self)
        for resource in as_list(where, "the resources", resources, count):
            self.useResource_usage_(resource, usage)

    def useHeap_(self, heap: MTLHeap) -> None:
        """Let later dispatches reach what lies in a heap, and keep the heap alive."""
        self._check_open("useHeap_")
        where = call_of(self)
        self._check_own(where, expect(where, "the heap", heap, MTLHeap))
        self._residency.use_heap(heap)
        self._keep(heap)
        if self.notes is not None:
            self.notes.use(heap)

    def useHeaps_count_(self, heaps: Sequence[MTLHeap], count: int) -> None:
        """Let later dispatches reach what lies in several heaps."""
        for heap in as_list(call_of(self), "the heaps", heaps, count):
            self.useHeap_(heap)

    def memoryBarrierWithScope_(self, scope: int) -> None:
        """Order later dispatches after earlier ones of this encoder."""
        self._check_open("memoryBarrierWithScope_")
        where = _BARRIER
        scope = as_integer(where, "the scope", scope)
        if not scope or scope & ~_SCOPES:
            raise MetalValidationError(f"{where}: {scope!r} is no MTLBarrierScope of compute")
        self._ordering.barrier()
        if self.notes is not None:
            self.notes.barrier_for(scope)

    def memoryBarrierWithResources_count_(self, resources: Sequence[Resource], count: int) -> None:
        """Order later dispatches after earlier ones of this encoder."""
        self._check_open("memoryBarrierWithResources_count_")
        where = call_of(self)
        listed = as_list(where, "the resources", resources, count)
        for resource in listed:
            if not isinstance(resource, MTLTexture | MTLVisibleFunctionTable | MTLTensor):
                expect(where, "a resource", resource, MTLBuffer)
            self._check_own(where, resource)
        if listed:
            self._ordering.barrier()
        if self.notes is not None:
            self.notes.barrier_of(listed)

    # Dispatch

    def dispatchThreadgroups_threadsPerThreadgroup_(
        self, threadgroups: Sequence[int], threads: Sequence[int]
    ) -> None:
        """Run a grid of whole threadgroups.

        Deviation: Metal's validation layer refuses an empty grid, here it does nothing.
        """
        where = _DISPATCH
        self._check_open("dispatchThreadgroups_threadsPerThreadgroup_")
        count = as_size(where, "threadgroupsPerGrid", threadgroups)
        size = as_size(where, "threadsPerThreadgroup", threads)
        pipeline, arguments, reach = self._ready(where, size)
        pipeline.check_grid(lambda: f"{where}: a grid of {count} threadgroups", count, size)
        self._dispatch(
            DispatchCommand(pipeline, arguments, None, count, size, self._ordering.next(), reach)
        )

    def dispatchThreads_threadsPerThreadgroup_(
        self, threads: Sequence[int], per_threadgroup: Sequence[int]
    ) -> None:
        """Run a grid of exactly `threads`; threadgroups at the edges may be smaller."""
        where = call_of(self)
        self._check_open("dispatchThreads_threadsPerThreadgroup_")
        count = as_size(where, "threadsPerGrid", threads)
        size = as_size(where, "threadsPerThreadgroup", per_threadgroup)
        pipeline, arguments, reach = self._ready(where, size)
        pipeline.check_grid(
            lambda: f"{where}: a grid of {count} threads in threadgroups",
            threadgroups_of(count, size),
            size,
        )
        self._dispatch(
            DispatchCommand(pipeline, arguments, count, None, size, self._ordering.next(), reach)
        )

    def dispatchThreadgroupsWithIndirectBuffer_indirectBufferOffset_threadsPerThreadgroup_(
        self, buffer: MTLBuffer, offset: int, threads: Sequence[int]
    ) -> None:
        """Run as many threadgroups as three 32-bit integers in `buffer` say by then."""
        call = "dispatchThreadgroupsWithIndirectBuffer_indirectBufferOffset_threadsPerThreadgroup_"
        where = f"{_ENCODER}.{call}"
        self._check_open(call)
        offset = self._checked_indirect(where, buffer, offset, 12)
        size = as_size(where, "threadsPerThreadgroup", threads)
        pipeline, arguments, reach = self._ready(where, size)
        self._dispatch(
            IndirectDispatchCommand(
                pipeline, arguments, buffer, offset, size, self._ordering.next(), reach
            )
        )

    def _dispatch(self, command: DispatchCommand | IndirectDispatchCommand) -> None:
        commands = self._command_buffer.commands
        if self.notes is not None:
            self.notes.bind(command.pipeline, {**self._bound_buffers, **self._tensors})
            self.notes.encoded(len(commands))
        commands.append(with_log(command, self._command_buffer.log_state))

    def executeCommandsInBuffer_withRange_(
        self, commands: MTLIndirectCommandBuffer, span: Sequence[int]
    ) -> None:
        """Run these commands of an indirect command buffer."""
        where = call_of(self)
        self._check_open("executeCommandsInBuffer_withRange_")
        expect(where, "the commands", commands, MTLIndirectCommandBuffer)
        start, length = commands.checked_range(where, span)
        self._execute(where, ExecuteCommand(commands, start, length, None, self._inherited()))

    def executeCommandsInBuffer_indirectBuffer_indirectBufferOffset_(
        self, commands: MTLIndirectCommandBuffer, buffer: MTLBuffer, offset: int
    ) -> None:
        """Run the commands that two 32-bit integers in `buffer`, start and count, say by then."""
        call = "executeCommandsInBuffer_indirectBuffer_indirectBufferOffset_"
        where = f"{_ENCODER}.{call}"
        self._check_open(call)
        expect(where, "the commands", commands, MTLIndirectCommandBuffer)
        offset = self._checked_indirect(where, buffer, offset, 8)
        self._execute(where, ExecuteCommand(commands, offset, 0, buffer, self._inherited()))

    def _bound_addresses(self, arguments: Iterable[int]) -> list[int]:
        """Memory that is bound to the encoder, given what a kernel's arguments are."""
        addresses = [binding.address for binding in self._bindings.values()]
        addresses += arguments
        for texture in self._textures.values():
            if texture is not None:
                addresses += texture.addresses
        for tensor in self._tensors.values():
            addresses += tensor.addresses
        return addresses

    def _execute(self, where: str, command: ExecuteCommand) -> None:
        self._check_own(where, command.commands)
        self._keep(command.commands)
        if self.notes is not None:
            for bound in self._bound_buffers.values():
                self.notes.use(bound)
        self._append(command)

    def _inherited(self) -> Inherited:
        return Inherited(
            pipeline=self._pipeline,
            bindings=dict(self._bindings),
            threadgroup_lengths=dict(self._threadgroup_lengths),
            reach=self._residency.reach(self._bound_addresses(())),
            find_resource=self._resource,
            group=self._ordering.next(),
            log_state=self._command_buffer.log_state,
        )

    def _checked_indirect(self, where: str, buffer: MTLBuffer, offset: int, size: int) -> int:
        """The offset of `size` bytes of numbers in `buffer`. Raises MetalValidationError."""
        expect(where, "the indirect buffer", buffer, MTLBuffer)
        self._check_own(where, buffer)
        offset = as_integer(where, "the offset", offset)
        if offset < 0 or offset % 4:
            raise MetalValidationError(f"{where}: offset is {offset}; it must be a multiple of 4")
        buffer.check_range(where, offset, size)
        return offset

    def _ready(
        self, where: str, size: tuple[int, int, int]
    ) -> tuple[MTLComputePipelineState, list[int], Reach | None]:
        """The pipeline, its arguments and what it may reach. Raises MetalValidationError."""
        pipeline = self._pipeline
        if pipeline is None:
            raise MetalValidationError(
                f"{where}: no pipeline state is set; call setComputePipelineState_ first"
            )
        pipeline.check_size(where, size)
        arguments = pipeline.gather_arguments(
            where, self._bindings, self._threadgroup_lengths, self._resource
        )
        self._keep(pipeline)
        reach = None
        if pipeline.follows_pointers:
            reach = self._residency.reach(self._bound_addresses(arguments))
        return pipeline, arguments, reach


def _addresses(resource: Resource) -> tuple[int, ...]:
    """Where the memory of a resource starts."""
    return (resource.gpuAddress(),) if isinstance(resource, MTLBuffer) else resource.addresses

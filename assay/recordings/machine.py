"""Runs recorded dispatches on the emulated device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.hal.metal import emulated
from assay.hal.metal.emulated.commands.checking import kernel_of
from assay.hal.recordings import BoundTable, DispatchRecord, KernelRecord, LibraryRecord, Recording

from .addresses import Relocation
from .compared import Data
from .errors import CannotReplay
from .memories import Memories, sampler_of, set_by_name

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction
    from assay.hal.metal.emulated import MTLComputePipelineState, MTLFunction, MTLLibrary

_READ_AND_WRITE = emulated.MTLResourceUsageRead | emulated.MTLResourceUsageWrite


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A dispatch that was run here.

    Attributes:
        kernel: what ran.
        memories: what each buffer or texture holds now, with the addresses of the recorded device.
        places: where they lay.
        error: what the emulated device said was wrong; "" for nothing.
    """

    kernel: KernelFunction
    memories: list[Data] = field(repr=False)
    places: Memories
    error: str


class Machine:
    """An emulated device with what a recording's kernels were compiled from."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._device = emulated.MTLCreateSystemDefaultDevice()
        self._queue = self._device.newCommandQueue()
        self._libraries: dict[int, MTLLibrary] = {}
        self._kernels: dict[int, tuple[MTLFunction, MTLComputePipelineState]] = {}
        self._functions: dict[int, MTLFunction] = {}

    def run(self, record: DispatchRecord) -> Ran:
        """Run one dispatch from what was recorded before it. Raises CannotReplay."""
        function, pipeline = self._kernel(record.kernel)
        contents = [self._contents(record, number) for number in range(len(record.memories))]
        try:
            places = Memories(self._device, record.memories, contents)
            relocation = Relocation(record, pipeline, contents, places)
            relocation.to_here()
            tables = self._encode_arguments(record, function, pipeline, places)
            error = self._dispatch(record, pipeline, places, relocation, tables)
        except emulated.MetalError as wrong:
            raise CannotReplay(str(wrong)) from None
        for place in places:
            place.read_back()
        relocation.back()
        return Ran(kernel=kernel_of(pipeline), memories=contents, places=places, error=error)

    def _dispatch(
        self,
        record: DispatchRecord,
        pipeline: MTLComputePipelineState,
        places: Memories,
        relocation: Relocation,
        tables: Sequence[emulated.MTLVisibleFunctionTable],
    ) -> str:
        commands = self._queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(pipeline)
        for bound in record.bound:
            encoder.setBuffer_offset_atIndex_(
                places.buffer(bound.memory), bound.offset, bound.index
            )
        for inline in record.inline:
            data = relocation.inline(inline.index, self._recording.contents(inline.value))
            encoder.setBytes_length_atIndex_(data, len(data), inline.index)
        for index, length in record.threadgroup_memory:
            encoder.setThreadgroupMemoryLength_atIndex_(length, index)
        for texture in record.textures:
            encoder.setTexture_atIndex_(places.texture(texture.memory), texture.index)
        for sampler in record.samplers:
            encoder.setSamplerState_atIndex_(sampler_of(self._device, sampler), sampler.index)
        for each in record.tables:
            made = self._table(pipeline, each)
            encoder.setVisibleFunctionTable_atBufferIndex_(made, each.index)
        directly = {each.memory for each in record.bound}
        directly |= {each.memory for each in record.textures}
        for number, place in enumerate(places):
            if number not in directly:
                encoder.useResource_usage_(place.resource, _READ_AND_WRITE)
        for table in tables:
            encoder.useResource_usage_(table, emulated.MTLResourceUsageRead)
        if record.in_threads:
            encoder.dispatchThreads_threadsPerThreadgroup_(record.grid, record.threadgroup)
        else:
            encoder.dispatchThreadgroups_threadsPerThreadgroup_(record.grid, record.threadgroup)
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        error = commands.error()
        return "" if error is None else error.localizedDescription()

    def _encode_arguments(
        self,
        record: DispatchRecord,
        function: MTLFunction,
        pipeline: MTLComputePipelineState,
        places: Memories,
    ) -> list[emulated.MTLVisibleFunctionTable]:
        """Fill argument buffers; the tables of functions in them, which must live."""
        tables = []
        for each in record.encoded:
            encoder = function.newArgumentEncoderWithBufferIndex_(each.index)
            if encoder.encodedLength() > each.length:
                raise CannotReplay(
                    f"the argument buffer at index {each.index} takes {encoder.encodedLength()} "
                    f"bytes here, and {each.length} where it was recorded"
                )
            encoder.setArgumentBuffer_offset_(places.buffer(each.memory), each.offset)
            for member in each.members:
                resource = places.buffer(member.memory)
                encoder.setBuffer_offset_atIndex_(resource, member.offset, member.index)
            for texture in each.textures:
                encoder.setTexture_atIndex_(places.texture(texture.memory), texture.index)
            for sampler in each.samplers:
                encoder.setSamplerState_atIndex_(sampler_of(self._device, sampler), sampler.index)
            for table in each.tables:
                tables.append(self._table(pipeline, table))
                encoder.setVisibleFunctionTable_atIndex_(tables[-1], table.index)
        return tables

    def _table(
        self, pipeline: MTLComputePipelineState, table: BoundTable
    ) -> emulated.MTLVisibleFunctionTable:
        described = emulated.MTLVisibleFunctionTableDescriptor.new()
        described.setFunctionCount_(len(table.functions))
        made = pipeline.newVisibleFunctionTableWithDescriptor_(described)
        for place, number in enumerate(table.functions):
            if number is not None:
                handle = pipeline.functionHandleWithFunction_(self._functions[number])
                made.setFunction_atIndex_(handle, place)
        return made

    def _contents(self, record: DispatchRecord, number: int) -> Data:
        data = self._recording.contents(record.memories[number].before)
        if not data:
            raise CannotReplay(f"memory {number} has no bytes")
        return np.frombuffer(data, np.uint8)

    def _kernel(self, number: int) -> tuple[MTLFunction, MTLComputePipelineState]:
        known = self._kernels.get(number)
        if known is None:
            known = self._kernels[number] = self._made(self._recording.header.kernels[number])
        return known

    def _made(self, kernel: KernelRecord) -> tuple[MTLFunction, MTLComputePipelineState]:
        try:
            function = self._function(kernel)
            linked = emulated.MTLLinkedFunctions.new()
            linked.setFunctions_([self._numbered(each) for each in kernel.linked])
            linked.setPrivateFunctions_([self._numbered(each) for each in kernel.private])
            described = emulated.MTLComputePipelineDescriptor.new()
            described.setComputeFunction_(function)
            described.setLinkedFunctions_(linked)
            make = self._device.newComputePipelineStateWithDescriptor_options_reflection_error_
            state, _, error = make(described, 0, None, None)
        except (emulated.MetalError, ValueError) as wrong:
            raise CannotReplay(str(wrong)) from None
        if state is None:
            raise CannotReplay(_text(error))
        return function, state

    def _numbered(self, number: int) -> MTLFunction:
        """A function that kernels link."""
        known = self._functions.get(number)
        if known is None:
            record = self._recording.header.kernels[number]
            known = self._functions[number] = self._function(record)
        return known

    def _function(self, kernel: KernelRecord) -> MTLFunction:
        library = self._library(kernel.library)
        if kernel.constants:
            function, error = library.newFunctionWithName_constantValues_error_(
                kernel.name, _constants(kernel), None
            )
        else:
            function, error = library.newFunctionWithName_(kernel.name), None
        if function is None:
            raise CannotReplay(_text(error) or f"there is no function {kernel.name!r:.80}")
        return function

    def _library(self, number: int) -> MTLLibrary:
        known = self._libraries.get(number)
        if known is None:
            record = self._recording.header.libraries[number]
            made, error = self._compiled(record, bytes(self._recording.contents(record.data)))
            if made is None:
                raise CannotReplay(_text(error))
            known = self._libraries[number] = made
        return known

    def _compiled(self, record: LibraryRecord, data: bytes) -> tuple[Any, Any]:
        if record.compiled:
            return self._device.newLibraryWithData_error_(data, None)
        options = emulated.MTLCompileOptions.new()
        set_by_name(options, record.options)
        options.setPreprocessorMacros_(record.macros)
        source = data.decode(errors="replace")
        return self._device.newLibraryWithSource_options_error_(source, options, None)


def _constants(kernel: KernelRecord) -> emulated.MTLFunctionConstantValues:
    values = emulated.MTLFunctionConstantValues.new()
    for each in kernel.constants:
        data = bytes.fromhex(each.value)
        if isinstance(each.key, str):
            values.setConstantValue_type_withName_(data, each.type, each.key)
        else:
            values.setConstantValues_type_withRange_(data, each.type, (each.key, each.count))
    return values


def _text(error: Any) -> str:
    return "" if error is None else str(error.localizedDescription())

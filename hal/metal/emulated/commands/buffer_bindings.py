"""Buffers, bytes and threadgroup memory that a compute encoder passes to kernels."""

from collections.abc import Sequence

from assay.hw.apple.facts.limits import limits

from ..errors import MetalValidationError
from ..objects import call_of, expect
from ..programs.budget import report_memory
from ..programs.pipeline import NOTHING, Binding
from ..resources.buffer import MTLBuffer
from ..resources.memory import bytes_of
from ..structs import as_integer, as_list, as_range
from .texture_bindings import ResourceEncoder, checked_index

_LIMITS = limits()
# In messages of the call that counts: each dispatch makes some.
_SET_BUFFER = "MTLComputeCommandEncoder.setBuffer_offset_atIndex_"


class BufferEncoder(ResourceEncoder):
    """The part of MTLComputeCommandEncoder that binds buffers, bytes and threadgroup memory."""

    _bindings: dict[int, Binding]
    _bound_buffers: dict[int, MTLBuffer]
    _threadgroup_lengths: dict[int, int]

    def setBuffer_offset_atIndex_(self, buffer: MTLBuffer | None, offset: int, index: int) -> None:
        """Pass `buffer` from byte `offset` on; None passes a null address.

        Deviation: Metal's validation layer refuses kernels whose argument is None; here only a
        kernel that reads or writes there fails.
        """
        self._check_open("setBuffer_offset_atIndex_")
        self._bind(_SET_BUFFER, buffer, offset, index)

    def setBuffers_offsets_withRange_(
        self,
        buffers: Sequence[MTLBuffer | None],
        offsets: Sequence[int],
        span: Sequence[int],
    ) -> None:
        """Pass several buffers at successive indices."""
        self._check_open("setBuffers_offsets_withRange_")
        where = call_of(self)
        location, length = as_range(where, span)
        bound = as_list(where, "the buffers", buffers, length)
        starts = as_list(where, "the offsets", offsets, length)
        for place, (buffer, start) in enumerate(zip(bound, starts, strict=True)):
            self._bind(where, buffer, start, location + place)

    def setBufferOffset_atIndex_(self, offset: int, index: int) -> None:
        """Pass the buffer at `index` from another byte on."""
        self._check_open("setBufferOffset_atIndex_")
        where = call_of(self)
        index = checked_index(where, index, _LIMITS.buffers_per_stage)
        buffer = self._bound_buffers.get(index)
        if buffer is None:
            raise MetalValidationError(
                f"{where}: no buffer is set at index {index}; call setBuffer_offset_atIndex_ first"
            )
        self._bind(where, buffer, offset, index)

    def setBuffer_offset_attributeStride_atIndex_(
        self, buffer: MTLBuffer | None, offset: int, stride: int, index: int
    ) -> None:
        """The same as setBuffer_offset_atIndex_: strides are for [[stage_in]] alone."""
        as_integer(call_of(self), "the stride", stride)
        self.setBuffer_offset_atIndex_(buffer, offset, index)

    def setBuffers_offsets_attributeStrides_withRange_(
        self,
        buffers: Sequence[MTLBuffer | None],
        offsets: Sequence[int],
        strides: Sequence[int],
        span: Sequence[int],
    ) -> None:
        """The same as setBuffers_offsets_withRange_: strides are for [[stage_in]] alone."""
        where = call_of(self)
        as_list(where, "the strides", strides, as_range(where, span)[1])
        self.setBuffers_offsets_withRange_(buffers, offsets, span)

    def setBufferOffset_attributeStride_atIndex_(
        self, offset: int, stride: int, index: int
    ) -> None:
        """The same as setBufferOffset_atIndex_: strides are for [[stage_in]] alone."""
        as_integer(call_of(self), "the stride", stride)
        self.setBufferOffset_atIndex_(offset, index)

    def setBytes_length_attributeStride_atIndex_(
        self, data: object, length: int, stride: int, index: int
    ) -> None:
        """The same as setBytes_length_atIndex_: strides are for [[stage_in]] alone."""
        as_integer(call_of(self), "the stride", stride)
        self.setBytes_length_atIndex_(data, length, index)

    def setBytes_length_atIndex_(self, data: object, length: int, index: int) -> None:
        """Pass a copy of the first `length` bytes of `data`."""
        self._check_open("setBytes_length_atIndex_")
        where = call_of(self)
        index = checked_index(where, index, _LIMITS.buffers_per_stage)
        length = as_integer(where, "the length", length)
        if not 0 < length <= _LIMITS.inline_bytes:
            raise MetalValidationError(
                f"{where}: length is {length} B; it must lie in 1..{_LIMITS.inline_bytes}; put "
                "more data into a buffer"
            )
        copied = bytes_of(where, data, length).copy()
        command_buffer = self._command_buffer
        address = command_buffer.device().memory.inline(
            where, copied, f"bytes set at index {index}"
        )
        command_buffer.inline.append(address)
        self._bindings[index] = Binding(address, length, 0, True)
        self._bound_buffers.pop(index, None)

    def setThreadgroupMemoryLength_atIndex_(self, length: int, index: int) -> None:
        """Give the threadgroup argument at `index` so many bytes."""
        self._check_open("setThreadgroupMemoryLength_atIndex_")
        where = call_of(self)
        index = checked_index(where, index, _LIMITS.threadgroup_memory_arguments)
        length = as_integer(where, "the length", length)
        if length < 0 or length % _LIMITS.threadgroup_memory_alignment:
            raise MetalValidationError(
                f"{where}: length is {length} B; it must be a multiple of "
                f"{_LIMITS.threadgroup_memory_alignment}"
            )
        if length > _LIMITS.threadgroup_memory:
            if self._pipeline is not None:
                static = self._pipeline.staticThreadgroupMemoryLength()
                report_memory(
                    self._pipeline.kernel, static, static + length, _LIMITS.threadgroup_memory
                )
            raise MetalValidationError(
                f"{where}: length is {length} B; a threadgroup has {_LIMITS.threadgroup_memory} B"
            )
        self._threadgroup_lengths[index] = length

    def _bind(self, where: str, buffer: MTLBuffer | None, offset: int, index: int) -> None:
        index = checked_index(where, index, _LIMITS.buffers_per_stage)
        if buffer is None:
            self._bindings[index] = NOTHING
            self._bound_buffers.pop(index, None)
            return
        if buffer.__class__ is not MTLBuffer:
            expect(where, "the buffer", buffer, MTLBuffer)
        self._check_own(where, buffer)
        offset = as_integer(where, "the offset", offset)
        if not 0 <= offset < buffer.length():
            raise MetalValidationError(
                f"{where}: offset {offset} at index {index} is not within {buffer!r}"
            )
        self._bindings[index] = Binding(
            buffer.gpuAddress() + offset, buffer.length() - offset, offset, False
        )
        self._bound_buffers[index] = buffer
        self._keep(buffer)

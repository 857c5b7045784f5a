"""One replay into one MTLCommandBuffer: which encoder is open, staging memory, barriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..buffer import WHOLE_BUFFER
from ..device import Binding, BufferRef
from ..status import StatusError, out_of_range
from .builtin import Builtins
from .staging import Staging, StagingPool

Range = tuple[Any, int, int]


class Encoding:
    """Encodes commands; switching between compute and blit encoders orders their work."""

    def __init__(
        self,
        api: Any,
        device: Any,
        command_buffer: Any,
        staging: Staging | None,
        pool: StagingPool,
        builtins: Builtins,
        table: Sequence[Binding],
    ) -> None:
        self.api = api
        self.staged: list[Staging] = [staging] if staging is not None else []
        self._device = device
        self._command_buffer = command_buffer
        self._staging = staging
        self.pool = pool
        self._builtins = builtins
        self._table = table
        self._encoder: Any = None
        self._is_compute = False
        self._state: Any = None
        self._bytes: dict[int, bytes] = {}
        self._is_ordered = False
        self._used: set[int] = set()
        self._event: Any = None
        self._event_value = 0
        self._usage = api.MTLResourceUsageRead | api.MTLResourceUsageWrite

    def compute(self) -> Any:
        """The compute encoder, opened if need be."""
        if not self._is_compute or self._encoder is None:
            self._switch()
            self._encoder = self._command_buffer.computeCommandEncoderWithDispatchType_(
                self.api.MTLDispatchTypeConcurrent
            )
            self._is_compute = True
            # IREE puts barriers between all dispatches that meet. Only the emulated Metal asks.
            promise = getattr(self._encoder, "promise_barriers", None)
            if promise is not None:
                promise()
        self._is_ordered = False
        return self._encoder

    def set_state(self, state: Any) -> None:
        """The pipeline state of what is dispatched next, unless it is set already."""
        if state is not self._state:
            self._encoder.setComputePipelineState_(state)
            self._state = state

    def set_bytes(self, data: bytes, index: int) -> None:
        """Bytes for what is dispatched next, unless they are set already."""
        if self._bytes.get(index) != data:
            self._encoder.setBytes_length_atIndex_(data, len(data), index)
            self._bytes[index] = data

    def set_buffer(self, handle: Any, offset: int, index: int) -> None:
        """A buffer for what is dispatched next."""
        self._encoder.setBuffer_offset_atIndex_(handle, offset, index)
        self._bytes.pop(index, None)

    def _forget(self) -> None:
        """What is set on the encoder, or will be on the next one, is not known any more."""
        self._state = None
        self._bytes.clear()

    def blit(self) -> Any:
        """The blit encoder, opened if need be."""
        if self._is_compute or self._encoder is None:
            self._switch()
            self._encoder = self._command_buffer.blitCommandEncoder()
            self._is_compute = False
        return self._encoder

    def fill(self, target: Range, pattern: bytes) -> None:
        """Fill: by the blit encoder if it can, else by a kernel."""
        handle, offset, length = target
        if len(set(pattern)) == 1 and not (offset | length) & 3:
            span = self.api.NSMakeRange(offset, length)
            self.blit().fillBuffer_range_value_(handle, span, pattern[0])
        else:
            self._builtins.fill(self.compute(), handle, offset, length, pattern)
            self._forget()

    def copy(self, source: Any, source_offset: int, target: Range) -> None:
        """Copy into a range: by the blit encoder if it can, else by a kernel."""
        handle, offset, length = target
        if (source_offset | offset | length) & 3:
            self._builtins.copy(self.compute(), source, source_offset, handle, offset, length)
            self._forget()
        else:
            self.blit().copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
                source, source_offset, handle, offset, length
            )

    def barrier(self) -> None:
        """Order what was encoded before what comes."""
        if self._encoder is None:
            return
        if self._is_compute:
            if not self._is_ordered:
                self._encoder.memoryBarrierWithScope_(self.api.MTLBarrierScopeBuffers)
            self._is_ordered = True
        else:
            # A blit encoder has no barrier; work is ordered at its end.
            self._switch()

    def _switch(self) -> None:
        """Close the open encoder; what follows waits for it."""
        if self._encoder is None:
            return
        self._encoder.endEncoding()
        self._encoder = None
        self._forget()
        self._used.clear()
        if self._event is None:
            self._event = self._device.newEvent()
        self._event_value += 1
        self._command_buffer.encodeSignalEvent_value_(self._event, self._event_value)
        self._command_buffer.encodeWaitForEvent_value_(self._event, self._event_value)

    def end(self) -> None:
        """Close the last encoder."""
        if self._encoder is not None:
            self._encoder.endEncoding()
            self._encoder = None

    def debug_group(self, label: str | None) -> None:
        """Open a group with a label, or close one, on the open encoder."""
        encoder = self._encoder if self._encoder is not None else self.compute()
        if label is None:
            encoder.popDebugGroup()
        else:
            encoder.pushDebugGroup_(label)

    def use(self, handles: Sequence[Any]) -> None:
        """Tell Metal that the encoder reaches these buffers through an argument buffer."""
        for handle in handles:
            if id(handle) not in self._used:
                self._used.add(id(handle))
                self._encoder.useResource_usage_(handle, self._usage)

    def resolve(self, reference: BufferRef) -> Range:
        """(MTLBuffer, byte offset, length) of a reference, through the table if it is indirect."""
        buffer, offset, length = reference.buffer, reference.offset, reference.length
        if buffer is None:
            if not 0 <= reference.slot < len(self._table):
                raise out_of_range(
                    f"binding table slot {reference.slot} referenced by buffer ref is out of "
                    f"range of the provided table of {len(self._table)}"
                )
            binding = self._table[reference.slot]
            buffer = binding.buffer
            if buffer is None:
                raise out_of_range(f"binding table slot {reference.slot} holds no buffer")
            room = buffer.check_range(binding.offset, binding.length)
            if length == WHOLE_BUFFER or length == -1:
                length = room - offset
            if offset < 0 or length < 0 or offset + length > room:
                raise out_of_range(
                    f"a reference to bytes {offset} to {offset + length} of binding table slot "
                    f"{reference.slot}, which has {room}"
                )
            offset += binding.offset
        else:
            length = buffer.check_range(offset, length)
        return buffer.storage.handle, buffer.offset + offset, length  # type: ignore[attr-defined]

    def reserve(self, size: int) -> tuple[Any, int]:
        """Staging memory for the life of this submission: (MTLBuffer, offset)."""
        if self._staging is None or not self._staging.fits(size):
            self._staging = self.pool.take(size)
            self.staged.append(self._staging)
        return self._staging.handle, self._staging.reserve(size)

    def upload(self, data: bytes) -> tuple[Any, int]:
        """Put host bytes into staging memory: (MTLBuffer, offset)."""
        if len(data) > 1 << 31:
            raise StatusError("RESOURCE_EXHAUSTED", f"an upload of {len(data)} bytes at once")
        handle, offset = self.reserve(len(data))
        assert self._staging is not None
        self._staging.bytes[offset : offset + len(data)] = data
        return handle, offset

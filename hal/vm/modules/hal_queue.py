"""The `hal` module's functions on devices, queues, fences and channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...buffer import Buffer, File
from ...device import Allocator, Binding, BufferRef, CommandBuffer, Copy, Device, Fill, Update
from ...semaphore import Fence
from ...status import StatusError, code_of, name_of
from ..pending import Pending
from ..values import VmBuffer, optional, require
from .hal_commands import pattern_bytes
from .registry import NativeModule, export


class QueueFunctions(NativeModule):
    """Part of the `hal` module."""

    devices: Sequence[Device]

    @export("devices.count", "0v_i")
    def _devices_count(self) -> int:
        return len(self.devices)

    @export("devices.get", "0i_r")
    def _devices_get(self, index: int) -> Device | None:
        return self.devices[index] if 0 <= index < len(self.devices) else None

    @export("device.allocator", "0r_r")
    def _device_allocator(self, device: Any) -> Allocator:
        return _device(device).allocator

    @export("device.query.i64", "0rrr_iI")
    def _device_query(self, device: Any, category: Any, key: Any) -> tuple[int, int]:
        value = _device(device).query_i64(
            require(VmBuffer, category).text(), require(VmBuffer, key).text()
        )
        return (0, 0) if value is None else (1, value)

    @export("device.queue.alloca", "0rIrrIiiII_r")
    def _queue_alloca(self, device: Any, _: int, wait: Any, signal: Any, *rest: int) -> Buffer:
        pool, memory_type, usage, size = rest[:4]
        if pool != 0:
            raise StatusError("UNIMPLEMENTED", "VM queue allocation pools are not supported")
        return _device(device).queue_alloca(*_between(wait, signal), memory_type, usage, size)

    @export("device.queue.dealloca", "0rIrrrI_v")
    def _queue_dealloca(
        self, device: Any, _: int, wait: Any, signal: Any, buffer: Any, __: int = 0
    ) -> None:
        _device(device).queue_dealloca(*_between(wait, signal), require(Buffer, buffer))

    @export("device.queue.fill", "0rIrrrIIIiI_v")
    def _queue_fill(
        self,
        device: Any,
        _: int,
        wait: Any,
        signal: Any,
        target: Any,
        offset: int,
        length: int,
        pattern: int,
        pattern_length: int,
        __: int,
    ) -> None:
        reference = BufferRef(require(Buffer, target), 0, offset, length)
        _device(device).queue_transfer(
            *_between(wait, signal),
            Fill(reference, pattern_bytes(pattern, pattern_length)),
        )

    @export("device.queue.update", "0rIrrrIrIII_v")
    def _queue_update(
        self,
        device: Any,
        _: int,
        wait: Any,
        signal: Any,
        source: Any,
        source_offset: int,
        target: Any,
        offset: int,
        length: int,
        __: int,
    ) -> None:
        data = bytes(require(VmBuffer, source).span(source_offset, length))
        _device(device).queue_transfer(
            *_between(wait, signal),
            Update(data, BufferRef(require(Buffer, target), 0, offset, length)),
        )

    @export("device.queue.copy", "0rIrrrIrIII_v")
    def _queue_copy(
        self,
        device: Any,
        _: int,
        wait: Any,
        signal: Any,
        source: Any,
        source_offset: int,
        target: Any,
        target_offset: int,
        length: int,
        __: int,
    ) -> None:
        _device(device).queue_transfer(
            *_between(wait, signal),
            Copy(
                BufferRef(require(Buffer, source), 0, source_offset, length),
                BufferRef(require(Buffer, target), 0, target_offset, length),
            ),
        )

    @export("device.queue.read", "0rIrrrIrIII_v")
    def _queue_read(
        self,
        device: Any,
        _: int,
        wait: Any,
        signal: Any,
        source: Any,
        source_offset: int,
        target: Any,
        target_offset: int,
        length: int,
        __: int,
    ) -> None:
        _device(device).queue_read(
            *_between(wait, signal),
            require(File, source),
            source_offset,
            BufferRef(require(Buffer, target), 0, target_offset, length),
        )

    @export("device.queue.write", "0rIrrrIrIII_v")
    def _queue_write(self, *_: Any) -> None:
        # Only read-only files exist: ex.file.from_memory refuses any other access.
        raise StatusError("PERMISSION_DENIED", "file does not allow writing")

    @export("device.queue.barrier", "0rIrrI_v")
    def _queue_barrier(self, device: Any, _: int, wait: Any, signal: Any, __: int = 0) -> None:
        _device(device).queue_execute(*_between(wait, signal), None)

    @export("device.queue.execute", "0rIrrrI_v")
    def _queue_execute(
        self, device: Any, _: int, wait: Any, signal: Any, command_buffer: Any, __: int
    ) -> None:
        _device(device).queue_execute(
            *_between(wait, signal),
            require(CommandBuffer, command_buffer),  # type: ignore[type-abstract]
        )

    @export("device.queue.execute.indirect", "0rIrrrICrIID_v")
    def _queue_execute_indirect(
        self,
        device: Any,
        _: int,
        wait: Any,
        signal: Any,
        command_buffer: Any,
        __: int,
        table: Sequence[tuple[Any, int, int]],
    ) -> None:
        _device(device).queue_execute(
            *_between(wait, signal),
            require(CommandBuffer, command_buffer),  # type: ignore[type-abstract]
            [Binding(optional(Buffer, buffer), offset, length) for buffer, offset, length in table],
        )

    @export("device.queue.flush", "0rI_v")
    def _queue_flush(self, device: Any, _: int) -> None:
        _device(device).queue_flush()

    @export("fence.create", "0rI_r")
    def _fence_create(self, device: Any, _: int) -> Fence:
        return Fence(((_device(device).create_semaphore(0, private=True), 1),))

    @export("fence.join", "0ICrD_r")
    def _fence_join(self, _: int, fences: Sequence[Any]) -> Fence | None:
        return Fence.join([optional(Fence, fence) for fence in fences])

    @export("fence.query", "0r_i")
    def _fence_query(self, fence: Any) -> int:
        try:
            return 0 if require(Fence, fence).reached() else code_of("DEFERRED")
        except StatusError as error:
            return code_of(error.status)

    @export("fence.signal", "0r_v")
    def _fence_signal(self, fence: Any) -> None:
        require(Fence, fence).signal()

    @export("fence.fail", "0ri_v")
    def _fence_fail(self, fence: Any, status: int) -> None:
        require(Fence, fence).fail(StatusError(name_of(status & 0x1F), ""))

    @export("fence.await", "0iICrD_i")
    def _fence_await(self, timeout: int, _: int, fences: Sequence[Any]) -> int | Pending:
        joined = Fence.join([optional(Fence, fence) for fence in fences])
        if joined is None or joined.reached():
            return 0
        if joined.unreachable():
            if timeout != -1:
                return code_of("DEADLINE_EXCEEDED")
            raise StatusError(
                "FAILED_PRECONDITION",
                "the program waits for a fence that none of its work will signal",
            )
        timeout_ms = None if timeout == -1 else timeout & 0xFFFFFFFF
        return Pending(
            ready=joined.reached,
            block=lambda: 0 if joined.wait(timeout_ms) else code_of("DEADLINE_EXCEEDED"),
        )

    @export("channel.create", "0rIIrrii_r")
    def _channel_create(self, *_: Any) -> None:
        raise _no_channels()

    @export("channel.split", "0riiI_r")
    def _channel_split(self, *_: Any) -> None:
        raise _no_channels()

    @export("channel.rank_and_count", "0r_ii")
    def _channel_rank_and_count(self, *_: Any) -> None:
        raise _no_channels()


def _between(wait: Any, signal: Any) -> tuple[Fence | None, Fence | None]:
    """The fences that queued work waits for and signals; either may be missing."""
    return optional(Fence, wait), optional(Fence, signal)


def _device(reference: Any) -> Device:
    return require(Device, reference)  # type: ignore[type-abstract]


def _no_channels() -> StatusError:
    return StatusError("UNIMPLEMENTED", "collective channels not implemented on Metal")

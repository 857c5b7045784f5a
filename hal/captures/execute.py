"""Does the calls of a capture again, on any device, one after the other.

Queues' work is waited for at once, as IREE's own replay does: what a capture holds is in the order
of the host's calls, and each call's waits are for what was signalled before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any, Final, TypeVar

from ..buffer import Buffer, File
from ..device import (
    Binding,
    BufferRef,
    CommandBuffer,
    Copy,
    Device,
    Executable,
    Fill,
    TransferCommand,
    Update,
)
from ..flags import BufferUsage, MemoryType
from ..semaphore import Fence, Semaphore
from .codes import IGNORED, WITH_DATA, FileKind, Op, RecordKind
from .errors import CaptureError
from .file import Capture, Record
from .requests import Allocation, Dispatch, Payload, PayloadError, Points, Queued, Reference

_READ: Final = 1
"""The bit of memory access that lets the host read. Source: `runtime/src/iree/hal/buffer.h`."""
_WAIT_MS: Final = 0x7FFFFFFF
_SEMAPHORE: Final = Struct("<QQQQ")
_COMMANDS: Final = Struct("<IIQQ")
_PREPARE: Final = Struct("<QQQIIII")
_FILE: Final = Struct("<6Q5IHHI32s4x")
_RANGE: Final = Struct("<QQIHHI4x")
_RANGE_DATA: Final = Struct("<QQQIHHI4x")
_LENGTH: Final = Struct("<Q")
_IMPORT: Final = Struct("<IIQ")
_TRANSFER: Final = Struct("<II")
_PAIR: Final = Struct("<QQ")
_TRIPLE: Final = Struct("<QQQ")

Object = TypeVar("Object")
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class HostRead:
    """What the host read of a buffer after the device had written to it: a result, as a rule."""

    buffer: int
    offset: int
    data: bytes


class Execution:
    """One capture on one device; all devices that the capture has are that one.

    Attributes:
        reads: what the host read of memory, in order, each range once until the device runs again.
        dispatches: how many were submitted.
    """

    def __init__(self, device: Device) -> None:
        self.reads: list[HostRead] = []
        self.dispatches = 0
        self._device = device
        self._objects: dict[int, Any] = {}
        self._reached: dict[int, int] = {}
        self._recorded: dict[int, int] = {}
        self._current: set[tuple[int, int, int]] = set()
        self._done: tuple[Semaphore, int] = (device.create_semaphore(0, private=True), 0)

    def run(self, capture: Capture, say: Say = lambda text: None) -> None:
        """Do all calls.

        Raises:
            CaptureError: for a damaged capture, or one that asks for what cannot be done here.
            StatusError: what a kernel or the device had to say.
        """
        for record in capture.records():
            where = f"{capture.path}: call at byte {record.offset}"
            if record.kind == RecordKind.UNSUPPORTED:
                raise CaptureError(f"{where}: IREE could not capture what the program did there")
            if record.kind != RecordKind.OPERATION or record.operation in IGNORED:
                continue
            if record.status:
                continue  # it failed then, and made nothing
            try:
                self._call(record, say)
            except PayloadError as error:
                raise CaptureError(f"{where}: {error}") from None

    def _call(self, record: Record, say: Say) -> None:
        if record.operation not in tuple(Op):
            raise PayloadError(f"operation {record.operation} is not known")
        operation, payload = Op(record.operation), Payload(record.payload)
        making = _MAKING.get(operation)
        if making is not None:
            self._objects[record.related] = making(self, record, payload)
            return
        recording = _RECORDING.get(operation)
        if recording is not None:
            recording(self, self._commands(record.subject), record, payload)
            return
        doing = _DOING.get(operation)
        if doing is None:
            raise PayloadError(f"{operation.name.lower()} cannot be done again here")
        doing(self, record, payload)
        say(f"{self.dispatches:,} dispatches")

    # Objects.

    def _object(self, number: int, kind: type[Object]) -> Object:
        found = self._objects.get(number)
        if not isinstance(found, kind):
            raise PayloadError(f"object {number} is no {kind.__name__}, or not there")
        return found

    def _commands(self, number: int) -> CommandBuffer:
        return self._object(number, CommandBuffer)  # type: ignore[type-abstract]

    def _executable(self, number: int) -> Executable:
        return self._object(number, Executable)  # type: ignore[type-abstract]

    def _reference(self, reference: Reference) -> BufferRef:
        buffer = self._object(reference.buffer, Buffer) if reference.buffer else None
        return BufferRef(buffer, reference.slot, reference.offset, reference.length)

    def _allocated(self, asked: Allocation) -> Buffer:
        """A buffer that the host can also reach, which costs nothing where memory is one."""
        return self._device.allocator.allocate(
            asked.memory_type | MemoryType.HOST_VISIBLE,
            asked.usage | BufferUsage.MAPPING_SCOPED,
            asked.size,
        )

    def _make_buffer(self, record: Record, payload: Payload) -> Buffer:
        return self._allocated(payload.allocation())

    def _make_imported(self, record: Record, payload: Payload) -> Buffer:
        buffer = self._allocated(payload.allocation())
        _, _, length = payload.take(_IMPORT)
        buffer.write(0, payload.bytes(length))
        return buffer

    def _make_queued(self, record: Record, payload: Payload) -> Buffer:
        buffer = self._allocated(payload.allocation())
        self._queue(payload.queued(*payload.queue_fields()), None)
        return buffer

    def _make_semaphore(self, record: Record, payload: Payload) -> int:
        _, initial, _, _ = payload.take(_SEMAPHORE)
        self._reached[record.related] = initial
        return record.related

    def _make_commands(self, record: Record, payload: Payload) -> CommandBuffer:
        mode, _, _, capacity = payload.take(_COMMANDS)
        self._recorded[record.related] = 0
        return self._device.create_command_buffer(mode, capacity)

    def _make_executable(self, record: Record, payload: Payload) -> Executable:
        _, length, constants, _, name_length, _, _ = payload.take(_PREPARE)
        name = bytes(payload.bytes(name_length)).decode(errors="replace").rstrip("\0")
        data = payload.bytes(length)
        cache = self._device.executable_cache
        if not cache.can_prepare(name):
            raise PayloadError(
                f"its executable is of format {name!r}, which is not for {self._device.info.name}; "
                "capture a run on --device=metal"
            )
        return cache.prepare(name, data, payload.words(constants))

    def _make_file(self, record: Record, payload: Payload) -> File | None:
        fields = payload.take(_FILE)
        length, kind = fields[5], fields[9]
        if kind == FileKind.INLINE:
            return File(payload.bytes(length))
        return None  # its reads have what they read, or are refused

    # Commands that are recorded.

    def _record_dispatch(self, commands: CommandBuffer, record: Record, payload: Payload) -> None:
        self._recorded[record.subject] += 1
        self._dispatch(commands, payload.dispatch())

    def _dispatch(self, commands: CommandBuffer, asked: Dispatch) -> None:
        workgroups = asked.workgroups
        commands.dispatch(
            self._executable(asked.executable),
            asked.function,
            self._reference(workgroups) if isinstance(workgroups, Reference) else workgroups,
            asked.constants,
            [self._reference(each) for each in asked.bindings],
        )

    def _record_barrier(self, commands: CommandBuffer, record: Record, payload: Payload) -> None:
        commands.execution_barrier()

    def _record_end(self, commands: CommandBuffer, record: Record, payload: Payload) -> None:
        commands.finalize()

    def _record_fill(self, commands: CommandBuffer, record: Record, payload: Payload) -> None:
        target = self._reference(payload.reference())
        payload.take(_TRANSFER)
        (length,) = payload.take(_LENGTH)
        commands.fill(target, bytes(payload.bytes(length)))

    def _record_update(self, commands: CommandBuffer, record: Record, payload: Payload) -> None:
        target = self._reference(payload.reference())
        payload.take(_TRANSFER)
        payload.take(_LENGTH)  # where it was in the host's memory
        (length,) = payload.take(_LENGTH)
        commands.update(bytes(payload.bytes(length)), target)

    def _record_copy(self, commands: CommandBuffer, record: Record, payload: Payload) -> None:
        source, target = payload.reference(), payload.reference()
        commands.copy(self._reference(source), self._reference(target))

    # What queues do.

    def _execute(self, record: Record, payload: Payload) -> None:
        (number,) = payload.take(_LENGTH)
        waits, signals = payload.queue_fields()
        (bindings,) = payload.take(_LENGTH)
        queued = payload.queued(waits, signals)
        table = [
            Binding(self._object(each.buffer, Buffer), each.offset, each.length)
            if each.buffer
            else Binding(None, 0, 0)
            for each in payload.references(bindings)
        ]
        commands = self._commands(number) if number else None
        self.dispatches += self._recorded.get(number, 0)
        self._queue(queued, commands, table)

    def _queue_dispatch(self, record: Record, payload: Payload) -> None:
        asked = payload.dispatch()
        commands = self._device.create_command_buffer(1, 0)
        self._dispatch(commands, asked)
        commands.finalize()
        self.dispatches += 1
        self._queue(asked.queued, commands)

    def _queue_dealloca(self, record: Record, payload: Payload) -> None:
        payload.reference()  # the memory goes with the last reference to it
        self._queue(payload.queued(*payload.queue_fields()), None)

    def _queue_fill(self, record: Record, payload: Payload) -> None:
        target = self._reference(payload.reference())
        waits, signals = payload.queue_fields()
        (length,) = payload.take(_LENGTH)
        queued = payload.queued(waits, signals)
        self._transfer(queued, Fill(target, bytes(payload.bytes(length))))

    def _queue_update(self, record: Record, payload: Payload) -> None:
        target = self._reference(payload.reference())
        _, _, _, length = payload.take(_SEMAPHORE)
        queued = payload.queued(*payload.take(_PAIR))
        self._transfer(queued, Update(bytes(payload.bytes(length)), target))

    def _queue_copy(self, record: Record, payload: Payload) -> None:
        source, target = payload.reference(), payload.reference()
        queued = payload.queued(*payload.queue_fields())
        self._transfer(queued, Copy(self._reference(source), self._reference(target)))

    def _queue_read(self, record: Record, payload: Payload) -> None:
        number, offset = payload.take(_PAIR)
        target = self._reference(payload.reference())
        _, _, length = payload.take(_TRIPLE)
        queued = payload.queued(*payload.take(_PAIR))
        if length:
            data: bytes | memoryview = payload.bytes(length)
        else:
            file = self._objects.get(number)
            if file is None:
                raise PayloadError(
                    "it reads a file whose bytes the capture does not have; capture it with "
                    "--device_replay_file_policy=capture-ranges"
                )
            data = self._object(number, File).span(offset, target.length)
        self._transfer(queued, Update(bytes(data), target))

    def _transfer(self, queued: Queued, command: TransferCommand) -> None:
        commands = self._device.create_command_buffer(1, 0)
        command.record(commands)
        commands.finalize()
        self._queue(queued, commands)

    def _queue(
        self, queued: Queued, commands: CommandBuffer | None, table: Sequence[Binding] = ()
    ) -> None:
        """Submit and wait for it."""
        self._must_have_reached(queued.wait)
        semaphore, before = self._done
        self._done = (semaphore, before + 1)
        done = Fence([(semaphore, before + 1)])
        self._device.queue_execute(None, done, commands, table)
        self._device.queue_flush()
        semaphore.wait(before + 1, _WAIT_MS)
        for number, value in queued.signal:
            self._object(number, int)
            self._reached[number] = max(self._reached[number], value)
        if commands is not None:
            self._current.clear()

    def _must_have_reached(self, points: Points) -> None:
        for number, value in points:
            self._object(number, int)
            if self._reached[number] < value:
                raise PayloadError(
                    f"it waits until semaphore {number} is {value}; nothing that was captured "
                    f"before it signals more than {self._reached[number]}"
                )

    # What the host does with memory.

    def _host_wrote(self, record: Record, payload: Payload) -> None:
        if record.payload_kind != WITH_DATA:
            return
        offset, _, length, _, _, _, _ = payload.take(_RANGE_DATA)
        self._object(record.subject, Buffer).write(offset, payload.bytes(length))

    def _host_reads(self, record: Record, payload: Payload) -> None:
        offset, length, _, access, _, _ = payload.take(_RANGE)
        place = (record.subject, offset, length)
        if not access & _READ or place in self._current:
            return
        self._current.add(place)
        data = bytes(self._object(record.subject, Buffer).read(offset, length))
        self.reads.append(HostRead(record.subject, offset, data))


_Making = Callable[[Execution, Record, Payload], Any]
_Recording = Callable[[Execution, CommandBuffer, Record, Payload], None]
_Doing = Callable[[Execution, Record, Payload], None]
_MAKING: Final[Mapping[Op, _Making]] = {
    Op.ALLOCATE_BUFFER: Execution._make_buffer,
    Op.IMPORT_BUFFER: Execution._make_imported,
    Op.QUEUE_ALLOCA: Execution._make_queued,
    Op.CREATE_SEMAPHORE: Execution._make_semaphore,
    Op.CREATE_COMMAND_BUFFER: Execution._make_commands,
    Op.PREPARE_EXECUTABLE: Execution._make_executable,
    Op.IMPORT_FILE: Execution._make_file,
}
_RECORDING: Final[Mapping[Op, _Recording]] = {
    Op.DISPATCH: Execution._record_dispatch,
    Op.BARRIER: Execution._record_barrier,
    Op.WAIT_EVENTS: Execution._record_barrier,
    Op.END: Execution._record_end,
    Op.FILL: Execution._record_fill,
    Op.UPDATE: Execution._record_update,
    Op.COPY: Execution._record_copy,
}
_DOING: Final[Mapping[Op, _Doing]] = {
    Op.QUEUE_EXECUTE: Execution._execute,
    Op.QUEUE_DISPATCH: Execution._queue_dispatch,
    Op.QUEUE_DEALLOCA: Execution._queue_dealloca,
    Op.QUEUE_FILL: Execution._queue_fill,
    Op.QUEUE_UPDATE: Execution._queue_update,
    Op.QUEUE_COPY: Execution._queue_copy,
    Op.QUEUE_READ: Execution._queue_read,
    Op.MAP_RANGE: Execution._host_reads,
    Op.UNMAP_RANGE: Execution._host_wrote,
    Op.FLUSH_RANGE: Execution._host_wrote,
}

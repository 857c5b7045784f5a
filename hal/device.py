"""The HAL's device side as abstract classes: driver, device, allocator, executables, commands.

A driver (for example `hal.metal`) implements these; `hal.vm` and others call them.
Fences may be None: nothing to wait for, nothing to signal.
"""

from __future__ import annotations

import fnmatch
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .buffer import Buffer, File
from .semaphore import Fence, Semaphore


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceInfo:
    """What a driver says of a device before it is opened."""

    identifier: str
    name: str


@dataclass(frozen=True, slots=True)
class BufferRef:
    """A byte range of a buffer, or of the binding table's entry `slot` when buffer is None."""

    buffer: Buffer | None
    slot: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Binding:
    """One entry of a binding table: the buffer that a slot stands for in this submission."""

    buffer: Buffer | None
    offset: int
    length: int


class Allocator(ABC):
    """Allocates buffers of a device."""

    type_name: ClassVar[str] = "hal.allocator"

    @abstractmethod
    def allocate(self, memory_type: int, usage: int, size: int) -> Buffer:
        """A new buffer of at least `size` bytes. Raises StatusError if there is no memory."""

    @abstractmethod
    def import_host(self, data: memoryview, memory_type: int, usage: int) -> Buffer | None:
        """A buffer over host memory without a copy, or None if the device cannot do that."""


class Executable(ABC):
    """Compiled kernels, looked up by name."""

    type_name: ClassVar[str] = "hal.executable"

    @abstractmethod
    def lookup(self, name: str) -> int:
        """The number of the kernel with this name, as dispatches take it."""


class ExecutableCache(ABC):
    """Prepares executables for a device."""

    @abstractmethod
    def can_prepare(self, executable_format: str) -> bool:
        """Whether executables of this format can be prepared."""

    @abstractmethod
    def prepare(
        self, executable_format: str, data: memoryview, constants: Sequence[int]
    ) -> Executable:
        """The executable in `data`. Raises StatusError with the reason if it cannot be used."""


class CommandBuffer(ABC):
    """Recorded device work, submitted once or many times."""

    type_name: ClassVar[str] = "hal.command_buffer"

    @abstractmethod
    def finalize(self) -> None:
        """End the recording."""

    @abstractmethod
    def begin_debug_group(self, label: str) -> None:
        """Open a named group of commands."""

    @abstractmethod
    def end_debug_group(self) -> None:
        """Close the innermost group."""

    @abstractmethod
    def execution_barrier(self) -> None:
        """Later commands see what earlier ones wrote."""

    @abstractmethod
    def fill(self, target: BufferRef, pattern: bytes) -> None:
        """Fill a range with a repeated pattern of 1, 2 or 4 bytes."""

    @abstractmethod
    def update(self, source: bytes, target: BufferRef) -> None:
        """Copy host bytes, taken now, into a range."""

    @abstractmethod
    def copy(self, source: BufferRef, target: BufferRef) -> None:
        """Copy between ranges of equal length."""

    @abstractmethod
    def dispatch(
        self,
        executable: Executable,
        function: int,
        workgroups: tuple[int, int, int] | BufferRef,
        constants: Sequence[int],
        bindings: Sequence[BufferRef],
    ) -> None:
        """Run a kernel over workgroups (or a buffer with their three u32 counts)."""


class Device(ABC):
    """A device: its memory, its executables, its queue."""

    type_name: ClassVar[str] = "hal.device"
    family: ClassVar[str]
    """What programs call this kind of device when they look for one."""
    info: DeviceInfo
    allocator: Allocator
    executable_cache: ExecutableCache

    def query_i64(self, category: str, key: str) -> int | None:
        """A property of the device, or None if it has no such property.

        `hal.device.id` matches patterns for the family; `hal.executable.format` tells whether such
        executables can be prepared.
        """
        if category == "hal.device.id":
            return int(fnmatch.fnmatchcase(self.family, key))
        if category == "hal.executable.format":
            return int(self.executable_cache.can_prepare(key))
        return None

    @abstractmethod
    def create_semaphore(self, initial: int, *, private: bool = False) -> Semaphore:
        """A new timeline semaphore; a private one is signalled by its program's work alone."""

    @abstractmethod
    def create_command_buffer(self, mode: int, binding_capacity: int) -> CommandBuffer:
        """A command buffer to record into."""

    def queue_alloca(
        self, wait: Fence | None, signal: Fence | None, memory_type: int, usage: int, size: int
    ) -> Buffer:
        """Allocate now; the signal comes in queue order, so nothing need block for it."""
        buffer = self.allocator.allocate(memory_type, usage, size)
        self.queue_execute(wait, signal, None)
        return buffer

    def queue_dealloca(self, wait: Fence | None, signal: Fence | None, buffer: Buffer) -> None:
        """A barrier: the memory goes when the last reference does."""
        del buffer
        self.queue_execute(wait, signal, None)

    @abstractmethod
    def queue_execute(
        self,
        wait: Fence | None,
        signal: Fence | None,
        command_buffer: CommandBuffer | None,
        bindings: Sequence[Binding] = (),
    ) -> None:
        """Submit recorded work; with None only the fences are joined (a barrier)."""

    @abstractmethod
    def queue_read(
        self,
        wait: Fence | None,
        signal: Fence | None,
        source: File,
        source_offset: int,
        target: BufferRef,
    ) -> None:
        """Copy from a file into a buffer in queue order."""

    @abstractmethod
    def queue_flush(self) -> None:
        """Start everything submitted."""

    def queue_transfer(
        self, wait: Fence | None, signal: Fence | None, command: TransferCommand
    ) -> None:
        """Submit one fill, update or copy."""
        command_buffer = self.create_command_buffer(1, 0)
        command.record(command_buffer)
        command_buffer.finalize()
        self.queue_execute(wait, signal, command_buffer)


class TransferCommand(ABC):
    """One transfer to be submitted by itself."""

    @abstractmethod
    def record(self, command_buffer: CommandBuffer) -> None:
        """Record it."""


@dataclass(frozen=True, slots=True)
class Fill(TransferCommand):
    """Fill a range with a pattern."""

    target: BufferRef
    pattern: bytes

    def record(self, command_buffer: CommandBuffer) -> None:
        """Record it."""
        command_buffer.fill(self.target, self.pattern)


@dataclass(frozen=True, slots=True)
class Update(TransferCommand):
    """Copy host bytes into a range."""

    source: bytes
    target: BufferRef

    def record(self, command_buffer: CommandBuffer) -> None:
        """Record it."""
        command_buffer.update(self.source, self.target)


@dataclass(frozen=True, slots=True)
class Copy(TransferCommand):
    """Copy between ranges."""

    source: BufferRef
    target: BufferRef

    def record(self, command_buffer: CommandBuffer) -> None:
        """Record it."""
        command_buffer.copy(self.source, self.target)


class Driver(ABC):
    """Finds and opens devices of one kind."""

    name: ClassVar[str]

    @abstractmethod
    def devices(self) -> tuple[DeviceInfo, ...]:
        """The devices there are."""

    @abstractmethod
    def open(self, identifier: str | None = None) -> Device:
        """Open a device by identifier (None: the default one)."""

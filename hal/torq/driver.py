"""The Torq HAL driver: an emulated NPU with the same objects as any other device of the HAL.

Work is done when it is submitted, or once what it waits for is signalled, on the thread that
signals; fences order it like on hardware.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.hw.torq.device.device import Device as Npu
from assay.hw.torq.facts import hardware as machines
from assay.hw.torq.facts.costs import machine_of
from assay.hw.torq.facts.hardware import Hardware

from ..buffer import File
from ..device import Binding, BufferRef, CommandBuffer, Device, DeviceInfo, Driver
from ..observe import Watch, current_timer, current_watch, under
from ..semaphore import Fence
from ..status import StatusError, invalid_argument
from .check import check
from .commands import TorqCommandBuffer, TorqExecutable, TorqExecutableCache
from .executable import LoadedExecutable
from .format import Executable
from .host_calls import HostFunction
from .host_code import left_out
from .memory import TorqAllocator, view
from .semaphore import TorqSemaphore
from .timing import TorqTimer


@dataclass(frozen=True, kw_only=True, slots=True)
class _Work:
    """What was submitted: work to do after `wait`, and what to signal then; who looked on."""

    wait: Fence | None
    signal: Fence | None
    commands: TorqCommandBuffer | None
    bindings: tuple[Binding, ...]
    watch: Watch | None
    timer: TorqTimer | None


class TorqDriver(Driver):
    """Opens emulated NPUs; an identifier is a profile or a custom hardware string."""

    name: ClassVar[str] = "torq"

    def __init__(
        self,
        host_functions: Mapping[str, HostFunction] | None = None,
        *,
        skip_host_code: bool = False,
    ) -> None:
        """`host_functions` stand for executables' host code, by name.

        `skip_host_code`: what has no such function is left out instead of refused.
        """
        self._host_functions = dict(host_functions or {})
        self._skips = skip_host_code

    def devices(self) -> tuple[DeviceInfo, ...]:
        """The profiles."""
        return tuple(
            DeviceInfo(identifier=name, name=machines.hardware(name).description)
            for name in machines.names()
        )

    def open(self, identifier: str | None = None) -> TorqDevice:
        """Open an NPU. Raises StatusError when nothing is called that."""
        try:
            npu = machines.hardware(identifier or machines.DEFAULT)
        except machines.HardwareError as error:
            raise StatusError("NOT_FOUND", str(error)) from error
        return TorqDevice(npu, self._host_functions, skip_host_code=self._skips)


class TorqDevice(Device):
    """An NPU, which runs one executable after the other, each with an XRAM of its own.

    `npu` is the emulated hardware; one that is on a board may be given.
    """

    family: ClassVar[str] = "torq"

    def __init__(
        self,
        hardware: Hardware,
        host_functions: Mapping[str, HostFunction] | None = None,
        *,
        skip_host_code: bool = False,
        npu: Npu | None = None,
    ) -> None:
        self.info = DeviceInfo(identifier=hardware.name, name=hardware.description)
        self.allocator = TorqAllocator()
        self.npu = npu or Npu(machine_of(hardware))
        self._hardware = hardware
        self._host_functions = dict(host_functions or {})
        self._skips = skip_host_code
        self._keeps_record = npu is not None
        self.executable_cache = TorqExecutableCache(self)
        self._waiting: list[_Work] = []
        self._lock = threading.RLock()
        self._working = False

    def open(self, data: memoryview, source: str) -> TorqExecutable:
        """The executables of a container, which messages call `source`. Raises StatusError."""
        return TorqExecutable(data, self, source)

    def check_executable(self, executable: Executable, name: str) -> None:
        """Raises StatusError if an executable cannot run here."""
        check(executable, self._hardware, name)

    def load_executable(self, executable: Executable, name: str, program: str) -> LoadedExecutable:
        """Loads an executable, which messages call `name`, findings `program`."""
        skipped = left_out(executable) if self._skips else {}
        return LoadedExecutable(
            executable,
            device=self.npu,
            npu=self._hardware,
            host_functions={**skipped, **self._host_functions},
            name=name,
            program=program,
        )

    def create_semaphore(self, initial: int, *, private: bool = False) -> TorqSemaphore:
        """A new timeline semaphore."""
        return TorqSemaphore(initial, private=private, changed=self._work)

    def create_command_buffer(self, mode: int, binding_capacity: int) -> TorqCommandBuffer:
        """A command buffer to record into."""
        del mode, binding_capacity
        return TorqCommandBuffer()

    def queue_execute(
        self,
        wait: Fence | None,
        signal: Fence | None,
        command_buffer: CommandBuffer | None,
        bindings: Sequence[Binding] = (),
    ) -> None:
        """Submit: done now, or when what it waits for is signalled."""
        if command_buffer is not None and not isinstance(command_buffer, TorqCommandBuffer):
            raise invalid_argument("the command buffer was made for another device")
        for semaphore, value in signal.points if signal is not None else ():
            promised: Any = semaphore
            if isinstance(promised, TorqSemaphore):
                promised.promised = max(promised.promised, value)
        work = _Work(
            wait=wait,
            signal=signal,
            commands=command_buffer,
            bindings=tuple(bindings),
            watch=current_watch(),
            timer=current_timer(TorqTimer),  # type: ignore[type-abstract]
        )
        with self._lock:
            self._waiting.append(work)
        self._work()

    def queue_read(
        self,
        wait: Fence | None,
        signal: Fence | None,
        source: File,
        source_offset: int,
        target: BufferRef,
    ) -> None:
        """Copy from a file into a buffer in queue order."""
        length = len(view(target, ()))
        commands = TorqCommandBuffer()
        commands.update(bytes(source.span(source_offset, length)), target)
        commands.finalize()
        self.queue_execute(wait, signal, commands)

    def queue_flush(self) -> None:
        """Nothing to do: work begins when it can."""

    def _work(self) -> None:
        """Does everything that waits for nothing any more, in the order of submission."""
        with self._lock:
            if self._working:
                return  # A signal of work being done: the loop below sees what it allows.
            self._working = True
            try:
                while (work := self._ready()) is not None:
                    self._waiting.remove(work)
                    self._do(work)
            finally:
                self._working = False

    def _ready(self) -> _Work | None:
        for work in self._waiting:
            try:
                if work.wait is None or work.wait.reached():
                    return work
            except StatusError:
                return work  # It fails with what it waited for.
        return None

    def _do(self, work: _Work) -> None:
        try:
            if work.wait is not None:
                work.wait.reached()
            if work.commands is not None:
                with under(work.watch, work.timer):
                    work.commands.run(work.bindings)
        except StatusError as error:
            if work.signal is None:
                raise
            work.signal.fail(error)
            return
        finally:
            if not self._keeps_record:
                self.npu.forget()
        if work.signal is not None:
            work.signal.signal()

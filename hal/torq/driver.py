"""The Torq HAL driver: an emulated NPU with the same objects as any other device of the HAL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from assay.hw.torq.device.device import Device as Npu
from assay.hw.torq.facts import hardware as machines
from assay.hw.torq.facts.costs import machine_of
from assay.hw.torq.facts.hardware import Hardware

from ..device import DeviceInfo, Driver
from ..hosted.device import HostedDevice
from ..hosted.memory import HostAllocator
from ..observe import current_timer
from ..status import StatusError
from .check import check
from .commands import TorqCommandBuffer, TorqExecutable, TorqExecutableCache
from .executable import LoadedExecutable
from .format import Executable
from .host_calls import HostFunction
from .host_code import left_out
from .timing import TorqTimer

_LARGEST_BUFFER = 1 << 30


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


class TorqDevice(HostedDevice):
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
        info = DeviceInfo(identifier=hardware.name, name=hardware.description)
        super().__init__(info, HostAllocator(_LARGEST_BUFFER))
        self.npu = npu or Npu(machine_of(hardware))
        self._hardware = hardware
        self._host_functions = dict(host_functions or {})
        self._skips = skip_host_code
        self._keeps_record = npu is not None
        self.executable_cache = TorqExecutableCache(self)

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

    def create_command_buffer(self, mode: int, binding_capacity: int) -> TorqCommandBuffer:
        """A command buffer to record into."""
        del mode, binding_capacity
        return TorqCommandBuffer()

    def current_timer(self) -> TorqTimer | None:
        """Who times what is submitted now."""
        return current_timer(TorqTimer)  # type: ignore[type-abstract]

    def after_work(self) -> None:
        """The NPU's record of what it did is for those who gave the NPU."""
        if not self._keeps_record:
            with self.npu.lock:
                self.npu.forget()

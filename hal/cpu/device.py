"""The CPU device of the HAL: kernels run workgroup by workgroup, when they are submitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from ..device import (
    BufferRef,
    DeviceInfo,
    Driver,
    Executable,
    ExecutableCache,
)
from ..hosted.commands import Bindings, HostCommandBuffer
from ..hosted.device import HostedDevice
from ..hosted.memory import HostAllocator, view
from ..status import StatusError, invalid_argument
from .library import FORMAT, Library

_LARGEST_BUFFER = 1 << 36


class CpuExecutable(Executable):
    """A library of kernels."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def lookup(self, name: str) -> int:
        """The number of a kernel."""
        if name not in self.library.names:
            known = ", ".join(self.library.names)
            raise StatusError("NOT_FOUND", f"executable function '{name}'; there are: {known}")
        return self.library.names.index(name)


class CpuExecutableCache(ExecutableCache):
    """Loads libraries."""

    def can_prepare(self, executable_format: str) -> bool:
        """Whether it is this processor's format."""
        return bool(FORMAT) and executable_format == FORMAT

    def prepare(
        self, executable_format: str, data: memoryview, constants: Sequence[int]
    ) -> CpuExecutable:
        """The library in `data`. Raises StatusError."""
        if not self.can_prepare(executable_format):
            raise StatusError(
                "NOT_FOUND",
                f"executables of format {executable_format!r} are not for this processor, which "
                f"takes {FORMAT or 'none'!r}; compile the model here",
            )
        return CpuExecutable(Library(data, constants))


class CpuCommandBuffer(HostCommandBuffer):
    """A recording."""

    def dispatch(
        self,
        executable: Executable,
        function: int,
        workgroups: tuple[int, int, int] | BufferRef,
        constants: Sequence[int],
        bindings: Sequence[BufferRef],
    ) -> None:
        """Run a kernel over workgroups."""
        if not isinstance(executable, CpuExecutable):
            raise invalid_argument("the executable was made for another device")
        library = executable.library
        if not 0 <= function < len(library.kernels):
            raise invalid_argument(f"kernel {function} of {len(library.kernels)}")
        known = library.operands(function)
        if known is not None and known != (len(constants), len(bindings)):
            raise invalid_argument(
                f"{library.names[function]} takes {known[0]} constants and {known[1]} bindings, "
                f"{len(constants)} and {len(bindings)} were given"
            )
        words, references = [word & 0xFFFFFFFF for word in constants], tuple(bindings)

        def prepared(table: Bindings) -> Callable[[], None]:
            views = [view(reference, table) for reference in references]
            spans = [(int(each.ctypes.data), each.nbytes) for each in views]
            return library.prepared(function, _counts(workgroups, table), words, spans)

        if isinstance(workgroups, BufferRef) or any(each.buffer is None for each in references):
            self.add(lambda table: prepared(table)())
        else:  # everything is known already; memory stays where it is as long as it is referred to
            run, keeps = prepared(()), references
            self.add(lambda _: _run(run, keeps))


def _run(run: Callable[[], None], keeps: Sequence[BufferRef]) -> None:
    """Runs what was prepared; `keeps` is the memory that it is about."""
    del keeps
    run()


def _counts(workgroups: tuple[int, int, int] | BufferRef, table: Bindings) -> tuple[int, int, int]:
    if not isinstance(workgroups, BufferRef):
        return workgroups
    x, y, z = np.frombuffer(view(workgroups, table)[:12].tobytes(), np.uint32)
    return int(x), int(y), int(z)


class CpuDevice(HostedDevice):
    """The processor that runs this program."""

    family: ClassVar[str] = "local"

    def __init__(self, info: DeviceInfo) -> None:
        super().__init__(info, HostAllocator(_LARGEST_BUFFER))
        self.executable_cache = CpuExecutableCache()

    def create_command_buffer(self, mode: int, binding_capacity: int) -> CpuCommandBuffer:
        """A command buffer to record into."""
        del mode, binding_capacity
        return CpuCommandBuffer()


class CpuDriver(Driver):
    """Knows one device."""

    name: ClassVar[str] = "cpu"

    def devices(self) -> tuple[DeviceInfo, ...]:
        """The one there is."""
        return (DeviceInfo(identifier="0", name=f"CPU ({FORMAT or 'no format of IREE'})"),)

    def open(self, identifier: str | None = None) -> CpuDevice:
        """The processor. Raises StatusError for any other."""
        if identifier not in (None, "0"):
            raise StatusError("NOT_FOUND", f"no CPU device '{identifier}'; there is 0")
        return CpuDevice(self.devices()[0])

"""An executable of the NPU as a module: its programs are functions of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.hal.device import BufferRef
from assay.hal.flags import BufferUsage, MemoryType

from ..by_name import ByName
from ..elements import Value
from ..signatures import Signature
from .values import NpuInputError, buffers_of, signature_of, typed, zeros_for

if TYPE_CHECKING:
    from assay.hal.buffer import Buffer
    from assay.hal.torq.commands import TorqExecutable
    from assay.hal.torq.driver import TorqDevice
    from assay.hal.torq.executable import HostFunction, LoadedExecutable

__all__ = ["NpuFunction", "NpuInputError", "NpuModule", "load_npu"]

_SHARED = MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE


class NpuFunction:
    """One executable on an NPU; call it with an array for each buffer that it reads.

    Arrays need the right number of bytes. It gives an array for each buffer that is written, with
    the type that the executable states, else as bytes.
    """

    def __init__(self, device: TorqDevice, executable: TorqExecutable, number: int) -> None:
        self._device, self._executable, self._number = device, executable, number
        self.name: str = executable.members[number]
        self.declaration: str = ""
        """As of functions of modules; executables keep none."""

    @cached_property
    def loaded(self) -> LoadedExecutable:
        """The executable in the NPU. Raises StatusError if it cannot run there."""
        return self._executable.loaded(self._number)

    @property
    def own_name(self) -> str:
        """What the executable calls itself; `name` is its member's in the archive."""
        return self._executable.names[self._number]

    @cached_property
    def signature(self) -> Signature:
        """What goes in and comes out."""
        return signature_of(self.loaded)

    def __call__(self, *arguments: Any) -> Any:
        """Runs it; gives None, one result, or a tuple of results."""
        results = self.invoke(arguments)
        if not results:
            return None
        return results[0] if len(results) == 1 else tuple(results)

    def invoke(self, arguments: Sequence[Any]) -> list[Value]:
        """Runs it; always a list of results. Raises NpuInputError, and StatusError of the NPU."""
        device, loaded = self._device, self.loaded
        buffers = [self._buffer(data.tobytes()) for data in buffers_of(loaded, arguments)]
        commands = device.create_command_buffer(1, 0)
        ranges = [BufferRef(buffer, 0, 0, buffer.length) for buffer in buffers]
        commands.dispatch(self._executable, self._number, (1, 1, 1), (), ranges)
        commands.finalize()
        device.queue_execute(None, None, commands)
        return [
            typed(np.frombuffer(bytes(buffers[n].read(0, buffers[n].length)), np.uint8), info)
            for n in loaded.outputs()
            for info in (loaded.described(n),)
        ]

    def check_inputs(self, arguments: Sequence[Any]) -> None:
        """Raises NpuInputError if arrays do not fit the buffers that are read."""
        buffers_of(self.loaded, arguments)

    def zeros(self) -> list[Value]:
        """Inputs of zeros."""
        return zeros_for(self.loaded)

    def _buffer(self, data: bytes) -> Buffer:
        buffer = self._device.allocator.allocate(_SHARED, BufferUsage.DEFAULT, len(data))
        if data:
            buffer.write(0, data)
        return buffer

    def __repr__(self) -> str:
        return f"<assay NPU function {self.signature}>"


class NpuModule(ByName[NpuFunction]):
    """The executables of a file, loaded into one NPU: `module[name](x)`, or `module.name(x)`."""

    def __init__(self, name: str, device: TorqDevice, executable: TorqExecutable) -> None:
        functions = {
            member: NpuFunction(device, executable, number)
            for number, member in enumerate(executable.members)
        }
        super().__init__(name, "executable", functions)
        self._name = name
        self._device = device

    @property
    def name(self) -> str:
        """The file's name."""
        return self._name

    @property
    def device(self) -> TorqDevice:
        """The NPU."""
        return self._device

    def find(self, part: str | None) -> NpuFunction:
        """The one whose name, or its member's, contains `part`; None if there is only one.

        Raises NpuInputError.
        """
        found = [
            function
            for function in self._functions.values()
            if part is None or part in function.name or part in function.own_name
        ]
        if len(found) != 1:
            listed = ", ".join(self._functions)
            problem = "several executables are there" if found else "no executable matches"
            raise NpuInputError(f"function {part or 'is not given'}: {problem}: {listed}")
        return found[0]

    def __repr__(self) -> str:
        return f"<assay NPU module {self.name}: {', '.join(self)}>"


def load_npu(
    source: str | Path | bytes,
    *,
    hardware: str | None = None,
    name: str | None = None,
    host_functions: Mapping[str, HostFunction] | None = None,
    skip_host_code: bool = False,
) -> NpuModule:
    """Loads executables (a path, or a file's bytes) into an emulated NPU.

    Args:
        source: `.torq`, `.fb`, `.synap`, or a `.vmfb` that holds one.
        hardware: which NPU: a profile or a custom hardware string; the SL2610 if None.
        name: what messages call it; the path if None.
        host_functions: Python functions for the executable's host code, by name.
        skip_host_code: leave out host code that has no such function.

    Raises:
        StatusError: for a file that is none, and hardware that is not known.
    """
    from assay.hal.torq.driver import TorqDriver

    device = TorqDriver(host_functions, skip_host_code=skip_host_code).open(hardware)
    if isinstance(source, str | Path):
        data, name = Path(source).read_bytes(), name or str(source)
    else:
        data, name = bytes(source), name or "executable"
    return NpuModule(name, device, device.open(memoryview(data), name))

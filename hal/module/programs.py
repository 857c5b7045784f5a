"""What kernels are functions of: programs for a device, by the format of their bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from ..buffer import BufferView
from ..device import Device
from ..semaphore import Fence
from ..status import StatusError
from ..vm import LoadedModule, Session

ASYNC: Final = "$async"
"""What IREE puts behind the names of functions that wait for one fence and signal another."""


class Program(Protocol):
    """A loaded program, shared by threads."""

    def call(
        self,
        entry: str,
        inputs: Sequence[BufferView],
        constants: Sequence[int],
        outputs: Sequence[BufferView],
        wait: Fence | None,
    ) -> Fence | None:
        """Starts a function after `wait`; the fence is reached when the outputs are written.

        Raises StatusError for what goes wrong at once; what does later fails the fence.
        """


Loader = Callable[[Device, memoryview], Program]


class VmProgram:
    """An IREE module whose functions write into buffers that they are given."""

    def __init__(self, device: Device, data: memoryview) -> None:
        """Loads it. Raises StatusError."""
        self._module: LoadedModule = Session(device).load(data)

    def call(
        self,
        entry: str,
        inputs: Sequence[BufferView],
        constants: Sequence[int],
        outputs: Sequence[BufferView],
        wait: Fence | None,
    ) -> Fence | None:
        """Runs the host part of a function now, the device's in its queue."""
        name = entry + ASYNC
        if name not in self._module.functions:
            raise StatusError("NOT_FOUND", f"there is no kernel {entry} in its program")
        invocation, signal = self._module.begin(name, *inputs, *constants, *outputs, wait=wait)
        invocation.run()
        return signal


LOADERS: Final[Mapping[str, Loader]] = {"vmfb": VmProgram}
"""By format."""

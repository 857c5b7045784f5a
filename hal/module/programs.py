"""What kernels are functions of: programs for a device, by the format of their bytes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from ..buffer import BufferView
from ..device import BufferRef, Copy, Device
from ..semaphore import Fence
from ..status import StatusError
from ..vm import LoadedModule, Session
from ..vm.host_part import follows_shapes_alone
from .memory import allocate
from .noting import NotingDevice

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

    def noted(self, entry: str) -> NotingDevice | None:
        """What notes a function's commands, if they follow from shapes and constants alone."""


Loader = Callable[[Device, memoryview], Program]


class _IreeModule:
    """An IREE module on a device."""

    def __init__(self, device: Device, data: memoryview) -> None:
        """Loads it. Raises StatusError."""
        self._device = NotingDevice(device)
        self._module: LoadedModule = Session(self._device).load(data)


class VmProgram(_IreeModule):
    """An IREE module whose functions write into buffers that they are given."""

    def __init__(self, device: Device, data: memoryview) -> None:
        """Loads it. Raises StatusError."""
        super().__init__(device, data)
        self._repeatable: dict[str, bool] = {}

    def noted(self, entry: str) -> NotingDevice | None:
        """What notes its commands, unless its host part looks at elements, or waits."""
        if entry not in self._repeatable:
            name, known = entry + ASYNC, self._module.state.definition
            self._repeatable[entry] = name in known.exports and follows_shapes_alone(known, name)
        return self._device if self._repeatable[entry] else None

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
            raise _no_kernel(entry)
        invocation, signal = self._module.begin(name, *inputs, *constants, *outputs, wait=wait)
        invocation.run()
        return signal


class ReturningProgram(_IreeModule):
    """An IREE module as any model becomes one: its functions give buffers of their own.

    They are copied to where they belong. A function that takes no fence waits for its work itself,
    on a thread of its own.
    """

    def noted(self, entry: str) -> None:
        """It gives other memory each time."""
        del entry

    def call(
        self,
        entry: str,
        inputs: Sequence[BufferView],
        constants: Sequence[int],
        outputs: Sequence[BufferView],
        wait: Fence | None,
    ) -> Fence | None:
        """Runs the host part of a function, and puts its results in their places."""
        info = self._module.functions.get(entry)
        if info is None:
            raise _no_kernel(entry)
        if info.asynchronous:
            return self._put(entry, inputs, constants, outputs, wait)
        done = Fence(((self._device.create_semaphore(0), 1),))

        def work() -> None:
            try:
                if wait is not None:
                    wait.wait()
                end = self._put(entry, inputs, constants, outputs, None)
                if end is not None:
                    end.wait()
                done.signal()
            except StatusError as error:
                done.fail(error)

        threading.Thread(target=work, name="assay-kernel", daemon=True).start()
        return done

    def _put(
        self,
        entry: str,
        inputs: Sequence[BufferView],
        constants: Sequence[int],
        outputs: Sequence[BufferView],
        wait: Fence | None,
    ) -> Fence | None:
        """Runs the host part; the fence is reached when the results are in their places."""
        invocation, signal = self._module.begin(entry, *inputs, *constants, wait=wait)
        results = invocation.run()
        if len(results) != len(outputs):
            raise StatusError("INVALID_ARGUMENT", f"{entry} gives {len(results)} results")
        for result, place in zip(results, outputs, strict=True):
            if not isinstance(result, BufferView) or result.shape != place.shape:
                shape = getattr(result, "shape", None)
                raise StatusError(
                    "INVALID_ARGUMENT", f"{entry} gives {shape} where {place.shape} is expected"
                )
            signal = self._copy(result, place, signal)
        return signal

    def _copy(self, result: BufferView, place: BufferView, wait: Fence | None) -> Fence:
        length = place.buffer.length
        done = Fence(((self._device.create_semaphore(0, private=True), 1),))
        source, target = (BufferRef(view.buffer, 0, 0, length) for view in (result, place))
        self._device.queue_transfer(wait, done, Copy(source, target))
        return done


class ConsumingProgram(ReturningProgram):
    """One whose functions may work in the memory of their arguments: they get copies."""

    def call(
        self,
        entry: str,
        inputs: Sequence[BufferView],
        constants: Sequence[int],
        outputs: Sequence[BufferView],
        wait: Fence | None,
    ) -> Fence | None:
        """Copies the inputs, then does the same."""
        copies = []
        for view in inputs:
            length = view.buffer.length
            place = allocate(self._device, length).subspan(0, length)
            copy = BufferView(place, view.shape, view.element_type, view.encoding_type)
            wait = self._copy(view, copy, wait) if length else wait
            copies.append(copy)
        return super().call(entry, copies, constants, outputs, wait)


def _no_kernel(entry: str) -> StatusError:
    return StatusError("NOT_FOUND", f"there is no kernel {entry} in its program")


LOADERS: Final[Mapping[str, Loader]] = {
    "vmfb": VmProgram,
    "vmfb-returning": ReturningProgram,
    "vmfb-consuming": ConsumingProgram,
}
"""By format."""

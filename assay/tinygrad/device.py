"""The device ASSAY."""

from decimal import Decimal
from typing import Final

from tinygrad.device import Compiled, ProfileDeviceEvent
from tinygrad.helpers import PROFILE, ProfileRangeEvent

from assay.hal.metal import emulated as metal

from .buffer import AssayAllocator
from .program import AssayProgram
from .renderer import AssayRenderer

# Command buffers whose outcome may not have been asked for yet.
_MOST_IN_FLIGHT: Final = 256
_US_PER_S: Final = 1_000_000


class AssayDevice(Compiled):
    """tinygrad's view of the emulated Metal device. ASSAY:1 and so on share it with ASSAY, each
    with a queue of its own."""

    def __init__(self, device: str) -> None:
        self.metal = metal.MTLCreateSystemDefaultDevice()
        self.queue = self.metal.newCommandQueue()
        self._in_flight: list[tuple[metal.MTLCommandBuffer, bytes | None]] = []
        Compiled.profile_events.append(ProfileDeviceEvent(device))
        super().__init__(
            device,
            AssayAllocator(self),
            [AssayRenderer],
            AssayProgram,
            arch=f"Apple{_family(self.metal)}",
        )

    def submitted(self, commands: metal.MTLCommandBuffer, profile_key: bytes | None) -> None:
        """Take note of a committed command buffer."""
        self._in_flight.append((commands, profile_key))
        if len(self._in_flight) > _MOST_IN_FLIGHT:
            # Half of them, so that the queue has work left meanwhile.
            self._finish(_MOST_IN_FLIGHT // 2)

    def synchronize(self) -> None:
        """Wait for all kernels. Raises RuntimeError with what the first that failed ran into."""
        self._finish(len(self._in_flight))

    def _finish(self, count: int) -> None:
        oldest, self._in_flight = self._in_flight[:count], self._in_flight[count:]
        failures = []
        for commands, profile_key in oldest:
            commands.waitUntilCompleted()
            if (error := commands.error()) is not None:
                failures.append(error)
            elif PROFILE:
                self._note(commands, profile_key)
        if failures:
            raise RuntimeError(failures[0].localizedDescription())

    def _note(self, commands: metal.MTLCommandBuffer, profile_key: bytes | None) -> None:
        """Hand the times of a kernel to tinygrad's profiler."""
        start, end = (
            Decimal(time) * _US_PER_S for time in (commands.GPUStartTime(), commands.GPUEndTime())
        )
        name = commands.label() or ""
        Compiled.profile_events.append(
            ProfileRangeEvent(self.device, name, start, end, profile_key)
        )


def _family(device: metal.MTLDevice) -> int:
    """The N of the last MTLGPUFamilyAppleN that the device belongs to."""
    families = range(metal.MTLGPUFamilyApple1, metal.MTLGPUFamilyApple10 + 1)
    return max(
        family - metal.MTLGPUFamilyApple1 + 1
        for family in families
        if device.supportsFamily_(family)
    )

"""What functions for the board's own processor are given when an executable calls them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from assay.hw.torq.device.device import Device

from .format import StartHost


@dataclass(frozen=True, kw_only=True, slots=True)
class HostCall:
    """XRAM addresses and sizes of the arguments, the action that has them, and the NPU."""

    action: StartHost
    device: Device = field(repr=False)

    @property
    def function(self) -> str:
        """The function's name."""
        return self.action.function

    @property
    def arguments(self) -> tuple[int, ...]:
        """XRAM addresses."""
        return self.action.arguments

    @property
    def sizes(self) -> tuple[int, ...]:
        """Bytes of each argument."""
        return self.action.sizes

    def read(self, index: int) -> bytes:
        """The bytes of an argument. Raises TorqFault."""
        return self.device.xram.read(self.arguments[index], self.sizes[index], "HOST")

    def write(self, index: int, data: bytes) -> None:
        """Replaces the first bytes of an argument. Raises TorqFault."""
        self.device.xram.write(self.arguments[index], data, "HOST")


HostFunction = Callable[[HostCall], None]

"""The `hal` module: everything a compiled program asks of the HAL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...buffer import BufferView
from ...device import Device
from .hal_buffers import BufferFunctions
from .hal_commands import CommandFunctions
from .hal_queue import QueueFunctions

Trace = Callable[[str, Sequence[BufferView]], None]


class HalModule(BufferFunctions, CommandFunctions, QueueFunctions):
    """`hal` version 7 (and the version 6 functions that differ only in their convention)."""

    name = "hal"
    version = 7

    def __init__(self, devices: Sequence[Device], trace: Trace | None = None) -> None:
        self.devices = tuple(devices)
        self._trace = trace

    def trace_views(self, name: str, views: Sequence[BufferView]) -> None:
        """Hand traced views to the caller that asked for them."""
        if self._trace is not None:
            self._trace(name, views)

"""A module's state in a session: its globals, its constants and the functions it imports."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..status import StatusError
from .archive import ModuleDefinition
from .values import VmBuffer

NativeFunction = Callable[..., Any]


@dataclass(kw_only=True, slots=True)
class Limits:
    """What one invocation may use before it is stopped; guards against damaged programs."""

    instructions: int = 500_000_000
    call_depth: int = 4096
    buffer_bytes: int = 4 << 30

    _buffer_bytes_used: int = field(default=0, init=False, repr=False)

    def new_buffer(self, length: int) -> VmBuffer:
        """A zeroed host buffer, counted against the limit as long as it lives."""
        used = self._buffer_bytes_used
        if not 0 <= length <= self.buffer_bytes - used:
            raise StatusError(
                "RESOURCE_EXHAUSTED",
                f"a host buffer of {length} bytes is over the limit of {self.buffer_bytes} "
                f"({used} are in use)",
            )
        buffer = VmBuffer(bytearray(length))
        self._buffer_bytes_used += length
        weakref.finalize(buffer, self._release, length).atexit = False
        return buffer

    def _release(self, length: int) -> None:
        self._buffer_bytes_used -= length


@dataclass(kw_only=True, slots=True)
class ModuleState:
    """What instructions of one module act on."""

    definition: ModuleDefinition
    imports: tuple[NativeFunction | None, ...]
    limits: Limits
    global_values: bytearray = field(init=False)
    global_refs: list[Any] = field(init=False)
    rodata: tuple[VmBuffer, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.global_values = bytearray(self.definition.global_bytes)
        self.global_refs = [None] * self.definition.global_refs
        self.rodata = tuple(VmBuffer(data) for data in self.definition.rodata)

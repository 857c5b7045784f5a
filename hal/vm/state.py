"""A module's state in a session: its globals, its constants and the functions it imports."""

from __future__ import annotations

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

    def check_buffer(self, length: int) -> None:
        """Refuse a host buffer that is negative or over the limit."""
        if not 0 <= length <= self.buffer_bytes:
            raise StatusError(
                "RESOURCE_EXHAUSTED",
                f"a host buffer of {length} bytes is over the limit of {self.buffer_bytes}",
            )


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

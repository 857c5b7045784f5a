"""The `hal` module's functions on executables and command buffers."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from ...buffer import Buffer
from ...device import BufferRef, CommandBuffer, Device, Executable
from ...status import StatusError, invalid_argument, out_of_range
from ..values import VmBuffer, optional, require
from .registry import NativeModule, export

MOST_BINDINGS = 16
"""Of a dispatch, in every implementation of the `hal` module."""
Bindings = Sequence[tuple[int, int, Any, int, int]]


class CommandFunctions(NativeModule):
    """Part of the `hal` module."""

    @export("executable.create", "0rIrrr_r")
    def _executable_create(self, device: Any, *arguments: Any) -> Executable:
        executable_format, data, constants = arguments[-3:]
        words: tuple[int, ...] = ()
        if isinstance(constants, VmBuffer):
            if len(constants.data) % 4:
                raise invalid_argument(
                    "constant buffer data must contain 4-byte elements but data length is "
                    f"{len(constants.data)}"
                )
            words = struct.unpack(f"<{len(constants.data) // 4}I", constants.data)
        cache = require(Device, device).executable_cache  # type: ignore[type-abstract]
        return cache.prepare(
            require(VmBuffer, executable_format).text(), require(VmBuffer, data).data, words
        )

    @export("executable.lookup.function", "0rr_I")
    def _lookup(self, executable: Any, name: Any) -> int:
        found = require(Executable, executable)  # type: ignore[type-abstract]
        return found.lookup(require(VmBuffer, name).text())

    @export("command_buffer.create", "0riiIi_r")
    def _command_create(
        self, device: Any, mode: int, _: int, __: int, capacity: int
    ) -> CommandBuffer:
        found = require(Device, device)  # type: ignore[type-abstract]
        return found.create_command_buffer(mode, capacity)

    @export("command_buffer.finalize", "0r_v")
    def _command_finalize(self, command_buffer: Any) -> None:
        _commands(command_buffer).finalize()

    @export("command_buffer.begin_debug_group", "0rr_v")
    def _command_begin_debug_group(self, command_buffer: Any, label: Any) -> None:
        _commands(command_buffer).begin_debug_group(require(VmBuffer, label).text())

    @export("command_buffer.end_debug_group", "0r_v")
    def _command_end_debug_group(self, command_buffer: Any) -> None:
        _commands(command_buffer).end_debug_group()

    @export("command_buffer.execution_barrier", "0riiI_v")
    def _command_barrier(self, command_buffer: Any, _: int, __: int, ___: int) -> None:
        _commands(command_buffer).execution_barrier()

    @export("command_buffer.advise_buffer", "0rrIIIi_v")
    def _command_advise(self, command_buffer: Any, buffer: Any, *_: int) -> None:
        # Advice changes no result, and Metal has no call that takes it.
        _commands(command_buffer)
        optional(Buffer, buffer)

    @export("command_buffer.fill_buffer", "0rrIIiIiI_v")
    def _command_fill(
        self,
        command_buffer: Any,
        buffer: Any,
        offset: int,
        length: int,
        slot: int,
        pattern: int,
        pattern_length: int,
        _: int,
    ) -> None:
        target = BufferRef(optional(Buffer, buffer), slot, offset, length)
        _commands(command_buffer).fill(target, pattern_bytes(pattern, pattern_length))

    @export("command_buffer.update_buffer", "0rrIrIIiI_v")
    def _command_update(
        self,
        command_buffer: Any,
        source: Any,
        source_offset: int,
        buffer: Any,
        offset: int,
        length: int,
        slot: int,
        _: int,
    ) -> None:
        data = bytes(require(VmBuffer, source).span(source_offset, length))
        target = BufferRef(optional(Buffer, buffer), slot, offset, length)
        _commands(command_buffer).update(data, target)

    @export("command_buffer.copy_buffer", "0riirIrIII_v")
    def _command_copy(
        self,
        command_buffer: Any,
        source_slot: int,
        target_slot: int,
        source: Any,
        source_offset: int,
        target: Any,
        target_offset: int,
        length: int,
        _: int,
    ) -> None:
        _commands(command_buffer).copy(
            BufferRef(optional(Buffer, source), source_slot, source_offset, length),
            BufferRef(optional(Buffer, target), target_slot, target_offset, length),
        )

    @export("command_buffer.collective", "0rriiiirrIIIII_v")
    def _command_collective(self, *_: Any) -> None:
        raise StatusError("UNIMPLEMENTED", "collectives not implemented on Metal")

    @export("command_buffer.dispatch", "0rrIiiiICiDCiirIID_v", "0rriiiiICiDCiirIID_v")
    def _command_dispatch(
        self,
        command_buffer: Any,
        executable: Any,
        function: int,
        x: int,
        y: int,
        z: int,
        _: int,
        constants: Sequence[int],
        bindings: Bindings,
    ) -> None:
        _commands(command_buffer).dispatch(
            require(Executable, executable),  # type: ignore[type-abstract]
            function,
            (x & 0xFFFFFFFF, y & 0xFFFFFFFF, z & 0xFFFFFFFF),
            constants,
            _references(bindings),
        )

    @export("command_buffer.dispatch.indirect", "0rrIirIICiDCiirIID_v", "0rriirIICiDCiirIID_v")
    def _command_dispatch_indirect(
        self,
        command_buffer: Any,
        executable: Any,
        function: int,
        slot: int,
        workgroups: Any,
        offset: int,
        _: int,
        constants: Sequence[int],
        bindings: Bindings,
    ) -> None:
        _commands(command_buffer).dispatch(
            require(Executable, executable),  # type: ignore[type-abstract]
            function,
            BufferRef(optional(Buffer, workgroups), slot, offset, 12),
            constants,
            _references(bindings),
        )


def _commands(reference: Any) -> CommandBuffer:
    return require(CommandBuffer, reference)  # type: ignore[type-abstract]


def _references(bindings: Bindings) -> list[BufferRef]:
    if len(bindings) > MOST_BINDINGS:
        raise out_of_range(f"binding count {len(bindings)} > {MOST_BINDINGS}")
    return [
        BufferRef(optional(Buffer, buffer), slot, offset, length)
        for _, slot, buffer, offset, length in bindings
    ]


def pattern_bytes(pattern: int, length: int) -> bytes:
    """A fill pattern as bytes; its length is 1, 2 or 4."""
    if length not in (1, 2, 4):
        raise invalid_argument(f"fill value length ({length}) must be 1, 2, or 4")
    return (pattern & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little")[:length]

"""Recording HAL commands and replaying them into Metal encoders.

Commands are checked when recorded and kept as small objects; each submission replays them into
a fresh MTLCommandBuffer, with indirect buffers taken from the submission's binding table.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Protocol

from ..buffer import Buffer
from ..device import BufferRef, CommandBuffer, Executable
from ..status import StatusError, invalid_argument, out_of_range
from .encoding import Encoding
from .executable import MetalExecutable, MetalPipeline
from .msl import MslExecutable
from .staging import Staging

_CONSTANTS = 3
"""The index at which kernels of IREE's compiler take their constants."""
Arguments = tuple[Any, int, Sequence[Any]]
"""An argument buffer: MTLBuffer, byte offset, and the MTLBuffers that it refers to."""


class Command(Protocol):
    """One recorded command; `staging` is the staging bytes it needs at each replay."""

    staging: int

    def encode(self, encoding: Encoding) -> None:
        """Replay into the encoders."""


class Barrier:
    """Everything before is visible to everything after."""

    __slots__ = ("staging",)

    def __init__(self) -> None:
        self.staging = 0

    def encode(self, encoding: Encoding) -> None:
        """Replay."""
        encoding.barrier()


class DebugGroup:
    """Opens (with a label) or closes a group."""

    __slots__ = ("_label", "staging")

    def __init__(self, label: str | None) -> None:
        self.staging = 0
        self._label = label

    def encode(self, encoding: Encoding) -> None:
        """Replay."""
        encoding.debug_group(self._label)


class FillCommand:
    """A fill with a repeated pattern."""

    __slots__ = ("_pattern", "_target", "staging")

    def __init__(self, target: BufferRef, pattern: bytes) -> None:
        self._target = target
        self._pattern = pattern
        self.staging = 0

    def encode(self, encoding: Encoding) -> None:
        """Replay."""
        target = encoding.resolve(self._target)
        _, offset, length = target
        if length % len(self._pattern) or offset % len(self._pattern):
            raise invalid_argument(
                f"attempting to fill a range (offset={offset}, length={length}) that is not "
                f"aligned to the pattern of {len(self._pattern)} bytes"
            )
        if length:
            encoding.fill(target, self._pattern)


class UpdateCommand:
    """Host bytes into a buffer, through the staging buffer."""

    __slots__ = ("_data", "_target", "staging")

    def __init__(self, data: bytes, target: BufferRef) -> None:
        self._data = data
        self._target = target
        self.staging = len(data)

    def encode(self, encoding: Encoding) -> None:
        """Replay."""
        target = encoding.resolve(self._target)
        if target[2] != len(self._data):
            raise invalid_argument(f"an update of {target[2]} bytes with {len(self._data)}")
        if self._data:
            encoding.copy(*encoding.upload(self._data), target)


class CopyCommand:
    """Buffer to buffer."""

    __slots__ = ("_source", "_target", "staging")

    def __init__(self, source: BufferRef, target: BufferRef) -> None:
        self._source = source
        self._target = target
        self.staging = 0

    def encode(self, encoding: Encoding) -> None:
        """Replay."""
        source, source_offset, length = encoding.resolve(self._source)
        target = encoding.resolve(self._target)
        if length != target[2]:
            raise invalid_argument(f"a copy of {length} bytes into {target[2]}")
        if source is target[0] and abs(source_offset - target[1]) < length:
            raise invalid_argument("attempted to copy between overlapping ranges of one buffer")
        if length:
            encoding.copy(source, source_offset, target)


class DispatchCommand:
    """A kernel over a grid of threadgroups."""

    __slots__ = ("_arguments", "_bindings", "_constants", "_groups", "_pipeline", "staging")

    def __init__(
        self,
        api: Any,
        pipeline: MetalPipeline,
        workgroups: tuple[int, int, int] | BufferRef,
        constants: Sequence[int],
        bindings: Sequence[BufferRef],
    ) -> None:
        self._pipeline = pipeline
        self._groups = (
            workgroups if isinstance(workgroups, BufferRef) else api.MTLSizeMake(*workgroups)
        )
        self._constants = struct.pack(
            f"<{len(constants)}I", *(word & 0xFFFFFFFF for word in constants)
        )
        members = pipeline.members
        self._bindings = [(index, ref) for index, ref in enumerate(bindings) if index in members]
        self._arguments: Arguments | None = None
        self.staging = pipeline.argument_length

    @property
    def is_direct(self) -> bool:
        """Whether it has bindings, all of them buffers and none a slot of a binding table."""
        return bool(self._bindings) and all(ref.buffer is not None for _, ref in self._bindings)

    def keep_arguments(self, encoding: Encoding, memory: Staging) -> None:
        """Writes the argument buffer into memory that all replays share."""
        place = memory.reserve(self._pipeline.argument_length)
        self._arguments = self._written(encoding, memory.handle, place)

    def _written(self, encoding: Encoding, target: Any, place: int) -> Arguments:
        arguments = self._pipeline.argument_encoder
        arguments.setArgumentBuffer_offset_(target, place)
        handles = []
        for index, reference in self._bindings:
            handle, offset, _ = encoding.resolve(reference)
            arguments.setBuffer_offset_atIndex_(handle, offset, index)
            handles.append(handle)
        return target, place, handles

    def encode(self, encoding: Encoding) -> None:
        """Replay, as IREE's driver does: state, constants at 3, argument buffer at 0, dispatch."""
        pipeline = self._pipeline
        encoder = encoding.compute()
        encoding.set_state(pipeline.state)
        if self._constants:
            encoding.set_bytes(self._constants, _CONSTANTS)
        if self._bindings:
            target, place, handles = self._arguments or self._written(
                encoding, *encoding.reserve(pipeline.argument_length)
            )
            encoding.use(handles)
            encoding.set_buffer(target, place, 0)
        groups = self._groups
        if isinstance(groups, BufferRef):
            handle, offset, length = encoding.resolve(groups)
            if length < 12 or offset % 4:
                raise invalid_argument(
                    f"workgroup counts take 12 bytes at a multiple of 4, not {length} at {offset}"
                )
            encoder.dispatchThreadgroupsWithIndirectBuffer_indirectBufferOffset_threadsPerThreadgroup_(
                handle, offset, pipeline.threads
            )
        else:
            encoder.dispatchThreadgroups_threadsPerThreadgroup_(groups, pipeline.threads)


class MetalCommandBuffer(CommandBuffer):
    """A recording.

    Of one that may be replayed often, argument buffers that are the same each time are written
    once: what they refer to stays where it is as long as the recording keeps it.
    """

    def __init__(self, api: Any, capacity: int, *, is_reused: bool = False) -> None:
        self._api = api
        self._is_reused = is_reused
        self._kept: list[DispatchCommand] = []
        self._memory: Staging | None = None
        self.capacity = capacity
        self.commands: list[Command] = []
        self.finalized = False
        self.staging = 0

    def finalize(self) -> None:
        """End the recording."""
        self._record_allowed()
        self.finalized = True
        self.staging = sum(max(0, command.staging) + 16 for command in self.commands)
        if self._is_reused:
            dispatches = (each for each in self.commands if isinstance(each, DispatchCommand))
            self._kept = [each for each in dispatches if each.is_direct]

    def replay(self, encoding: Encoding) -> None:
        """Encodes all commands."""
        if self._kept:
            self._keep_arguments(encoding)
        for command in self.commands:
            command.encode(encoding)
        encoding.end()

    def _keep_arguments(self, encoding: Encoding) -> None:
        """At the first replay: writes the argument buffers that stay the same."""
        size = sum(command.staging + 16 for command in self._kept)
        self._memory = encoding.pool.lasting(size)
        for command in self._kept:
            command.keep_arguments(encoding, self._memory)
        self._kept = []
        self.staging -= size

    def begin_debug_group(self, label: str) -> None:
        """Open a named group of commands."""
        self._add(DebugGroup(label))

    def end_debug_group(self) -> None:
        """Close the innermost group."""
        self._add(DebugGroup(None))

    def execution_barrier(self) -> None:
        """Later commands see what earlier ones wrote."""
        self._add(Barrier())

    def fill(self, target: BufferRef, pattern: bytes) -> None:
        """Fill a range with a repeated pattern."""
        self._check(target)
        self._add(FillCommand(target, pattern))

    def update(self, source: bytes, target: BufferRef) -> None:
        """Copy host bytes, taken now, into a range."""
        self._check(target)
        self._add(UpdateCommand(source, target))

    def copy(self, source: BufferRef, target: BufferRef) -> None:
        """Copy between ranges of equal length."""
        self._check(source)
        self._check(target)
        self._add(CopyCommand(source, target))

    def dispatch(
        self,
        executable: Executable,
        function: int,
        workgroups: tuple[int, int, int] | BufferRef,
        constants: Sequence[int],
        bindings: Sequence[BufferRef],
    ) -> None:
        """Run a kernel over workgroups."""
        if isinstance(executable, MslExecutable):
            for reference in bindings:
                self._check(reference)
            if isinstance(workgroups, BufferRef) or 0 not in workgroups:
                self._add(executable.dispatch(workgroups, constants, bindings))
            return
        if not isinstance(executable, MetalExecutable):
            raise invalid_argument("the executable was made for another device")
        pipeline = executable.pipeline(function)
        definition = pipeline.definition
        if len(constants) != definition.constants:
            raise invalid_argument(
                f"'{definition.name}' takes {definition.constants} constants, "
                f"{len(constants)} were provided"
            )
        if len(bindings) != definition.bindings:
            raise invalid_argument(
                f"'{definition.name}' takes {definition.bindings} bindings, "
                f"{len(bindings)} were provided"
            )
        for reference in bindings:
            self._check(reference)
        if isinstance(workgroups, BufferRef):
            self._check(workgroups)
        elif 0 in workgroups:
            return  # no work, and Metal refuses empty grids
        self._add(DispatchCommand(self._api, pipeline, workgroups, constants, bindings))

    def _add(self, command: Command) -> None:
        self._record_allowed()
        if len(self.commands) >= 1 << 20:
            raise StatusError("RESOURCE_EXHAUSTED", "a command buffer of over a million commands")
        self.commands.append(command)

    def _record_allowed(self) -> None:
        if self.finalized:
            raise StatusError("FAILED_PRECONDITION", "command buffer is not in a recording state")

    def _check(self, reference: BufferRef) -> None:
        buffer: Buffer | None = reference.buffer
        if buffer is not None:
            buffer.check_range(reference.offset, reference.length)
        elif self.capacity == 0:
            raise out_of_range(
                "binding table slot 0 referenced by buffer ref but the command buffer takes no "
                "binding table (a null buffer was passed)"
            )
        elif not 0 <= reference.slot < self.capacity:
            raise out_of_range(
                f"indirect binding slot {reference.slot} out of range of the command buffer's "
                f"capacity of {self.capacity}"
            )

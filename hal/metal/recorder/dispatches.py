"""One dispatch that is recorded: all that it can reach, before and after."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...recordings import (
    Bound,
    DispatchRecord,
    EncodedRecord,
    Inline,
    MemoryRecord,
)
from .bindings import Bindings
from .encoded import Encoded
from .memory import is_buffer
from .programs import NotRecorded

if TYPE_CHECKING:
    from .running import Run
    from .session import Session

_INDIRECT = "dispatchThreadgroupsWithIndirectBuffer"
_COUNTS = struct.Struct("<3I")
Size = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Grid:
    """How many threads, or threadgroups, and threads of one."""

    size: Size
    in_threads: bool
    threadgroup: Size


def size_of(run: Run, name: str, given: tuple[Any, ...]) -> Grid:
    """The grid of a dispatch; one whose size lies in a buffer is read now."""
    threadgroup = _size(given[-1])
    if name.startswith(_INDIRECT):
        words = run.contents(given[0])[int(given[1]) : int(given[1]) + _COUNTS.size]
        return Grid(_COUNTS.unpack(words), False, threadgroup)
    return Grid(_size(given[0]), name.startswith("dispatchThreads_"), threadgroup)


class Taken:
    """A dispatch whose inputs were read; `finish` reads what it left. Raises NotRecorded."""

    def __init__(
        self, session: Session, queue: Any, state: Bindings, grid: Grid, label: str
    ) -> None:
        self._session = session
        self._queue = queue
        self._buffers: list[Any] = []
        self._memories: list[MemoryRecord] = []
        self._encoded: list[EncodedRecord] = []
        state.check()
        assert state.pipeline is not None
        kernel = state.pipeline.number()
        writer = session.writer
        bound = tuple(
            self._bound(index, buffer, offset) for index, (buffer, offset) in state.buffers.items()
        )
        for resource in state.used:
            if not is_buffer(resource):
                raise NotRecorded("textures")
            self._memory(resource)
        self._record = DispatchRecord(
            kernel=kernel,
            grid=grid.size,
            in_threads=grid.in_threads,
            threadgroup=grid.threadgroup,
            bound=bound,
            inline=tuple(
                Inline(index=index, value=writer.add_bytes(data))
                for index, data in state.inline.items()
            ),
            threadgroup_memory=tuple(state.threadgroup_memory.items()),
            encoded=tuple(self._encoded),
            label=label,
        )

    def finish(self, done: Any) -> None:
        """Read what the dispatch left, and keep all of it."""
        error = done.error()
        record = replace(
            self._record,
            memories=tuple(map(self._after, self._buffers, self._memories)),
            begin=float(done.GPUStartTime()),
            end=float(done.GPUEndTime()),
            error="" if error is None else str(error.localizedDescription()),
        )
        self._session.keep(record)

    def _bound(self, index: int, buffer: Any, offset: int) -> Bound:
        encoded = self._session.encoded.at(buffer, offset)
        if encoded is None:
            return Bound(index=index, memory=self._memory(buffer), offset=offset)
        return Bound(index=index, memory=self._argument_buffer(encoded), offset=0)

    def _argument_buffer(self, encoded: Encoded) -> int:
        """The memory of an argument buffer: of its own, for the device alone knows its bytes."""
        if encoded.reason:
            raise NotRecorded(encoded.reason)
        number = len(self._memories)
        zeros = self._session.writer.add_bytes(bytes(encoded.length))
        self._buffers.append(None)
        self._memories.append(MemoryRecord(label="argument buffer", before=zeros, after=None))
        self._encoded.append(
            EncodedRecord(
                memory=number,
                offset=0,
                length=encoded.length,
                index=encoded.index,
                members=tuple(
                    self._bound(index, buffer, offset)
                    for index, (buffer, offset) in encoded.members.items()
                ),
            )
        )
        return number

    def _memory(self, buffer: Any) -> int:
        for number, known in enumerate(self._buffers):
            if known is buffer:
                return number
        label = buffer.label()
        address = getattr(buffer, "gpuAddress", None)
        self._buffers.append(buffer)
        self._memories.append(
            MemoryRecord(
                label=str(label or ""),
                before=self._session.writer.add_bytes(self._session.contents(self._queue, buffer)),
                after=None,
                address=int(address()) if address is not None else 0,
            )
        )
        return len(self._memories) - 1

    def _after(self, buffer: Any, memory: MemoryRecord) -> MemoryRecord:
        if buffer is None:
            return memory
        after = self._session.writer.add_bytes(self._session.contents(self._queue, buffer))
        return replace(memory, after=None if after == memory.before else after)


def _size(given: Any) -> Size:
    width, height, depth = (int(each) for each in given)
    return width, height, depth

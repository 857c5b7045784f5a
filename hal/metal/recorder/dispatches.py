"""One dispatch that is recorded: all that it can reach, before and after."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...recordings import DispatchRecord, Inline
from .allocations import ResidencySet
from .bindings import Bindings
from .reached import Reached, sampler_at

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
    """A dispatch whose inputs were read; `finish` reads what it left. Raises NotRecorded.

    It can reach what is bound or used in `state`, and what `resident` has.
    """

    def __init__(
        self,
        session: Session,
        queue: Any,
        state: Bindings,
        grid: Grid,
        label: str,
        resident: Sequence[ResidencySet] = (),
    ) -> None:
        self._session = session
        self._reached = Reached(session, queue)
        state.check()
        assert state.pipeline is not None
        kernel = state.pipeline.number()
        reached, writer = self._reached, session.writer
        bound = tuple(
            reached.buffer(index, buffer, offset)
            for index, (buffer, offset) in state.buffers.items()
        )
        textures = tuple(reached.texture(*each) for each in state.textures.items())
        reached.use((*state.used, *resident))
        self._record = DispatchRecord(
            kernel=kernel,
            grid=grid.size,
            in_threads=grid.in_threads,
            threadgroup=grid.threadgroup,
            memories=reached.before(),
            bound=bound,
            inline=tuple(
                Inline(index=index, value=writer.add_bytes(data))
                for index, data in state.inline.items()
            ),
            threadgroup_memory=tuple(state.threadgroup_memory.items()),
            encoded=tuple(reached.encoded),
            textures=textures,
            samplers=tuple(sampler_at(*each) for each in state.samplers.items()),
            tables=tuple(table.at(index) for index, table in state.tables.items()),
            label=label,
        )

    def finish(self, done: Any) -> None:
        """Read what the dispatch left, and keep all of it."""
        error = done.error()
        record = replace(
            self._record,
            memories=self._reached.after(),
            begin=float(done.GPUStartTime()),
            end=float(done.GPUEndTime()),
            error="" if error is None else str(error.localizedDescription()),
        )
        self._session.keep(record)


def _size(given: Any) -> Size:
    width, height, depth = (int(each) for each in given)
    return width, height, depth

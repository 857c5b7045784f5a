"""One call of a library's kernel: what it was passed, and its memory before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.hal.metal.recorder import Session
from assay.hal.recordings import (
    Bound,
    DispatchRecord,
    Inline,
    KernelRecord,
    LibraryRecord,
    MemoryRecord,
)

Size = tuple[int, int, int]
Data = NDArray[np.uint8]
_ADDRESSES = 1 << 40  # of a memory, whose addresses only its library knows
RAISED = "calls that raised"


class Kernels:
    """Kernels of sources by their numbers in a recording."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._libraries: dict[tuple[str, int], int] = {}
        self._kernels: dict[tuple[int, str], int] = {}

    def number(self, source: str, math_mode: int, name: str) -> int:
        """The number of a kernel of a source; `math_mode` is an MTLMathMode."""
        writer = self._session.writer
        library = self._libraries.get((source, math_mode))
        if library is None:
            library = writer.add_library(
                LibraryRecord(
                    data=writer.add_bytes(source.encode()),
                    compiled=False,
                    options={"mathMode": math_mode},
                )
            )
            self._libraries[source, math_mode] = library
        kernel = self._kernels.get((library, name))
        if kernel is None:
            kernel = writer.add_kernel(KernelRecord(library=library, name=name))
            self._kernels[library, name] = kernel
        return kernel


@dataclass(frozen=True, slots=True)
class _Read:
    """A memory, and how to read what it holds now."""

    memory: MemoryRecord
    read: Callable[[], Data]


class Call:
    """A call that is about to run; `finish` keeps it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._memories: dict[int, int] = {}
        self._read: list[_Read] = []
        self._bound: list[Bound] = []
        self._inline: list[Inline] = []

    def memory(
        self, key: int, label: str, read: Callable[[], Data], before: Data | None = None
    ) -> int:
        """The number of a memory, which `key` tells from others; `before` if not what it holds."""
        known = self._memories.get(key)
        if known is not None:
            return known
        number = self._memories[key] = len(self._read)
        held = read() if before is None else before
        record = MemoryRecord(
            label=label,
            before=self._session.writer.add_bytes(held.data),
            after=None,
            address=self.address(number),
        )
        self._read.append(_Read(record, read))
        return number

    def bind(self, index: int, memory: int, offset: int) -> None:
        """Pass byte `offset` of a memory."""
        self._bound.append(Bound(index=index, memory=memory, offset=offset))

    def value(self, index: int, data: bytes) -> None:
        """Pass bytes by value."""
        self._inline.append(Inline(index=index, value=self._session.writer.add_bytes(data)))

    @staticmethod
    def address(memory: int) -> int:
        """What stands for the address of a memory: replays put their own in its place."""
        return (memory + 1) * _ADDRESSES

    def finish(
        self, kernel: int, grid: Size, threadgroup: Size, times: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        """Read what the call left, and keep all of it; `times` are those of the GPU in seconds."""
        writer = self._session.writer
        memories = []
        for each in self._read:
            after = writer.add_bytes(each.read().data)
            memories.append(
                replace(each.memory, after=None if after == each.memory.before else after)
            )
        self._session.keep(
            DispatchRecord(
                kernel=kernel,
                grid=grid,
                in_threads=True,
                threadgroup=threadgroup,
                memories=tuple(memories),
                bound=tuple(self._bound),
                inline=tuple(self._inline),
                begin=times[0],
                end=times[1],
            )
        )

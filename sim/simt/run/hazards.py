"""Which grids may run at the same time, by the buffers that are bound to their kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import context as c

if TYPE_CHECKING:
    from .grid import Grid

_Span = tuple[int, int]
"""Host addresses of a buffer's first byte and of the byte behind its last."""


class Uses:
    """The buffers that some grids use, which may all run at the same time.

    Buffers count as a whole: how far a kernel goes from the place that is bound is not known. They
    are compared by the memory they lie in, since two may share it. What kernels find through
    addresses in memory does not count, since nobody can tell: whoever gives such grids together
    vouches for that.
    """

    def __init__(self, grid: Grid) -> None:
        needs = grid.executable.program.needs
        self._written = _spans(grid, needs.written)
        self._read = _spans(grid, needs.read)
        self._is_closed = needs.serial

    def admit(self, other: Uses) -> bool:
        """Add a grid; False, and nothing added, if it has to run after those that are here.

        One whose threadgroups run in order stays alone: its atomics would show when others run.
        """
        if (
            self._is_closed
            or other._is_closed
            or _meet(other._written, self._written)
            or _meet(other._written, self._read)
            or _meet(other._read, self._written)
        ):
            return False
        self._written += other._written
        self._read += other._read
        return True


def _spans(grid: Grid, numbers: tuple[int, ...]) -> list[_Span]:
    """Where the buffers lie that are bound to these parameters."""
    table, arguments = grid.launch.memory.table, grid.launch.arguments
    found = []
    for number in numbers:
        handle = arguments[number] >> c.HANDLE_SHIFT
        if handle < c.TABLE_ENTRIES:
            start, size = table[handle].tolist()
            found.append((start, start + size))
    return found


def _meet(some: list[_Span], others: list[_Span]) -> bool:
    for start, end in some:
        for other, other_end in others:
            if start < other_end and other < end:
                return True
    return False

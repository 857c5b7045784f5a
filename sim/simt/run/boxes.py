"""Cuts a grid into boxes of threadgroups of one shape."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from ..analysis.uniform_facts import MAX_THREADGROUPS
from ..ir.shape import Shape
from .executable import Executable
from .program import Program

Size = tuple[int, int, int]


class DispatchError(ValueError):
    """A dispatch that the engine cannot start: sizes or arguments do not fit the kernel."""


@dataclass(frozen=True, slots=True)
class Box:
    """Threadgroups of one shape: `origin` and `extent` in threadgroups, in x perhaps of packs."""

    executable: Executable
    origin: Size
    extent: Size

    @property
    def count(self) -> int:
        """Threadgroups in the box, or packs of them."""
        return self.extent[0] * self.extent[1] * self.extent[2]


def check_arguments(program: Program, arguments: Sequence[int]) -> None:
    """Make sure that a kernel is given as many arguments as it takes.

    Raises:
        DispatchError: if it is not.
    """
    if len(arguments) != len(program.parameters):
        raise DispatchError(
            f"kernel {program.name!r} takes {len(program.parameters)} arguments, "
            f"{len(arguments)} given"
        )


def boxes_of(
    executable: Executable,
    threads: Size | None,
    threadgroups: Size | None,
    *,
    packed: bool = True,
) -> tuple[list[Box], Size, Size]:
    """(boxes of equal shapes, threadgroups per grid, threads per grid).

    Several threadgroups run at once only if they are `packed`, and the kernel is made for it.

    Raises:
        DispatchError: for a grid that is too large, or given twice or not at all.
    """
    size = executable.shape.size
    if (threads is None) == (threadgroups is None):
        raise DispatchError("give either 'threads' or 'threadgroups'")
    if threadgroups is not None:
        _check_grid(threadgroups, size)
        x, y, z = (g * s for g, s in zip(threadgroups, size, strict=True))
        boxes = _in_packs(Box(executable, (0, 0, 0), threadgroups), packed=packed)
        return boxes, threadgroups, (x, y, z)
    assert threads is not None
    spans = []
    for total, step in zip(threads, size, strict=True):
        whole, rest = divmod(total, step)
        spans.append([(0, whole, step), (whole, 1, rest)] if rest else [(0, whole, step)])
    gx, gy, gz = (sum(count for _, count, _ in span) for span in spans)
    _check_grid((gx, gy, gz), size)
    boxes = []
    for (x, nx, sx), (y, ny, sy), (z, nz, sz) in itertools.product(*spans):
        if nx * ny * nz:
            shape = Shape(size=(sx, sy, sz), nominal=size)
            shaped = executable.program.specialise_shape(
                shape, executable.observers, quick=executable.quick
            )
            boxes += _in_packs(Box(shaped, (x, y, z), (nx, ny, nz)), packed=packed)
    return boxes, (gx, gy, gz), threads


def _in_packs(box: Box, *, packed: bool) -> list[Box]:
    """The packs of a box whose executable runs several threadgroups at once, and the rest."""
    executable, (x, y, z), (nx, ny, nz) = box.executable, box.origin, box.extent
    packs = executable.packs
    if packs == 1:
        return [box]
    whole = nx // packs if packed and x % packs == 0 else 0
    boxes = [Box(executable, box.origin, (whole, ny, nz))] if whole else []
    if nx > whole * packs:
        alone = executable.program.specialise_shape(
            executable.shape, executable.observers, quick=executable.quick, packed=False
        )
        first = (x + whole * packs, y, z)
        boxes.append(Box(alone, first, (nx - whole * packs, ny, nz)))
    return boxes


def _check_grid(groups: Size, size: Size) -> None:
    for axis, count, step in zip("xyz", groups, size, strict=True):
        if count < 0 or count >= MAX_THREADGROUPS or count * step >= 1 << 31:
            raise DispatchError(
                f"{count} threadgroups of {step} threads in {axis}; at most "
                f"{MAX_THREADGROUPS - 1} threadgroups and {(1 << 31) - 1} threads are possible"
            )

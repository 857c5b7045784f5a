"""Tiles that operations state themselves: as pass `tile` has chosen them, or somebody by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...models.errors import ModelError
from ..hl.tiles import Tiles
from ..kernels.kernel import Kernel
from ..kernels.variants import variants
from ..operators.operator import Operator
from .network import Job
from .tiling.sums import SumTiling, stated_sums
from .tiling.tiling import Tiling


def stated_tiling(job: Job, tiles: Tiles) -> Tiling:
    """The kernel and the tiles that an operator states. Raises ModelError."""
    kernel = stated_kernel(job, tiles)
    shape = job.op.y.shape
    steps = {dim.axis: dim.granularity for dim in kernel.tile_dims(job.op)}
    if len(tiles.sizes) != len(shape):
        raise unfit(job, f"{len(tiles.sizes)} sizes of tiles for {len(shape)} axes")
    for axis, (size, whole) in enumerate(zip(tiles.sizes, shape, strict=True)):
        step = steps.get(axis, whole)
        if size > whole or (size != whole and size % step):
            needed = f"multiples of {step}" if axis in steps else "whole"
            raise unfit(job, f"tiles of {size} along axis {axis}, which has {whole}, {needed}")
    return Tiling(kernel=kernel, sizes=tiles.sizes, axes=tiles.order)


def stated_sum_tiling(job: Job, tiles: Tiles, slices: int) -> SumTiling:
    """The kernel and the parts of sums that an operator states. Raises ModelError."""
    found = stated_sums(job.op, stated_kernel(job, tiles), tiles.terms, slices)
    if found is None:
        raise unfit(job, f"sums of {tiles.terms} terms at a time")
    return found


def stated_kernel(job: Job, tiles: Tiles) -> Kernel[Any]:
    """The kernel of that name. Raises ModelError."""
    kernels: Sequence[Kernel[Operator]] = variants(job.op)
    for kernel in kernels:
        if kernel.name == tiles.kernel:
            return kernel
    known = ", ".join(kernel.name for kernel in kernels)
    raise unfit(job, f"kernel {tiles.kernel!r}; there are {known}")


def stated_members(jobs: Sequence[Job], first: int) -> list[Job]:
    """The operators that are stated to be done together with one, from that on."""
    found: list[Job] = []
    group = jobs[first].tiles
    for job in jobs[first:]:
        if group is None or job.tiles is None or job.tiles.group != group.group:
            break
        found.append(job)
    return found


def unfit(job: Job, what: str) -> ModelError:
    """What to say of tiles that an operator cannot have."""
    return ModelError(f"{job.place}: its attribute tiles asks for {what}")

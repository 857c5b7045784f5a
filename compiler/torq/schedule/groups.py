"""Which operators are done together, tile by tile: what they make for each other stays in LRAM.

A tile is some rows of the last result; what that reads of earlier results is made for the tile,
and again for the next tile where windows overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from ..kernels.alike import Alike
from ..kernels.kernel import Kernel, TileDim
from ..operators.operator import Operator
from ..operators.tensors import Region
from ..slice.lram import ALIGNMENT
from .network import Job, Network
from .tiling.search import cycles_of_bytes, padding_of
from .tiling.tiler import Tiler

_ROWS = 2
"""The axis of (n, c, h, w) along which tiles are cut."""
_LONGEST = 8
"""Operators in a group."""
_PARTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 112, 120)
"""Into how many tiles a result is cut."""
_CYCLES_PER_RUN = 400
"""What an operator of a tile costs besides what it computes: commands, starts, waits."""
_LEAST = 48 << 10
"""Bytes that stay free beside what is kept, for later operators."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Operators in order; `rows` of the last one's result are a tile. `stays`: it is kept."""

    jobs: tuple[Job, ...]
    rows: int
    stays: bool = False


@dataclass(frozen=True, kw_only=True)
class _State:
    """What a search starts from: the kept values with their bytes, what is free besides, and how
    much of that tiles leave free."""

    kept: Mapping[SSAValue, int]
    free: int
    margin: int


class GroupSearch:
    """Looks for the groups that save the most, by what is moved and what kernels cost.

    If they are `roomy`, there is room for the largest result of a tile twice.
    """

    def __init__(self, network: Network, tiler: Tiler, *, roomy: bool = False) -> None:
        self._network, self._tiler, self._roomy = network, tiler, roomy
        self._found: dict[object, Group | None] = {}
        """What was found before: a network is planned again and again from some operator on."""
        self._constants: dict[Operator, int] = {}
        self._readers: dict[SSAValue, list[int]] = {}
        self._indirect: set[SSAValue] = {network.root(value) for value, _ in network.copies}
        for number, job in enumerate(network.jobs):
            for value in job.operands.values():
                root = network.root(value)
                self._readers.setdefault(root, []).append(number)
                if root is not value:
                    self._indirect.add(root)

    def best(
        self, first: int, kept: Mapping[SSAValue, int], free: int, margin: int
    ) -> Group | None:
        """The group from an operator on that saves the most; None if none saves anything.

        Beside what is kept `free` bytes are there, of which tiles leave a `margin`.
        """
        key = first, frozenset(kept.items()), free, margin
        if key not in self._found:
            self._found[key] = self._best(first, _State(kept=kept, free=free, margin=margin))
        return self._found[key]

    def _best(self, first: int, state: _State) -> Group | None:
        jobs = self._network.jobs
        found: Group | None = None
        most = 0
        alone = self._alone(first, state)
        for stop in range(first + 2, min(len(jobs), first + _LONGEST) + 1):
            if not self._has_rows(jobs[first]) or not self._has_rows(jobs[stop - 1]):
                break
            alone += self._alone(stop - 1, state)
            if self._is_closed(first, stop) and self._lie_alike(first, stop, state.kept):
                timed = self._timed(first, stop, state)
                if timed is not None and alone - timed[0] > max(most, alone // 50):
                    most, found = alone - timed[0], timed[1]
        return found

    def may_be(self, first: int, stop: int, kept: Mapping[SSAValue, int]) -> bool:
        """Whether operators can be done together, if there is room."""
        return (
            all(self._has_rows(job) for job in self._network.jobs[first:stop])
            and self._is_closed(first, stop)
            and self._lie_alike(first, stop, kept)
        )

    def step(self, job: Job) -> int:
        """Rows of a result of which its tiles have multiples."""
        dim = self._dim(job)
        assert dim is not None
        return dim.granularity

    def regions(self, group: Group) -> Iterator[list[Region | None]]:
        """For each tile what each operator makes, None of one that the tile needs nothing of."""
        shape = group.jobs[-1].op.y.shape
        for start in range(0, shape[_ROWS], group.rows):
            yield self._wanted(group.jobs, start, min(group.rows, shape[_ROWS] - start))

    def _has_rows(self, job: Job) -> bool:
        if len(job.op.y.shape) != 4 or self._tiler.is_too_long(job.op):
            return False
        return self._dim(job) is not None

    def _dim(self, job: Job) -> TileDim | None:
        dims = self._kernel(job).tile_dims(job.op)
        return next((dim for dim in dims if dim.axis == _ROWS), None)

    def _kernel(self, job: Job) -> Kernel[Any]:
        return self._tiler.kernel(job.op)

    def _is_closed(self, first: int, stop: int) -> bool:
        """Whether nobody else reads what the operators but the last one make."""
        for job in self._network.jobs[first : stop - 1]:
            readers = self._readers.get(job.result, [])
            if job.result in self._indirect or not readers or max(readers) >= stop:
                return False
            if self._network.homes[job.result].storage.role.value == "output":
                return False
        return True

    def _lie_alike(self, first: int, stop: int, among: Mapping[SSAValue, int]) -> bool:
        """Whether no operator reads a part of something that is kept beside a tile."""
        for job in self._network.jobs[first:stop]:
            kept = {self._network.root(value) in among for value in job.operands.values()}
            if isinstance(self._kernel(job), Alike) and len(kept) > 1:
                return False
        return True

    def _alone(self, number: int, state: _State) -> int:
        """Cycles of an operator by itself, as far as what is kept is known."""
        job = self._network.jobs[number]
        moved = self._constant_bytes(job)
        for name, value in job.operands.items():
            size = job.op.tensors[name].bytes_
            root = self._network.root(value)
            here = root in state.kept or self._would_stay(root, size, state)
            moved += 0 if here else size
        stays = self._would_stay(job.result, job.op.y.bytes_, state)
        moved += 0 if stays else job.op.y.bytes_
        transfers, work = cycles_of_bytes(moved), self._tiler.cost(job.op)
        return max(transfers, work) + min(transfers, work) // 8 + _CYCLES_PER_RUN

    def _would_stay(self, value: SSAValue, size: int, state: _State) -> bool:
        """Whether a result is likely to be kept between two operators by themselves."""
        return value in self._readers and 2 * size + _LEAST <= state.free

    def _constant_bytes(self, job: Job) -> int:
        if job.op not in self._constants:
            specs = self._kernel(job).constants(job.op, Region.whole(job.op.y.shape))
            self._constants[job.op] = sum(spec.bytes_ for spec in specs)
        return self._constants[job.op]

    def _wanted(self, jobs: Sequence[Job], start: int, rows: int) -> list[Region | None]:
        """What each operator makes for some rows of the last one's result.

        Rows of a concatenation, or of padding, need nothing of some operators.
        """
        last = jobs[-1]
        wanted = {last.result: Region.whole(last.op.y.shape).along(_ROWS, start, rows)}
        for job in reversed(jobs):
            if job.result not in wanted:
                continue
            region = wanted[job.result] = self._rounded(job, wanted[job.result])
            for need in self._kernel(job).input_regions(job.op, region):
                value = job.operands[need.operand]
                if any(value is other.result for other in jobs):
                    wanted[value] = _both(wanted.get(value), need.region)
        return [wanted.get(job.result) for job in jobs]

    def _rounded(self, job: Job, region: Region) -> Region:
        """All columns and channels of a region's rows, in whole steps of the kernel's tiles."""
        dim = self._dim(job)
        assert dim is not None
        step, height = dim.granularity, job.op.y.shape[_ROWS]
        start = region.starts[_ROWS] // step * step
        stop = min(height, -(-region.stops[_ROWS] // step) * step)
        return Region.whole(job.op.y.shape).along(_ROWS, start, stop - start)

    def _timed(self, first: int, stop: int, state: _State) -> tuple[int, Group] | None:
        """The fewest cycles of a group, with its rows; None if no tile fits."""
        jobs = tuple(self._network.jobs[first:stop])
        last = jobs[-1]
        dim = self._dim(last)
        assert dim is not None
        height, size = last.op.y.shape[_ROWS], last.op.y.bytes_
        stays = self._would_stay(last.result, size, state)
        free = state.free - state.margin - (size + ALIGNMENT if stays else 0)
        best: tuple[int, Group] | None = None
        tried: set[int] = set()
        for count in _PARTS:
            rows = -(-height // count // dim.granularity) * dim.granularity
            if rows in tried:
                continue
            tried.add(rows)
            group = Group(jobs=jobs, rows=rows, stays=stays)
            cycles = self._cycles(group, state, free)
            if cycles is not None and (best is None or cycles < best[0]):
                best = cycles, group
        return best

    def _cycles(self, group: Group, state: _State, free: int) -> int | None:
        """Cycles of a group, from a tile in the middle; None if it does not fit."""
        jobs, last = group.jobs, group.jobs[-1]
        height = last.op.y.shape[_ROWS]
        tiles = -(-height // group.rows)
        start = min(tiles // 2, max(0, tiles - 2)) * group.rows
        regions = self._wanted(jobs, start, min(group.rows, height - start))
        tile = [(job, r) for job, r in zip(jobs, regions, strict=True) if r is not None]
        own = {job.result: job.op.y.of(region).bytes_ for job, region in tile}
        constants = sum(self._constant_bytes(job) for job in jobs)
        loaded, live, work = 0, 0, 0
        made = {job.result: region for job, region in tile}
        for job, region in tile:
            read = 0
            alike = isinstance(self._kernel(job), Alike) and len(job.operands) > 1
            for need in self._kernel(job).input_regions(job.op, region):
                value = job.operands[need.operand]
                size = job.op.tensors[need.operand].of(need.region).bytes_
                if alike and made.get(value, need.region) != need.region:
                    return None  # one operand lies as the tile, another one would not
                if value in own:
                    read += own[value]
                elif self._network.root(value) not in state.kept:
                    loaded += size
            scratch = self._kernel(job).scratch(job.op, region).values()
            live = max(live, read + own[job.result] + sum(kind.bytes_ for kind in scratch))
            part = region.sizes[_ROWS] / job.op.y.shape[_ROWS]
            part *= padding_of(self._kernel(job), job.op, region.sizes)
            work += int(self._tiler.cost(job.op) * part) + _CYCLES_PER_RUN
        stored = 0 if group.stays else own[last.result]
        room = constants + 2 * (loaded + stored) + live + self._roomy * max(own.values())
        if room > free:
            return None
        transfers = cycles_of_bytes(constants + tiles * (loaded + stored))
        ends = cycles_of_bytes(loaded + stored)
        return max(transfers, tiles * work) + min(transfers, tiles * work) // 8 + ends


def _both(one: Region | None, other: Region) -> Region:
    """The least region with both."""
    if one is None:
        return other
    starts = tuple(min(pair) for pair in zip(one.starts, other.starts, strict=True))
    stops = (max(pair) for pair in zip(one.stops, other.stops, strict=True))
    return Region(starts=starts, sizes=tuple(b - a for a, b in zip(starts, stops, strict=True)))

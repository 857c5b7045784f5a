"""From a network to a schedule: tiles one after the other, tensors kept in LRAM where they fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import SSAValue

from ...models.errors import ModelError
from ..operators.tensors import Region
from ..slice.errors import IllegalSliceProgram
from ..slice.lram import ALIGNMENT
from .allocate import NoRoom, addresses_of, bounds
from .groups import Group, GroupSearch
from .in_turn import in_turn
from .job_tiles import CODE_BYTES, InTheWay, JobTiles, NotTogether
from .network import Job, Network, home_of
from .options import Options
from .overlap import overlapped
from .steps import Buffer, LoadTile, Plan, Spot, Start, StoreTile
from .storage import Home, Storage, packed
from .tile_search import cycles_of_bytes
from .tiles import Tiler
from .tiling import Tiling
from .transfers import moves_of, tile_tensor

_SLICES = 2
_WORTH_KEEPING = 0.7
"""Which part of a later load counts against tiles that are slower because a result is kept."""
_MARGIN = 32 << 10
_MOST_MARGIN = 256 << 10
"""How much less than what is free tiles take, for want of room in one piece."""
_ENOUGH_MARGIN = 64 << 10
"""How much less they take before something that is kept is given up."""
_LEAST = 48 << 10
"""Bytes that stay free for tiles beside what is kept."""


@dataclass(kw_only=True)
class Kept:
    """A tensor that is in LRAM as a whole, until the job `last` is done."""

    buffer: Buffer
    last: int


def planned(network: Network, options: Options) -> Plan:
    """The schedule of a network. Raises ModelError for what does not fit.

    What was kept and turns out to be in the way is given up, the largest first, until all fits.
    """
    tiler = Tiler(options)
    given_up: set[SSAValue] = set()
    margins: dict[str, int] = {}
    alone: set[str] = set()
    groups = GroupSearch(network, tiler)
    while True:
        planner = Planner(
            network=network,
            tiler=tiler,
            given_up=given_up,
            margins=margins,
            keeps=options.keep,
            groups=groups,
            alone=alone,
        )
        try:
            planner.run()
            return overlapped(planner.starts) if options.double_buffer else _in_turn(planner.starts)
        except InTheWay as error:
            given_up.add(error.value)
        except NotTogether as error:
            alone.add(str(error))
        except NoRoom as error:
            name = planner.leaders.get(error.buffer.job, error.buffer.job)
            margin = margins.get(name, 0) + _MARGIN
            value = planner.largest((error.buffer,)) or planner.largest(error.others)
            if value is not None and margin > _ENOUGH_MARGIN:
                given_up.add(value)
            elif margin > _MOST_MARGIN:
                raise ModelError(str(error)) from None
            else:
                margins[name] = margin


def _in_turn(starts: list[Start]) -> Plan:
    """The plan without overlap. Raises NoRoom."""
    steps = in_turn(starts)
    addresses, peak = addresses_of(steps)
    return Plan(steps=steps, addresses=addresses, peak=peak)


@dataclass(kw_only=True)
class Planner:
    """One attempt."""

    network: Network
    tiler: Tiler
    given_up: set[SSAValue]
    margins: dict[str, int]
    """Bytes by job that its tiles leave free."""
    keeps: bool
    groups: GroupSearch
    alone: set[str]
    """Operators that do not begin a group."""
    starts: list[Start] = field(default_factory=list)
    leaders: dict[str, str] = field(default_factory=dict)
    """By operator of a group the first one."""
    kept: dict[SSAValue, Kept] = field(default_factory=dict)
    _all: dict[Buffer, SSAValue] = field(default_factory=dict)
    _constants: dict[tuple[str, bytes], Storage] = field(default_factory=dict)
    _uses: dict[SSAValue, int] = field(default_factory=dict)

    def run(self) -> None:
        """Schedules all operators. Raises InTheWay and ModelError."""
        for number, job in enumerate(self.network.jobs):
            for value in job.operands.values():
                self._uses[self.network.root(value)] = number
        number = 0
        while number < len(self.network.jobs):
            group = self._group(number)
            number += len(group.jobs)
            if len(group.jobs) > 1:
                self._together(group)
            else:
                self._job(group.jobs[0])
            for value in [v for v, kept in self.kept.items() if kept.last < number]:
                del self.kept[value]
        for value, home in self.network.copies:
            self._copy(home_of(value, self.network), home)

    def largest(self, buffers: tuple[Buffer, ...]) -> SSAValue | None:
        """The value in the largest of some buffers that are kept."""
        mine = [buffer for buffer in buffers if buffer in self._all]
        return self._all[max(mine, key=lambda buffer: buffer.size)] if mine else None

    def _free(self, job: Job) -> int:
        """Bytes of LRAM beside what is kept, and room for commands."""
        start, end = bounds()
        taken = sum(kept.buffer.size + ALIGNMENT for kept in self.kept.values())
        return end - start - taken - _SLICES * CODE_BYTES - self.margins.get(job.name, 0)

    def _group(self, number: int) -> Group:
        """The operators that are best done together for each tile, from one on."""
        job = self.network.jobs[number]
        alone = Group(jobs=(job,), rows=0)
        if not self.keeps or job.name in self.alone:
            return alone
        sizes = {value: kept.buffer.size for value, kept in self.kept.items()}
        return self.groups.best(number, sizes, self._free(job)) or alone

    def _together(self, group: Group) -> None:
        """Schedules the tiles of several operators, all of them for each tile."""
        last = group.jobs[-1]
        result = Buffer(job=group.jobs[0].name, name=last.name, size=last.op.y.bytes_, stays=True)
        if group.stays and last.result not in self.given_up:
            self._keep(last, result)
        self.leaders |= {job.name: group.jobs[0].name for job in group.jobs}
        made: dict[SSAValue, tuple[Spot, Region]] = {}
        tiles = [
            JobTiles(
                planner=self,
                job=job,
                kernel=self.tiler.kernel(job.op),
                made=made,
                passes_on=job is not last,
            )
            for job in group.jobs
        ]
        try:
            for regions in self.groups.regions(group):
                made.clear()
                for own, region in zip(tiles, regions, strict=True):
                    own.tile(region)
        except (IllegalSliceProgram, InTheWay, ModelError):
            raise NotTogether(group.jobs[0].name) from None

    def _keep(self, job: Job, result: Buffer) -> None:
        self._all[result] = job.result
        self.kept[job.result] = Kept(buffer=result, last=self._uses[job.result])

    def _job(self, job: Job) -> None:
        """Chooses where the result goes, and schedules the tiles."""
        op = job.op
        resident = frozenset(
            name for name, v in job.operands.items() if self.network.root(v) in self.kept
        )
        free = self._free(job)
        tiling = self._tiling(job, free, resident)
        result = Buffer(job=job.name, name=job.name, size=op.y.bytes_, stays=True)
        stays = False
        if self._may_stay(job, free):
            kept = self._tiling(job, free - result.size - ALIGNMENT, resident | {"y"})
            loads = cycles_of_bytes(result.size) * _WORTH_KEEPING
            if kept is not None and (tiling is None or kept.cycles <= tiling.cycles + loads):
                tiling, stays = kept, True
        if tiling is None:
            raise self._too_large(job)
        if stays:
            self._keep(job, result)
        tiles = JobTiles(planner=self, job=job, kernel=tiling.kernel)
        for out in tiling.regions(op.y.shape):
            tiles.tile(out)

    def _may_stay(self, job: Job, free: int) -> bool:
        used = self._uses.get(job.result, -1) >= 0
        room = free - job.op.y.bytes_ >= _LEAST
        return self.keeps and used and room and job.result not in self.given_up

    def _tiling(self, job: Job, free: int, resident: frozenset[str]) -> Tiling | None:
        try:
            return self.tiler.tiling(job.op, free, resident)
        except IllegalSliceProgram as error:
            raise ModelError(f"{job.name}: {error}") from error

    def _too_large(self, job: Job) -> Exception:
        """What to do when no tile fits: give something up that is kept, or give up."""
        value = self.largest(tuple(kept.buffer for kept in self.kept.values()))
        if value is not None:
            return InTheWay(value)
        return ModelError(f"{job.name}: even the smallest tile does not fit into LRAM")

    def is_returned(self, job: Job) -> bool:
        """Whether a result is wanted in XRAM beside where it is kept."""
        home = self.network.homes[job.result]
        return home.storage.role.value == "output" or any(
            self.network.root(value) is job.result for value, _ in self.network.copies
        )

    def constant(self, name: str, data: Any) -> Storage:
        """Constants in XRAM, once for all that are alike."""
        made = packed(name, data)
        assert made.data is not None
        return self._constants.setdefault((name, made.data), made)

    def _copy(self, source: Home, target: Home) -> None:
        """Moves a whole tensor in pieces of its outermost dimension that has several steps."""
        kind = source.kind
        axis = next((at for at, size in enumerate(kind.shape[:2]) if size > 1), 0)
        for start in range(kind.shape[axis]):
            region = Region.whole(kind.shape).along(axis, start, 1)
            tensor = tile_tensor(source.storage.name, kind, region)
            buffer = Buffer(job="", name=tensor.name, size=kind.of(region).bytes_)
            load = moves_of(source, region, tensor)
            store = moves_of(target, region, tensor)
            self.starts.append(LoadTile(storage=source.storage, buffer=buffer, moves=load))
            self.starts.append(StoreTile(storage=target.storage, buffer=buffer, moves=store))

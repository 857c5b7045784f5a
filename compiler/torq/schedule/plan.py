"""From a network to a schedule: tiles one after the other, tensors kept in LRAM where they fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from xdsl.ir import SSAValue

from ...models.errors import ModelError
from ..hl.tiles import Tiles
from ..operators.tensors import Region
from ..slice.errors import IllegalSliceProgram
from ..slice.lram import ALIGNMENT
from .allocate import NoRoom, bounds, turned_as_needed, with_addresses
from .groups import Group, GroupSearch
from .in_turn import in_turn
from .job_tiles import CODE_BYTES, InTheWay, JobTiles, NotTogether
from .network import Job, Network, home_of
from .options import Options
from .overlap import overlapped
from .play import played
from .stated import stated_members, stated_sum_tiling, stated_tiling, unfit
from .steps import Buffer, LoadTile, Plan, Spot, Start, StoreTile
from .storage import Home, Packing, Storage, packed
from .tiling.search import cycles_of_bytes
from .tiling.shares import Balance
from .tiling.sums import SumTiling
from .tiling.tiler import Tiler
from .tiling.tiling import Tiling
from .transfers import moves_of, pieces_of, tile_tensor

_SLICES = 2
_WORTH_KEEPING = 0.7
"""Which part of a later load counts against tiles that are slower because a result is kept."""
_MARGIN = 32 << 10
_MOST_MARGIN = 256 << 10
"""How much less than what is free tiles take, for want of room in one piece."""
_ENOUGH_MARGIN = 64 << 10
_ENOUGH_MARGIN_TOGETHER = 192 << 10
"""How much less tiles, of one operator or of several, take before something kept is given up."""
_LEAST = 48 << 10
"""Bytes that stay free for tiles beside what is kept."""
_COPIED = 16 << 10
"""Bytes of what is only moved, at a time."""
_SEARCHED = 40
"""The most operators of a network that is planned twice."""


@dataclass(kw_only=True)
class Kept:
    """A tensor that is in LRAM as a whole, until the job `last` is done."""

    buffer: Buffer
    last: int


def planned(network: Network, options: Options) -> Plan:
    """The schedule of a network. Raises ModelError for what does not fit.

    Where something finds no room, tiles get smaller, and what is kept and turns out to be in the
    way is given up, the largest first. What was planned before that stays. Short networks are
    planned twice, with large and with small tiles of groups; the faster schedule is taken.
    """
    tiler = Tiler(options)
    if all(job.tiles for job in network.jobs):
        return _planned(network, options, tiler, roomy=False)
    if not (options.keep and options.double_buffer) or len(network.jobs) > _SEARCHED:
        return _planned(network, options, tiler, roomy=False)
    plans = [_planned(network, options, tiler, roomy=roomy) for roomy in (False, True)]
    return min(plans, key=lambda plan: played(plan.steps).now)


def _planned(network: Network, options: Options, tiler: Tiler, *, roomy: bool) -> Plan:
    """The schedule with groups that are `roomy`, or not."""
    groups = GroupSearch(network, tiler, roomy=roomy)
    planner = Planner(network=network, tiler=tiler, keeps=options.keep, groups=groups)
    while True:
        try:
            planner.run()
            plan = overlapped(planner.starts) if options.double_buffer else _in_turn(planner.starts)
            return replace(plan, tiles=planner.chosen)
        except IllegalSliceProgram as error:
            raise ModelError(f"no kernel can do this: {error}") from None
        except InTheWay as error:
            planner.give_up(error.value)
        except NotTogether as error:
            planner.part(str(error))
        except NoRoom as error:
            planner.make_room(error)


def _in_turn(starts: list[Start]) -> Plan:
    """The plan without overlap. Raises NoRoom."""
    steps = in_turn(starts)
    return turned_as_needed(lambda turned: with_addresses(steps, turned))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """What there was before the operators from `number` on: how many steps, and what was kept."""

    number: int
    steps: int
    kept: dict[SSAValue, Kept]


@dataclass(kw_only=True)
class Planner:
    """Steps of one operator after the other, and a way back to an earlier one."""

    network: Network
    tiler: Tiler
    keeps: bool
    groups: GroupSearch
    given_up: set[SSAValue] = field(default_factory=set)
    """What is not kept."""
    margins: dict[str, int] = field(default_factory=dict)
    """Bytes by job that its tiles leave free."""
    alone: set[str] = field(default_factory=set)
    """Operators that do not begin a group."""
    starts: list[Start] = field(default_factory=list)
    leaders: dict[str, str] = field(default_factory=dict)
    """By operator of a group the first one."""
    kept: dict[SSAValue, Kept] = field(default_factory=dict)
    chosen: dict[str, Tiles] = field(default_factory=dict)
    """By operator how its result is made."""
    _all: dict[Buffer, SSAValue] = field(default_factory=dict)
    _constants: dict[tuple[str, bytes], Storage] = field(default_factory=dict)
    _uses: dict[SSAValue, int] = field(default_factory=dict)
    """By value the last operator that reads it."""
    _numbers: dict[str, int] = field(default_factory=dict)
    """By name which operator it is."""
    _marks: list[_Mark] = field(default_factory=list)
    _next: int = 0

    def __post_init__(self) -> None:
        for number, job in enumerate(self.network.jobs):
            self._numbers[job.name] = number
            for value in job.operands.values():
                self._uses[self.network.root(value)] = number

    def run(self) -> None:
        """Schedules the operators that are left. Raises InTheWay, NotTogether and ModelError."""
        while self._next < len(self.network.jobs):
            mark = _Mark(number=self._next, steps=len(self.starts), kept=dict(self.kept))
            self._marks.append(mark)
            group = self._group(self._next)
            if len(group.jobs) > 1:
                self._together(group)
            else:
                try:
                    self._job(group.jobs[0])
                except IllegalSliceProgram as error:
                    raise ModelError(f"{group.jobs[0].place}: {error}") from None
            self._next += len(group.jobs)
            for value in [v for v, kept in self.kept.items() if kept.last < self._next]:
                del self.kept[value]
        self._marks.append(_Mark(number=self._next, steps=len(self.starts), kept={}))
        for value, home in self.network.copies:
            self._copy(home_of(value, self.network), home)

    def give_up(self, value: SSAValue) -> None:
        """Plans again from where a value is made, which is not kept then."""
        number = self._made(value)
        if self.network.jobs[number].tiles is not None:
            raise unfit(self.network.jobs[number], "a result that stays in LRAM: there is no room")
        self.given_up.add(value)
        self._back_to(number)

    def part(self, name: str) -> None:
        """Plans again from an operator on, which does not begin a group then."""
        if (job := self.network.jobs[self._numbers[name]]).tiles is not None:
            raise unfit(job, "what does not go together")
        self.alone.add(name)
        self._back_to(self._numbers[name])

    def make_room(self, error: NoRoom) -> None:
        """Plans again with smaller tiles or less that is kept. Raises ModelError at the end."""
        job = error.buffer.job
        name = self.leaders.get(job, job)
        if name in self._numbers and (stated := self.network.jobs[self._numbers[name]]).tiles:
            raise unfit(stated, f"tiles that are too large: {error}")
        margin = self.margins.get(name, 0) + _MARGIN
        enough = _ENOUGH_MARGIN_TOGETHER if job in self.leaders else _ENOUGH_MARGIN
        value = self.largest((error.buffer,)) or self.largest(error.others)
        if value is not None and margin > enough:
            self.give_up(value)
        elif margin > _MOST_MARGIN or name not in self._numbers:
            raise ModelError(str(error)) from None
        else:
            self.margins[name] = margin
            self._back_to(self._numbers[name])

    def _made(self, value: SSAValue) -> int:
        """The operator that makes a value."""
        return next(n for n, job in enumerate(self.network.jobs) if job.result is value)

    def _back_to(self, number: int) -> None:
        """Forgets what was planned from an operator's group on."""
        while self._marks[-1].number > number:
            self._marks.pop()
        mark = self._marks.pop()
        del self.starts[mark.steps :]
        self.kept = dict(mark.kept)
        self._next = mark.number
        for job in self.network.jobs[mark.number :]:
            self.leaders.pop(job.name, None)
            self.chosen.pop(job.name, None)

    def largest(self, buffers: tuple[Buffer, ...]) -> SSAValue | None:
        """The value in the largest of some buffers that are kept."""
        mine = [buffer for buffer in buffers if buffer in self._all]
        return self._all[max(mine, key=lambda buffer: buffer.size)] if mine else None

    def _free(self, job: Job) -> int:
        """Bytes of LRAM beside what is kept, and room for commands."""
        start, end = bounds()
        taken = sum(kept.buffer.size + ALIGNMENT for kept in self.kept.values())
        return end - start - taken - _SLICES * CODE_BYTES

    def _group(self, number: int) -> Group:
        """The operators that are best done together for each tile, from one on."""
        job = self.network.jobs[number]
        alone = Group(jobs=(job,), rows=0)
        if job.tiles is not None:
            return self._stated_group(number) if job.tiles.group >= 0 else alone
        if not self.keeps or job.name in self.alone:
            return alone
        sizes = {value: kept.buffer.size for value, kept in self.kept.items()}
        margin = self.margins.get(job.name, 0)
        return self.groups.best(number, sizes, self._free(job), margin) or alone

    def _stated_group(self, number: int) -> Group:
        """The operators from one on that are stated to be done together. Raises ModelError."""
        jobs = stated_members(self.network.jobs, number)
        tiles = jobs[-1].tiles
        sizes = {value: kept.buffer.size for value, kept in self.kept.items()}
        fits = len(jobs) > 1 and self.groups.may_be(number, number + len(jobs), sizes)
        if tiles is None or not fits or tiles.rows % self.groups.step(jobs[-1]):
            raise unfit(jobs[0], f"a group of {len(jobs)} operators that cannot be done together")
        if any(job.tiles and job.tiles.kernel != self.tiler.kernel(job.op).name for job in jobs):
            raise unfit(jobs[0], "kernels of a group that are not the fastest")
        return Group(jobs=tuple(jobs), rows=tiles.rows, stays=tiles.kept)

    def _together(self, group: Group) -> None:
        """Schedules the tiles of several operators, all of them for each tile."""
        last = group.jobs[-1]
        result = Buffer(job=group.jobs[0].name, name=last.name, size=last.op.y.bytes_, stays=True)
        stays = group.stays and last.result not in self.given_up
        if stays:
            self._keep(last, result)
        for job in group.jobs:
            self.chosen[job.name] = Tiles(
                kernel=self.tiler.kernel(job.op).name,
                group=self._numbers[group.jobs[0].name],
                rows=group.rows,
                kept=stays and job is last,
            )
        self.leaders |= {job.name: group.jobs[0].name for job in group.jobs}
        made: dict[SSAValue, tuple[Spot, Region]] = {}
        balance = Balance(slices=self.tiler.slices)
        tiles = [
            JobTiles(
                planner=self,
                job=job,
                kernel=self.tiler.kernel(job.op),
                made=made,
                balance=balance,
                passes_on=job is not last,
            )
            for job in group.jobs
        ]
        try:
            for regions in self.groups.regions(group):
                made.clear()
                for own, region in zip(tiles, regions, strict=True):
                    if region is not None:
                        own.tile(region)
        except (IllegalSliceProgram, InTheWay, ModelError):
            raise NotTogether(group.jobs[0].name) from None

    def _keep(self, job: Job, result: Buffer) -> None:
        if job.result not in self._uses:
            raise unfit(job, "a result that stays in LRAM, which nobody reads")
        self._all[result] = job.result
        self.kept[job.result] = Kept(buffer=result, last=self._uses[job.result])

    def _job(self, job: Job) -> None:
        """Chooses where the result goes, and schedules the tiles."""
        op = job.op
        if job.tiles is not None:
            self._stated(job, job.tiles)
            return
        resident = frozenset(
            name for name, v in job.operands.items() if self.network.root(v) in self.kept
        )
        free, margin = self._free(job), self.margins.get(job.name, 0)
        tiling = self._tiling(job, free - margin, resident)
        stays = False
        if self._may_stay(job, free):
            size = op.y.bytes_
            kept = self._tiling(job, free - margin - size - ALIGNMENT, resident | {"y"})
            loads = cycles_of_bytes(size) * _WORTH_KEEPING
            if kept is not None and (tiling is None or kept.cycles <= tiling.cycles + loads):
                tiling, stays = kept, True
        if tiling is None:
            self._sums(job, free - margin, resident)
            return
        self._tiles(job, tiling, stays=stays)

    def _stated(self, job: Job, tiles: Tiles) -> None:
        """Schedules the tiles that an operator states. Raises ModelError."""
        if tiles.terms:
            self._parts(job, stated_sum_tiling(job, tiles, self.tiler.slices))
        else:
            self._tiles(job, stated_tiling(job, tiles), stays=tiles.kept)

    def _tiles(self, job: Job, tiling: Tiling, *, stays: bool) -> None:
        """Schedules tiles of one operator alone."""
        if stays:
            size = job.op.y.bytes_
            self._keep(job, Buffer(job=job.name, name=job.name, size=size, stays=True))
        self.chosen[job.name] = Tiles(
            kernel=tiling.kernel.name, sizes=tiling.sizes, order=tiling.axes, kept=stays
        )
        balance = Balance(slices=self.tiler.slices)
        tiles = JobTiles(planner=self, job=job, kernel=tiling.kernel, balance=balance)
        for out in tiling.regions(job.op.y.shape):
            tiles.tile(out)

    def _sums(self, job: Job, free: int, resident: frozenset[str]) -> None:
        """Schedules tiles whose terms do not fit at once."""
        found = self.tiler.sum_tiling(job.op, free, resident)
        if found is None:
            raise self._too_large(job)
        self._parts(job, found)

    def _parts(self, job: Job, found: SumTiling) -> None:
        """Schedules tiles whose sums are made part by part."""
        self.chosen[job.name] = Tiles(kernel=found.kernel.name, terms=found.count)
        balance = Balance(slices=self.tiler.slices)
        tiles = JobTiles(planner=self, job=job, kernel=found.kernel, balance=balance)
        for outs in found.tiles:
            tiles.sums(outs, found.chains(job.op, outs))

    def _may_stay(self, job: Job, free: int) -> bool:
        used = self._uses.get(job.result, -1) >= 0
        room = free - job.op.y.bytes_ >= _LEAST
        return self.keeps and used and room and job.result not in self.given_up

    def _tiling(self, job: Job, free: int, resident: frozenset[str]) -> Tiling | None:
        try:
            return self.tiler.tiling(job.op, free, resident)
        except IllegalSliceProgram as error:
            raise ModelError(f"{job.place}: {error}") from error

    def _too_large(self, job: Job) -> Exception:
        """What to do when no tile fits: give something up that is kept, or give up."""
        value = self.largest(tuple(kept.buffer for kept in self.kept.values()))
        if value is not None:
            return InTheWay(value)
        return ModelError(f"{job.place}: even the smallest tile does not fit into LRAM")

    def is_returned(self, job: Job) -> bool:
        """Whether a result is wanted in XRAM beside where it is kept."""
        home = self.network.homes[job.result]
        return home.storage.role.value == "output" or any(
            self.network.root(value) is job.result for value, _ in self.network.copies
        )

    def constant(self, name: str, data: Any, packing: Packing) -> Storage:
        """Constants in XRAM, once for all that are alike."""
        made = packed(name, data, packing)
        assert made.data is not None
        return self._constants.setdefault((name, made.data), made)

    def _copy(self, source: Home, target: Home) -> None:
        """Moves a whole tensor through LRAM in pieces that are small enough."""
        kind = source.kind
        for region in pieces_of(kind, _COPIED):
            tensor = tile_tensor(source.storage.name, kind, region)
            buffer = Buffer(job="", name=tensor.name, size=kind.of(region).bytes_)
            load = moves_of(source, region, tensor)
            store = moves_of(target, region, tensor)
            self.starts.append(LoadTile(storage=source.storage, buffer=buffer, moves=load))
            self.starts.append(StoreTile(storage=target.storage, buffer=buffer, moves=store))

"""From a network to a schedule: tiles one after the other, tensors kept in LRAM where they fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import SSAValue

from ...models.errors import ModelError
from ..kernels.kernel import Kernel, part
from ..operators.elementwise import Table
from ..operators.tensors import Region
from ..slice.errors import IllegalSliceProgram
from ..slice.lram import ALIGNMENT
from ..slice.tensor import Tensor, dense
from .allocate import NoRoom, addresses_of, bounds
from .in_turn import in_turn
from .network import Job, Network
from .options import Options
from .overlap import overlapped
from .steps import Buffer, LoadCode, LoadTile, Move, Plan, RunSlice, Spot, Start, StoreTile
from .storage import Home, Storage, packed
from .tiles import Tiler
from .tiling import Tiling
from .transfers import moves_of, tile_tensor

TASK_BYTES = 1536
"""Room for the commands of one slice task without a table."""
TABLE_BYTES = 2560
"""Room for a table."""
_USUAL_TASK_BYTES, _USUAL_TABLE_BYTES = 400, 2048
"""What both have in the middle."""
CODE_BYTES = 9 << 10
"""What the commands of a slice take at most at a time."""
_TASK_WORDS, _TABLE_WORDS = 48, 513
"""Command words of a slice task; a slice takes a cycle to fetch each."""
_START_CYCLES = 20
_SLICES = 2
_MARGIN = 32 << 10
_MOST_MARGIN = 256 << 10
"""How much less than what is free tiles take, for want of room in one piece."""
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
    while True:
        planner = Planner(
            network=network, tiler=tiler, given_up=given_up, margins=margins, keeps=options.keep
        )
        try:
            planner.run()
            return overlapped(planner.starts) if options.double_buffer else _in_turn(planner.starts)
        except InTheWay as error:
            given_up.add(error.value)
        except NoRoom as error:
            value = planner.largest((error.buffer,)) or planner.largest(error.others)
            if value is not None:
                given_up.add(value)
                continue
            margin = margins.get(error.buffer.job, 0) + _MARGIN
            if margin > _MOST_MARGIN:
                raise ModelError(str(error)) from None
            margins[error.buffer.job] = margin


def _in_turn(starts: list[Start]) -> Plan:
    """The plan without overlap. Raises NoRoom."""
    steps = in_turn(starts)
    addresses, peak = addresses_of(steps)
    return Plan(steps=steps, addresses=addresses, peak=peak)


class InTheWay(Exception):
    """An operator cannot be done while a value is kept."""

    def __init__(self, value: SSAValue) -> None:
        super().__init__()
        self.value = value


@dataclass(kw_only=True)
class Planner:
    """One attempt."""

    network: Network
    tiler: Tiler
    given_up: set[SSAValue]
    margins: dict[str, int]
    """Bytes by job that its tiles leave free."""
    keeps: bool
    starts: list[Start] = field(default_factory=list)
    kept: dict[SSAValue, Kept] = field(default_factory=dict)
    _all: dict[Buffer, SSAValue] = field(default_factory=dict)
    _constants: dict[tuple[str, bytes], Storage] = field(default_factory=dict)
    _uses: dict[SSAValue, int] = field(default_factory=dict)

    def run(self) -> None:
        """Schedules all operators. Raises InTheWay and ModelError."""
        for number, job in enumerate(self.network.jobs):
            for value in job.operands.values():
                self._uses[self.network.root(value)] = number
        for number, job in enumerate(self.network.jobs):
            self._job(number, job)
            for value in [v for v, kept in self.kept.items() if kept.last <= number]:
                del self.kept[value]
        for value, home in self.network.copies:
            self._copy(self.network.homes[value], home)

    def largest(self, buffers: tuple[Buffer, ...]) -> SSAValue | None:
        """The value in the largest of some buffers that are kept."""
        mine = [buffer for buffer in buffers if buffer in self._all]
        return self._all[max(mine, key=lambda buffer: buffer.size)] if mine else None

    def _job(self, number: int, job: Job) -> None:
        """Chooses where the result goes, and schedules the tiles."""
        op = job.op
        resident = frozenset(
            name for name, v in job.operands.items() if self.network.root(v) in self.kept
        )
        start, end = bounds()
        taken = sum(kept.buffer.size + ALIGNMENT for kept in self.kept.values())
        free = end - start - taken - _SLICES * CODE_BYTES - self.margins.get(job.name, 0)
        tiling = None
        result = Buffer(job=job.name, name=job.name, size=op.y.bytes_, stays=True)
        if self._may_stay(job, free):
            tiling = self._tiling(job, free - result.size - ALIGNMENT, resident | {"y"})
        stays = tiling is not None
        tiling = tiling or self._tiling(job, free, resident)
        if tiling is None:
            raise self._too_large(job)
        if stays:
            self._all[result] = job.result
            self.kept[job.result] = Kept(buffer=result, last=self._uses[job.result])
        JobTiles(planner=self, job=job, tiling=tiling).run()

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


@dataclass(kw_only=True)
class JobTiles:
    """The tiles of one operator, one after the other."""

    planner: Planner
    job: Job
    tiling: Tiling
    _operands: dict[str, tuple[Spot, Region]] = field(default_factory=dict)
    """What of operands the last tile has loaded."""
    _last: dict[Storage, Buffer] = field(default_factory=dict)
    _now: dict[Storage, Buffer] = field(default_factory=dict)
    """Constants of the last tile and of this one, which are in LRAM."""

    def run(self) -> None:
        """Schedules all tiles."""
        for out in self.tiling.regions(self.job.op.y.shape):
            self._tile(out)

    def _tile(self, out: Region) -> None:
        """Loads, runs and stores one tile."""
        op, kernel = self.job.op, self.tiling.kernel
        self._last, self._now = self._now, {}
        whole: dict[str, tuple[Spot, Region]] = {}
        for need in kernel.input_regions(op, out):
            whole[need.operand] = self._operand(need.operand, need.region)
        whole["y"] = self._result(out)
        runs = [
            run
            for slice_, region in enumerate(self.planner.tiler.parts(op, kernel, out))
            for run in self._runs(slice_, region, whole)
        ]
        self._together(runs)
        spot, region = whole["y"]
        if not spot.buffer.stays or self.planner.is_returned(self.job):
            home = self.planner.network.homes[self.job.result]
            moves = moves_of(home, out, self._tensor(spot, region, "y", out))
            self.planner.starts.append(
                StoreTile(storage=home.storage, buffer=spot.buffer, moves=moves)
            )

    def _tensor(self, spot: Spot, there: Region, name: str, out: Region) -> Tensor:
        """A region of an operand or the result, of which `there` is in LRAM."""
        kind = self.job.op.tensors[name]
        starts = tuple(a - b for a, b in zip(out.starts, there.starts, strict=True))
        return part(spot.tensor, kind, Region(starts=starts, sizes=out.sizes))

    def _operand(self, name: str, region: Region) -> tuple[Spot, Region]:
        """Where an operand is, and from where on: kept, or loaded now."""
        value, kind = self.job.operands[name], self.job.op.tensors[name]
        kept = self.planner.kept.get(self.planner.network.root(value))
        if kept is not None:
            tensor = Tensor(
                name=name,
                address=0,
                dtype=kind.dtype,
                shape=kind.stored_shape,
                strides=kind.strides,
            )
            return Spot(buffer=kept.buffer, tensor=tensor), Region.whole(kind.shape)
        if name in self._operands and self._operands[name][1] == region:
            return self._operands[name]
        home = self.planner.network.homes[value]
        tensor = tile_tensor(name, kind, region)
        buffer = self._buffer(name, kind.of(region).bytes_)
        moves = moves_of(home, region, tensor)
        self.planner.starts.append(LoadTile(storage=home.storage, buffer=buffer, moves=moves))
        self._operands[name] = Spot(buffer=buffer, tensor=tensor), region
        return self._operands[name]

    def _buffer(self, name: str, size: int) -> Buffer:
        return Buffer(job=self.job.name, name=f"{name} of {self.job.name}", size=size)

    def _result(self, out: Region) -> tuple[Spot, Region]:
        """Where a tile of the result goes, and from where on."""
        kind = self.job.op.y
        kept = self.planner.kept.get(self.job.result)
        if kept is not None:
            region, buffer = Region.whole(kind.shape), kept.buffer
        else:
            region = out
            buffer = Buffer(
                job=self.job.name, name=f"y of {self.job.name}", size=kind.of(out).bytes_
            )
        tensor = tile_tensor(self.job.name, kind, region)
        return Spot(buffer=buffer, tensor=tensor), region

    def _runs(
        self, slice_: int, out: Region, whole: dict[str, tuple[Spot, Region]]
    ) -> Iterator[RunSlice]:
        """The runs of one slice: as many tasks each as there is room for commands."""
        op, kernel = self.job.op, self.tiling.kernel
        wanted = {need.operand: need.region for need in kernel.input_regions(op, out)}
        wanted["y"] = out
        places = {
            name: Spot(
                buffer=whole[name][0].buffer,
                tensor=self._tensor(*whole[name], name, region),
            )
            for name, region in wanted.items()
        }
        places |= self._constants(out)
        for name, kind in kernel.scratch(op, out).items():
            tensor = tile_tensor(name, kind, Region.whole(kind.shape))
            buffer = self._buffer(name, kind.bytes_)
            places[name] = Spot(buffer=buffer, tensor=tensor)
        cycles = self._cycles(kernel, out, places)
        room = TASK_BYTES + TABLE_BYTES * isinstance(op, Table)
        usual = _USUAL_TASK_BYTES + _USUAL_TABLE_BYTES * isinstance(op, Table)
        for first in range(0, len(cycles), CODE_BYTES // room):
            stop = min(len(cycles), first + CODE_BYTES // room)
            yield RunSlice(
                slice_=slice_,
                kernel=kernel,
                op=op,
                out=out,
                places=places,
                first=first,
                stop=stop,
                code=Buffer(job=self.job.name, name="slice code", size=(stop - first) * room),
                cycles=_START_CYCLES + sum(cycles[first:stop]),
                code_bytes=(stop - first) * usual,
                source=self.job.source,
            )

    def _cycles(self, kernel: Kernel[Any], out: Region, places: dict[str, Spot]) -> list[int]:
        """How long each task of a region takes with its commands.

        Raises InTheWay if tensors lie as the kernel cannot take.
        """
        tensors = {name: spot.tensor for name, spot in places.items()}
        words = _TASK_WORDS + _TABLE_WORDS * isinstance(self.job.op, Table)
        try:
            return [nest.cycles + words for nest in kernel.nests(self.job.op, out, tensors)]
        except IllegalSliceProgram as error:
            value = self.planner.largest(
                tuple(spot.buffer for spot in places.values() if spot.buffer.stays)
            )
            if value is None:
                raise ModelError(f"{self.job.name}: {error}") from error
            raise InTheWay(value) from error

    def _constants(self, out: Region) -> dict[str, Spot]:
        """Packs and loads the constants of a region, unless they are those of the last tile."""
        op, kernel = self.job.op, self.tiling.kernel
        found: dict[str, Spot] = {}
        specs = kernel.constants(op, out)
        values = kernel.pack(op, out, self.job.values) if specs else {}
        for spec in specs:
            storage = self.planner.constant(f"{spec.name} of {self.job.name}", values[spec.name])
            tensor = dense(storage.name, 0, spec.dtype, spec.shape)
            found[spec.name] = Spot(buffer=self._loaded(storage), tensor=tensor)
        return found

    def _loaded(self, storage: Storage) -> Buffer:
        """Constants in LRAM: those of the last tile, or of this tile's other slice, are there."""
        buffer = self._now.get(storage) or self._last.get(storage)
        if buffer is None:
            buffer = Buffer(job=self.job.name, name=storage.name, size=storage.size)
            move = Move(outside=0, inside=0, row=storage.size)
            self.planner.starts.append(LoadTile(storage=storage, buffer=buffer, moves=(move,)))
        self._now[storage] = buffer
        return buffer

    def _together(self, runs: list[RunSlice]) -> None:
        """Runs of both slices side by side, those of one slice one after the other."""
        lists = [[run for run in runs if run.slice_ == slice_] for slice_ in (0, 1)]
        for number in range(max(len(own) for own in lists)):
            pair = [own[number] for own in lists if number < len(own)]
            self.planner.starts += [LoadCode(run=run) for run in pair]
            self.planner.starts += pair

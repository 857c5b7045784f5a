"""The tiles of one operator: what is loaded, run and stored for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xdsl.ir import SSAValue

from ...models.errors import ModelError
from ..kernels.kernel import Kernel, part
from ..operators.elementwise import Table
from ..operators.operator import Operator
from ..operators.tensors import Region
from ..plan.attributes import Move
from ..slice.errors import IllegalSliceProgram
from ..slice.tensor import Tensor, dense
from .allocate import fetched_by
from .network import Job
from .steps import Buffer, LoadCode, LoadTile, RunSlice, Spot, StoreTile
from .storage import Packing, Storage
from .tiling.shares import FREE, Balance, Split
from .transfers import moves_of, tile_tensor

if TYPE_CHECKING:
    from .plan import Planner

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


class InTheWay(Exception):
    """An operator cannot be done while a value is kept."""

    def __init__(self, value: SSAValue) -> None:
        super().__init__()
        self.value = value


class NotTogether(Exception):
    """An operator cannot be done for a tile of its group."""


def usual_code_bytes(op: Operator, tasks: int) -> int:
    """About how long the commands of so many tasks are."""
    return tasks * (_USUAL_TASK_BYTES + _USUAL_TABLE_BYTES * isinstance(op, Table))


@dataclass(kw_only=True)
class JobTiles:
    """The tiles of one operator, one after the other."""

    planner: Planner
    job: Job
    kernel: Kernel[Any]
    made: dict[SSAValue, tuple[Spot, Region]] = field(default_factory=dict)
    """What earlier operators of a group have made for the tile at hand, and where it begins."""
    balance: Balance
    """What the slices work for these tiles, and for those of the rest of the group."""
    passes_on: bool = False
    """Whether the result is only for later operators of the group."""
    _channels: tuple[tuple[int, ...], int] = (), FREE
    """First and number of the last tile's channels, and how many of them its first part had."""
    _operands: dict[str, tuple[Spot, Region]] = field(default_factory=dict)
    """What of operands the last tile has loaded."""
    _last: dict[Storage, Buffer] = field(default_factory=dict)
    _now: dict[Storage, Buffer] = field(default_factory=dict)
    """Constants of the last tile and of this one, which are in LRAM."""

    def tile(self, out: Region) -> None:
        """Loads, runs and stores one tile."""
        op, kernel = self.job.op, self.kernel
        self._last, self._now = self._now, {}
        if not self.planner.tiler.reuse:
            self._last.clear()
            self._operands.clear()
        whole: dict[str, tuple[Spot, Region]] = {}
        for need in kernel.input_regions(op, out):
            whole[need.operand] = self._operand(need.operand, need.region)
        whole["y"] = self._result(out)
        split = self._split(out)
        runs = [
            run
            for slice_, region in zip(
                self.balance.shared(split.costs), split.parts(out), strict=True
            )
            for run in self._runs(kernel, slice_, region, whole)
        ]
        self._together(runs)
        self._deliver(out, whole["y"])

    def _split(self, out: Region) -> Split:
        """How the slices share a tile: channels are cut as in the last tile with the same ones, so
        that constants are the same, too.
        """
        channels = out.starts[1:2] + out.sizes[1:2]
        if channels != self._channels[0]:
            self._channels = channels, FREE
        split = self.planner.tiler.split(self.job.op, self.kernel, out, self._channels[1])
        self._channels = channels, split.channels
        return split

    def sums(self, outs: Sequence[Region], chains: Sequence[Sequence[Kernel[Any]]]) -> None:
        """Loads, runs and stores a tile for each slice, whose sums are made by a chain of kernels.

        What is summed at a time changes with each of them; what the tiles share is loaded once.
        """
        results = [self._result(out) for out in outs]
        for kernels in zip(*chains, strict=True):
            self._last, self._now = self._now, {}
            runs: list[RunSlice] = []
            for slice_, (kernel, out) in enumerate(zip(kernels, outs, strict=True)):
                whole = {"y": results[slice_]}
                for need in kernel.input_regions(self.job.op, out):
                    behind = fetched_by(self.job.op)
                    whole[need.operand] = self._operand(need.operand, need.region, behind)
                runs += self._runs(kernel, slice_, out, whole)
            self._together(runs)
        for out, result in zip(outs, results, strict=True):
            self._deliver(out, result)

    def _deliver(self, out: Region, result: tuple[Spot, Region]) -> None:
        """Passes a tile of the result on, or stores it, unless it only stays."""
        spot, region = result
        if self.passes_on:
            self.made[self.job.result] = spot, region
        elif not spot.buffer.stays or self.planner.is_returned(self.job):
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

    def _operand(self, name: str, region: Region, behind: int = 0) -> tuple[Spot, Region]:
        """Where an operand is, and from where on: kept, or loaded now.

        What is loaded has so many bytes `behind` it that nobody else writes meanwhile.
        """
        value, kind = self.job.operands[name], self.job.op.tensors[name]
        if value in self.made:
            return self.made[value]
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
        buffer = self._buffer(name, kind.of(region).bytes_ + behind)
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
        self,
        kernel: Kernel[Any],
        slice_: int,
        out: Region,
        whole: dict[str, tuple[Spot, Region]],
    ) -> Iterator[RunSlice]:
        """The runs of one slice: as many tasks each as there is room for commands."""
        op = self.job.op
        wanted = {need.operand: need.region for need in kernel.input_regions(op, out)}
        wanted["y"] = out
        places = {
            name: Spot(
                buffer=whole[name][0].buffer,
                tensor=self._tensor(*whole[name], name, region),
            )
            for name, region in wanted.items()
        }
        places |= self._constants(kernel, out)
        for name, kind in kernel.scratch(op, out).items():
            tensor = tile_tensor(name, kind, Region.whole(kind.shape))
            buffer = self._buffer(name, kind.bytes_)
            places[name] = Spot(buffer=buffer, tensor=tensor)
        cycles = self._cycles(kernel, out, places)
        room = TASK_BYTES + TABLE_BYTES * isinstance(op, Table)
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
                code_bytes=usual_code_bytes(op, stop - first),
                source=self.job.source,
            )

    def _cycles(self, kernel: Kernel[Any], out: Region, places: dict[str, Spot]) -> list[int]:
        """How long each task of a region takes with its commands.

        Raises InTheWay if tensors lie as the kernel cannot take.
        """
        tensors = {name: spot.tensor for name, spot in places.items()}
        words = _TASK_WORDS + _TABLE_WORDS * isinstance(self.job.op, Table)
        try:
            cycles = self.planner.tiler.task_cycles(self.job.op, kernel, out, tensors)
        except IllegalSliceProgram as error:
            value = self.planner.largest(
                tuple(spot.buffer for spot in places.values() if spot.buffer.stays)
            )
            if value is None:
                raise ModelError(f"{self.job.name}: {error}") from error
            raise InTheWay(value) from error
        return [each + words for each in cycles]

    def _constants(self, kernel: Kernel[Any], out: Region) -> dict[str, Spot]:
        """Packs and loads the constants of a region, unless they are those of the last tile."""
        op = self.job.op
        found: dict[str, Spot] = {}
        specs = kernel.constants(op, out)
        values = kernel.pack(op, out, self.job.values) if specs else {}
        for spec in specs:
            packing = Packing(job=self.job.name, kernel=kernel, region=out, role=spec.name)
            title = f"{spec.name} of {self.job.name}"
            storage = self.planner.constant(title, values[spec.name], packing)
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

"""Whether a schedule that was written by hand makes what its function says, byte by byte.

Each byte of LRAM, and of tensors that the NPU stores, is known by where it comes from: a tensor's
memory and the place in it that it has there, or has when it is stored. Steps are followed in
order; what a step writes is there when something has waited for it, and nothing before. So every
run must find what its kernel reads, the commands included, and all results must be there at last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....models.errors import ModelError
from ...operators.tensors import Region, TensorType
from ...plan.attributes import Move
from ...target import target
from ..commands import Commands
from ..dependences import row_starts
from ..network import Job, Network, home_of
from ..steps import LoadCode, LoadTile, Plan, RunSlice, Start, StoreTile, Wait
from ..storage import Home, Role, Storage
from ..transfers import stored_region

_Places = NDArray[np.int64]
_UNKNOWN = -1
_BITS = 32
"""Of an origin's number, for the place in its memory."""


def check_flow(plan: Plan, network: Network, commands: Commands) -> None:
    """Raises ModelError, with the operator, where a step does not find what it needs."""
    flow = _Flow(plan, network, commands)
    for step in plan.steps:
        if isinstance(step, Wait):
            flow.wait(step.token)
        else:
            flow.start(step)
    flow.end()


@dataclass(kw_only=True)
class _Effect:
    """What a step under way reads, and what it writes: places, and where they come from then."""

    reads: list[_Places] = field(default_factory=list)
    writes: list[_Places] = field(default_factory=list)
    origins: list[_Places] = field(default_factory=list)
    stored: tuple[Storage, _Places, _Places] | None = None


class _Flow:
    """What is where."""

    def __init__(self, plan: Plan, network: Network, commands: Commands) -> None:
        self._plan, self._network, self._commands = plan, network, commands
        self._jobs = {id(job.op): job for job in network.jobs}
        self._named = {job.name: job for job in network.jobs}
        self._lram = np.full(target().lram, _UNKNOWN, np.int64)
        self._busy = {what: np.zeros(target().lram, np.bool_) for what in ("reads", "writes")}
        self._outside: dict[Storage, _Places] = {}
        self._numbers: dict[object, int] = {}
        self._constants: dict[int, Storage] = {}
        self._packed: dict[object, Mapping[str, bytes]] = {}
        self._under_way: dict[Start, _Effect] = {}
        self._progress: dict[int, tuple[object, int]] = {}
        """By slice the region of which some tasks are done, and how many."""
        self._sums: dict[int, tuple[object, int]] = {}
        """By slice the region of which some terms are summed, and how many."""

    def start(self, step: Start) -> None:
        """Looks for what a step needs, and takes up what it does."""
        effect = _Effect()
        if isinstance(step, LoadTile):
            self._load(step, effect)
        elif isinstance(step, StoreTile):
            self._store(step, effect)
        elif isinstance(step, LoadCode):
            place, origins = self._code(step.run)
            effect.writes.append(place)
            effect.origins.append(origins)
        else:
            self._run(step, effect)
        self._begin(step, effect)

    def wait(self, token: Start) -> None:
        """What a step has written is there."""
        effect = self._under_way.pop(token)
        for places in effect.reads:
            self._busy["reads"][places] = False
        for places, origins in zip(effect.writes, effect.origins, strict=True):
            self._busy["writes"][places] = False
            self._lram[places] = origins
        if effect.stored is not None:
            storage, places, origins = effect.stored
            self._outside[storage][places] = origins

    def end(self) -> None:
        """All results are in the caller's memory."""
        homes = [*self._network.homes.values()]
        for home in homes:
            if home.storage.role is Role.OUTPUT and home.storage in self._made():
                self._stored(home, home)
        for value, home in self._network.copies:
            self._stored(home, home_of(value, self._network))

    def _made(self) -> set[Storage]:
        return {self._network.homes[job.result].storage for job in self._network.jobs}

    def _stored(self, home: Home, source: Home) -> None:
        whole = Region.whole(home.kind.shape)
        there = self._content(home.storage)[_places(home, whole)]
        if not np.array_equal(there, self._origins(source, whole)):
            raise ModelError(f"the schedule does not store all of {home.storage.name}")

    def _begin(self, step: Start, effect: _Effect) -> None:
        busy = self._busy
        for places in effect.reads:
            if busy["writes"][places].any():
                raise ModelError(f"{self._name(step)}: reads what is written meanwhile")
        for places in effect.writes:
            if busy["writes"][places].any() or busy["reads"][places].any():
                raise ModelError(f"{self._name(step)}: writes what is in use meanwhile")
        for places in effect.reads:
            busy["reads"][places] = True
        for places in effect.writes:
            busy["writes"][places] = True
            self._lram[places] = _UNKNOWN
        if effect.stored is not None:
            storage, places, _ = effect.stored
            self._content(storage)[places] = _UNKNOWN
        self._under_way[step] = effect

    def _name(self, step: Start) -> str:
        if isinstance(step, LoadCode | RunSlice):
            run = step.run if isinstance(step, LoadCode) else step
            return f"{self._jobs[id(run.op)].place}, slice {run.slice_}"
        job = self._named.get(step.buffer.job)
        kind = "load" if isinstance(step, LoadTile) else "store"
        return f"{f'{job.place}: ' if job else ''}the {kind} of {step.buffer.name}"

    def _number(self, what: object) -> int:
        return self._numbers.setdefault(what, len(self._numbers))

    def _content(self, storage: Storage) -> _Places:
        """Where each byte of memory outside comes from."""
        if storage not in self._outside:
            if storage.role in (Role.INPUT, Role.CONSTANT):
                number = self._number(storage)
                self._outside[storage] = (number << _BITS) + np.arange(storage.size)
                self._constants[number] = storage
            else:
                self._outside[storage] = np.full(storage.size, _UNKNOWN, np.int64)
        return self._outside[storage]

    def _origins(self, home: Home, region: Region) -> _Places:
        return (self._number(home.storage) << _BITS) + _places(home, region)

    def _code(self, run: RunSlice) -> tuple[_Places, _Places]:
        """The places of a run's commands, and where they come from."""
        data = self._commands.of(run).data
        places = self._plan.addresses[run.code] + np.arange(len(data))
        return places, (self._number(data) << _BITS) + np.arange(len(data))

    def _load(self, step: LoadTile, effect: _Effect) -> None:
        content = self._content(step.storage)
        for outside, inside in _moved(step, self._plan):
            effect.writes.append(inside)
            effect.origins.append(content[outside])

    def _store(self, step: StoreTile, effect: _Effect) -> None:
        if step.storage.role in (Role.INPUT, Role.CONSTANT):
            raise ModelError(f"{self._name(step)}: {step.storage.name} is not there to be written")
        moved = list(_moved(step, self._plan))
        effect.reads = [inside for _, inside in moved]
        places = np.concatenate([outside for outside, _ in moved])
        origins = np.concatenate([self._lram[inside] for _, inside in moved])
        effect.stored = step.storage, places, origins

    def _run(self, run: RunSlice, effect: _Effect) -> None:
        job, kernel = self._jobs[id(run.op)], run.kernel
        places, origins = self._code(run)
        self._expect(places, origins, f"{job.place}: slice {run.slice_} does not find its commands")
        effect.reads.append(places)
        for need in kernel.input_regions(run.op, run.out):
            there = self._lying(run, need.operand)
            home = home_of(job.operands[need.operand], self._network)
            lacks = f"{job.place}: {need.operand} is not where slice {run.slice_} reads it"
            self._expect(there, self._origins(home, need.region), lacks)
            effect.reads.append(there)
        for spec in kernel.constants(run.op, run.out):
            there = self._lying(run, spec.name)
            self._constant(job, run, spec.name, there)
            effect.reads.append(there)
        for role in kernel.scratch(run.op, run.out):
            there = self._lying(run, role)
            effect.writes.append(there)
            effect.origins.append(np.full(there.shape, _UNKNOWN, np.int64))
        result = self._lying(run, "y")
        effect.writes.append(result)
        home = self._network.homes[job.result]
        is_done = self._is_done(job, run)
        made = self._origins(home, run.out)
        effect.origins.append(made if is_done else np.full(made.shape, _UNKNOWN, np.int64))

    def _is_done(self, job: Job, run: RunSlice) -> bool:
        """Whether a run makes the last of its region. Raises ModelError for one out of order."""
        slice_ = run.slice_
        region = (job.name, run.out)
        key = (*region, run.kernel.name)
        last, tasks = self._progress.pop(slice_, (None, 0))
        if run.first and (last, tasks) != (key, run.first):
            raise ModelError(f"{job.place}: its tasks before {run.first} are not done before it")
        if run.stop < self._commands.of(run).tasks:
            self._progress[slice_] = key, run.stop
            return False
        terms = run.kernel.some_terms
        last, summed = self._sums.pop(slice_, (None, 0))
        if terms is None:
            return True
        first, count = terms
        if first and (last, summed) != (region, first):
            raise ModelError(f"{job.place}: its terms before {first} are not summed before it")
        if first + count < run.kernel.terms(run.op)[0]:
            self._sums[slice_] = region, first + count
            return False
        return True

    def _constant(self, job: Job, run: RunSlice, role: str, there: _Places) -> None:
        """The bytes of a constant are those that its kernel needs. Raises ModelError."""
        key = job.name, run.kernel.name, run.out
        if key not in self._packed:
            values = run.kernel.pack(run.op, run.out, job.values)
            self._packed[key] = {n: np.ascontiguousarray(v).tobytes() for n, v in values.items()}
        found = self._lram[there].ravel()
        storage = self._constants.get(int(found[0]) >> _BITS)
        first = (self._number(storage) << _BITS) if storage is not None else 0
        is_whole = np.array_equal(found, first + np.arange(len(found)))
        if storage is None or not is_whole or storage.data != self._packed[key][role]:
            raise ModelError(f"{job.place}: {role} is not where slice {run.slice_} reads it")

    def _lying(self, run: RunSlice, role: str) -> _Places:
        """The places of all bytes of a run's tensor."""
        spot = run.places[role]
        tensor = spot.at(self._plan.addresses)
        return tensor.address + _bytes(tensor.shape, tensor.strides, tensor.element)

    def _expect(self, places: _Places, origins: _Places, otherwise: str) -> None:
        if not np.array_equal(self._lram[places], origins):
            raise ModelError(otherwise)


def _moved(step: LoadTile | StoreTile, plan: Plan) -> Iterator[tuple[_Places, _Places]]:
    """For each transfer the places outside, and those in LRAM."""
    address = plan.addresses[step.buffer]
    for move in step.moves:
        yield _outside(move), address + move.inside + np.arange(move.size)


def _outside(move: Move) -> _Places:
    return (row_starts(move)[:, None] + np.arange(move.row)).ravel()


def _places(home: Home, region: Region) -> _Places:
    """Where the bytes of a region are in a tensor's memory."""
    kind: TensorType = home.kind
    stored = stored_region(kind, region)
    steps = zip(stored.starts, home.strides, strict=True)
    first = sum(start * stride for start, stride in steps)
    return first + _bytes(stored.sizes, home.strides, kind.element)


def _bytes(shape: tuple[int, ...], strides: tuple[int, ...], element: int) -> _Places:
    places = np.arange(element, dtype=np.int64)
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        steps = np.arange(size, dtype=np.int64) * stride
        places = steps.reshape(-1, *(1,) * places.ndim) + places
    return places

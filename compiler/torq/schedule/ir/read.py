"""From TorqPlan to the plan that it says, as somebody may have written it by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ....models.errors import ModelError
from ...hw.attributes import AddressAttr
from ...kernels.kernel import Kernel
from ...kernels.variants import variants
from ...operators.tensors import Region
from ...plan.attributes import KernelName
from ...plan.operations import (
    CallerOp,
    CommandsOp,
    FreeOp,
    LoadCommandsOp,
    LoadOp,
    MemoryOp,
    PackedOp,
    ReserveOp,
    RunOp,
    ScheduleOp,
    StoreOp,
    WaitOp,
)
from ..job_tiles import usual_code_bytes
from ..network import Job, Network, home_of
from ..outside import Outside
from ..steps import (
    Buffer,
    Change,
    LoadCode,
    LoadTile,
    Plan,
    RunSlice,
    Spot,
    Start,
    Step,
    StoreTile,
    Wait,
)
from ..storage import Packing, Role, Storage
from .check import check_moves, check_run


@dataclass(frozen=True, kw_only=True)
class Read:
    """A plan and its places in XRAM, as far as there are some."""

    plan: Plan
    outside: Outside


def read_schedule(schedule: ScheduleOp, network: Network) -> Read:
    """What a schedule says of a network. Raises ModelError for what no operator can do."""
    reader = _Reader(network, schedule)
    for op in schedule.body.block.ops:
        reader.operation(op)
    peak = 0 if schedule.peak is None else schedule.peak.value.data
    tiles = {job.name: job.tiles for job in network.jobs if job.tiles is not None}
    plan = Plan(
        steps=reader.steps, room=reader.room, addresses=reader.addresses, peak=peak, tiles=tiles
    )
    return Read(plan=plan, outside=reader.outside)


class _Reader:
    """Takes one operation after the other."""

    def __init__(self, network: Network, schedule: ScheduleOp) -> None:
        self.steps: list[Step] = []
        self.room: list[Change] = []
        self.addresses: dict[Buffer, int] = {}
        self.outside = Outside()
        self._network = network
        self._jobs = {job.result: job for job in network.jobs}
        self._memory: dict[SSAValue, Storage] = {}
        self._buffers: dict[SSAValue, Buffer] = {}
        self._runs: dict[SSAValue, RunSlice] = {}
        self._tokens: dict[SSAValue, Start] = {}
        every = schedule.body.block.ops
        self._started = {op.commands: op for op in every if isinstance(op, RunOp)}
        """By commands who runs them: they may be loaded before its buffers have room."""
        for op in every:
            if isinstance(op, ReserveOp):
                self._buffers[op.buffer] = self._buffer(op)

    def operation(self, op: Operation) -> None:
        """Takes an operation up. Raises ModelError."""
        if isinstance(op, CallerOp | MemoryOp | PackedOp):
            storage = self._memory[op.memory] = self._storage(op)
            if op.place is not None:
                self.outside.storages[storage] = _byte(op.place)
        elif isinstance(op, ReserveOp):
            self._reserve(op)
        elif isinstance(op, FreeOp):
            self._change(self._buffers[op.buffer], taken=False)
        elif isinstance(op, CommandsOp):
            self._runs[op.commands] = self._run(op)
        elif isinstance(op, WaitOp):
            self.steps.append(Wait(token=self._tokens[op.token]))
        else:
            self._tokens[op.results[0]] = started = self._start(op)
            self.steps.append(started)

    def _storage(self, op: CallerOp | MemoryOp | PackedOp) -> Storage:
        if isinstance(op, MemoryOp):
            storage = home_of(op.tensor, self._network).storage
            if storage.role in (Role.INPUT, Role.OUTPUT):
                raise ModelError(f"the schedule has memory of its own for {storage.name}")
            return storage
        if isinstance(op, PackedOp):
            return self._packed(op)
        number, callers = op.number.value.data, self._network.callers
        if not 0 <= number < len(callers):
            raise ModelError(f"the schedule has tensor {number} of the caller's {len(callers)}")
        return callers[number].storage

    def _packed(self, op: PackedOp) -> Storage:
        job = self._job(op.operator)
        packing = packing_of(op, job)
        specs = packing.kernel.constants(job.op, packing.region)
        sizes = {spec.name: spec.bytes_ for spec in specs}
        role = packing.role
        if role not in sizes:
            raise ModelError(f"{job.place}: its kernel reads no constant {role!r}")
        data = None if op.content is None else op.content.data.data
        if op.content is not None and (data is None or len(data) != sizes[role]):
            raise ModelError(
                f"{job.place}: {sizes[role]} bytes of {role} are needed; here are "
                f"{'none' if data is None else len(data)}"
            )
        return Storage(
            name=f"{role} of {job.name}",
            role=Role.CONSTANT,
            size=sizes[role],
            data=data,
            packing=packing,
        )

    def _buffer(self, op: ReserveOp) -> Buffer:
        job = "" if op.operator is None else self._job(op.operator).name
        size, stays = op.size.value.data, op.stays is not None
        return Buffer(job=job, name=op.title.data, size=size, stays=stays)

    def _reserve(self, op: ReserveOp) -> None:
        buffer = self._buffers[op.buffer]
        self._change(buffer, taken=True, top=op.top is not None)
        if op.place is not None:
            self.addresses[buffer] = _byte(op.place)

    def _change(self, buffer: Buffer, *, taken: bool, top: bool = False) -> None:
        step = len(self.steps)
        self.room.append(Change(step=step, buffer=buffer, taken=taken, top=top))

    def _run(self, op: CommandsOp) -> RunSlice:
        job, out = self._job(op.operator), op.region.data
        first, stop = _numbers(op.first, op.stop)
        started = self._started[op.commands]
        places = {
            each.data.role: Spot(buffer=self._buffers[value], tensor=each.data.tensor)
            for each, value in zip(started.lying, started.tensors, strict=True)
        }
        run = RunSlice(
            slice_=op.slice_.value.data,
            kernel=_kernel(job, op.kernel.data, out),
            op=job.op,
            out=out,
            places=places,
            first=first,
            stop=stop,
            code=self._buffers[op.code],
            cycles=op.cycles.value.data,
            code_bytes=usual_code_bytes(job.op, stop - first),
            source=job.source,
        )
        check_run(job, run)
        return run

    def _start(self, op: Operation) -> Start:
        if isinstance(op, RunOp):
            return self._runs[op.commands]
        if isinstance(op, LoadCommandsOp):
            run = self._runs[op.commands]
            if op.place is not None:
                self.outside.code[run] = _byte(op.place)
            return LoadCode(run=run)
        assert isinstance(op, LoadOp | StoreOp), op.name
        kind = LoadTile if isinstance(op, LoadOp) else StoreTile
        step = kind(
            storage=self._memory[op.memory],
            buffer=self._buffers[op.buffer],
            moves=tuple(each.data for each in op.moves),
        )
        check_moves(step)
        return step

    def _job(self, value: SSAValue) -> Job:
        if value not in self._jobs:
            raise ModelError("the schedule names a tensor that no operator of the NPU makes")
        return self._jobs[value]


def packing_of(op: PackedOp, job: Job) -> Packing:
    """What of a job's constants an operation packs. Raises ModelError."""
    region = op.region.data
    kernel = _kernel(job, op.kernel.data, region)
    return Packing(job=job.name, kernel=kernel, region=region, role=op.role.data)


def _kernel(job: Job, wanted: KernelName, out: Region) -> Kernel[Any]:
    """The kernel of a name, for a region. Raises ModelError."""
    kernels: Sequence[Kernel[Any]] = variants(job.op)
    kernel = next((each for each in kernels if each.name == wanted.name), None)
    if kernel is None:
        known = ", ".join(each.name for each in kernels)
        raise ModelError(f"{job.place}: there is no kernel {wanted.name!r}; there are {known}")
    if not out.is_within(job.op.y.shape):
        raise ModelError(f"{job.place}: its result has no {out.sizes} from {out.starts} on")
    if wanted.terms is None:
        return kernel
    first, count = wanted.terms
    terms, _ = kernel.terms(job.op)
    found = None
    if 0 <= first < terms and 0 < count <= terms - first:
        found = kernel.over_terms(job.op, out, first, count)
    if found is None:
        raise ModelError(f"{job.place}: {kernel.name} cannot sum {count} terms from {first} on")
    return found


def _byte(place: AddressAttr) -> int:
    return place.data.offset


def _numbers(*attributes: IntegerAttr) -> list[int]:
    return [attribute.value.data for attribute in attributes]

"""From a plan to TorqPlan, at the end of the function that it is for."""

from __future__ import annotations

from typing import Any, TypeVar

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ....graph.tosa import ops
from ...hw.attributes import Address, AddressAttr, Content, ContentAttr, TokenType
from ...kernels.kernel import Kernel
from ...plan.attributes import (
    BufferType,
    CommandsType,
    KernelAttr,
    KernelName,
    Lying,
    LyingAttr,
    MemoryType,
    MoveAttr,
    RegionAttr,
)
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
    schedule_of,
)
from ..network import Network
from ..outside import Outside
from ..steps import Buffer, Change, LoadCode, Plan, RunSlice, Start, Step, StoreTile, Wait
from ..storage import Packing, Storage

_Made = TypeVar("_Made", bound=Operation)


def write_schedule(
    function: FuncOp,
    network: Network,
    plan: Plan,
    outside: Outside | None = None,
    *,
    packed: bool = False,
) -> None:
    """Puts a plan at the end of a function, in the place of what it had before.

    With addresses as far as there are some; constants of kernels have bytes if they are `packed`.
    """
    written = _Writer(network, plan, outside or Outside(), packed=packed).schedule()
    before = schedule_of(function)
    block = ops.body(function)
    block.insert_op_before(written, ops.returned(function))
    if before is not None:
        block.erase_op(before)


class _Writer:
    """Makes operations of one step after the other."""

    def __init__(self, network: Network, plan: Plan, outside: Outside, *, packed: bool) -> None:
        self._plan, self._outside, self._packed = plan, outside, packed
        self._callers = {home.storage: n for n, home in enumerate(network.callers)}
        self._tensors: dict[Storage, SSAValue] = {}
        for value, home in network.homes.items():
            self._tensors.setdefault(home.storage, value)
        self._results = {job.name: job.result for job in network.jobs}
        self._ops: list[Operation] = []
        self._memory: dict[Storage, SSAValue] = {}
        self._buffers: dict[Buffer, SSAValue] = {}
        self._commands: dict[RunSlice, SSAValue] = {}
        self._tokens: dict[Start, SSAValue] = {}

    def schedule(self) -> ScheduleOp:
        """All steps."""
        for storage in self._callers:
            self._place(storage)
        changes = iter(self._plan.room)
        change = next(changes, None)
        for number, step in enumerate(self._plan.steps):
            while change is not None and change.step <= number:
                self._change(change)
                change = next(changes, None)
            self._step(step)
        while change is not None:
            self._change(change)
            change = next(changes, None)
        known = {"peak": _number(self._plan.peak)} if self._plan.addresses else {}
        return ScheduleOp.create(properties=known, regions=[Region(Block(self._ops))])

    def _add(self, op: _Made, hint: str = "") -> _Made:
        self._ops.append(op)
        if hint:
            op.results[0].name_hint = hint
        return op

    def _place(self, storage: Storage) -> SSAValue:
        """A storage's memory."""
        if storage not in self._memory:
            properties = _at("xram", self._outside.storages.get(storage))
            self._memory[storage] = self._add(self._stored(storage, properties), "memory").results[
                0
            ]
        return self._memory[storage]

    def _stored(self, storage: Storage, properties: dict[str, Attribute]) -> Operation:
        kinds = [MemoryType()]
        if storage.packing is not None:
            return self._packed_op(storage, storage.packing, properties)
        if storage in self._callers:
            properties["number"] = _number(self._callers[storage])
            properties["title"] = StringAttr(storage.name)
            return CallerOp.create(properties=properties, result_types=kinds)
        tensor = self._tensors[storage]
        return MemoryOp.create(operands=[tensor], properties=properties, result_types=kinds)

    def _packed_op(
        self, storage: Storage, packing: Packing, properties: dict[str, Attribute]
    ) -> Operation:
        properties |= {
            "role": StringAttr(packing.role),
            "kernel": _kernel(packing.kernel),
            "region": RegionAttr(packing.region),
        }
        if self._packed and storage.data is not None:
            properties["content"] = ContentAttr(Content(storage.data, storage.size))
        operator = self._results[packing.job]
        return PackedOp.create(
            operands=[operator], properties=properties, result_types=[MemoryType()]
        )

    def _change(self, change: Change) -> None:
        """A buffer takes its room, or gives it back."""
        buffer = change.buffer
        if not change.taken:
            self._add(FreeOp.create(operands=[self._buffers[buffer]]))
            return
        operator = [self._results[buffer.job]] if buffer.job else []
        properties = _at("lram", self._plan.addresses.get(buffer))
        properties["title"] = StringAttr(buffer.name)
        properties["size"] = _number(buffer.size)
        if buffer.stays:
            properties["stays"] = UnitAttr()
        if change.top:
            properties["top"] = UnitAttr()
        made = ReserveOp.create(
            operands=operator, properties=properties, result_types=[BufferType()]
        )
        self._buffers[buffer] = self._add(made, "buffer").buffer

    def _step(self, step: Step) -> None:
        if isinstance(step, Wait):
            self._add(WaitOp.create(operands=[self._tokens[step.token]]))
            return
        started, hint = self._start(step)
        self._tokens[step] = self._add(started, hint).results[0]

    def _start(self, step: Start) -> tuple[Operation, str]:
        kinds = [TokenType()]
        if isinstance(step, RunSlice):
            return self._run(step), f"slc{step.slice_}"
        if isinstance(step, LoadCode):
            place = _at("xram", self._outside.code.get(step.run))
            commands = self._described(step.run)
            made = LoadCommandsOp.create(operands=[commands], properties=place, result_types=kinds)
            return made, "xr"
        memory, buffer = self._place(step.storage), self._buffers[step.buffer]
        moves = {"moves": ArrayAttr(map(MoveAttr, step.moves))}
        if isinstance(step, StoreTile):
            ends = [buffer, memory]
            return StoreOp.create(operands=ends, properties=moves, result_types=kinds), "xw"
        ends = [memory, buffer]
        return LoadOp.create(operands=ends, properties=moves, result_types=kinds), "xr"

    def _run(self, run: RunSlice) -> RunOp:
        buffers = [self._buffers[spot.buffer] for spot in run.places.values()]
        lying = [Lying(role=role, tensor=spot.tensor) for role, spot in run.places.items()]
        return RunOp.create(
            operands=[self._described(run), *buffers],
            properties={"lying": ArrayAttr(map(LyingAttr, lying))},
            result_types=[TokenType()],
        )

    def _described(self, run: RunSlice) -> SSAValue:
        """What a run does; it is said before its first use."""
        if run not in self._commands:
            self._commands[run] = self._add(self._commands_op(run), "commands").commands
        return self._commands[run]

    def _commands_op(self, run: RunSlice) -> CommandsOp:
        return CommandsOp.create(
            operands=[self._results[run.code.job], self._code(run)],
            properties={
                "slice": _number(run.slice_),
                "kernel": _kernel(run.kernel),
                "region": RegionAttr(run.out),
                "first": _number(run.first),
                "stop": _number(run.stop),
                "cycles": _number(run.cycles),
            },
            result_types=[CommandsType()],
        )

    def _code(self, run: RunSlice) -> SSAValue:
        """The buffer of a run's commands: of kept ones that of the run that has loaded them."""
        return self._buffers[self._plan.shared.get(run.code, run.code)]


def _kernel(kernel: Kernel[Any]) -> KernelAttr:
    return KernelAttr(KernelName(name=kernel.stem, terms=kernel.some_terms))


def _number(value: int) -> IntegerAttr:
    return IntegerAttr(value, i64)


def _at(space: str, address: int | None) -> dict[str, Attribute]:
    if address is None:
        return {}
    return {"place": AddressAttr(Address(space, address))}

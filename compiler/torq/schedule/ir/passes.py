"""The passes that make and complete a function's schedule, in TorqPlan."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from assay.hw.torq.facts.hardware import hardware

from ....graph.tosa import ops
from ....models.errors import ModelError
from ...hl.operation import HlOp
from ...hw.attributes import Content, ContentAttr
from ...plan.operations import (
    CallerOp,
    LoadCommandsOp,
    MemoryOp,
    PackedOp,
    ReserveOp,
    ScheduleOp,
    schedule_of,
)
from ...target import targeting
from ..allocate import NoRoom, allocated
from ..commands import Commands
from ..kept_code import with_code_kept
from ..network import Network, network_of
from ..options import USUAL, Options
from ..outside import laid_out
from ..plan import planned
from ..steps import LoadTile, Plan, StoreTile
from ..storage import packed
from .check import check_lram, check_packed
from .read import Read, packing_of, read_schedule
from .write import write_schedule


def _choose(function: FuncOp, options: Options) -> tuple[Network, Plan]:
    """The plan of a function, whose operations say how they are made. Raises ModelError."""
    npu = hardware(options.hardware)
    network = network_of(function)
    with targeting(npu):
        plan = planned(network, options.of(npu))
    for job in network.jobs:
        made = job.result.owner
        assert isinstance(made, HlOp)
        made.tiles = plan.tiles[job.name]
    return network, plan


@dataclass(frozen=True)
class Tile(ModulePass):
    """Chooses a kernel and tiles for each operation, what is done together, and what stays in LRAM.

    Pass `schedule` takes them as they stand here, and chooses itself where nothing does.

    Before:
        %0 = torq_hl.clamp %x {low = -5 : i64, high = 5 : i64} : (tensor<16xi8>) -> tensor<16xi8>
        %1 = torq_hl.copy %0 : (tensor<16xi8>) -> tensor<16xi8>
    After:
        %0 = torq_hl.clamp %x {low = -5 : i64, high = 5 : i64,
            tiles = #torq_hl.tiles<"clamp", [16] by [0], kept>} : (tensor<16xi8>) -> tensor<16xi8>
        %1 = torq_hl.copy %0 {tiles = #torq_hl.tiles<"copy", [16] by [0]>}
            : (tensor<16xi8>) -> tensor<16xi8>
    """

    name: ClassVar[str] = "tile"
    options: Options = USUAL

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Adds attributes to the operations of the module's function. Raises ModelError."""
        _choose(ops.only_function(op), self.options)


@dataclass(frozen=True)
class Schedule(ModulePass):
    """Orders loads, runs and stores of tiles, split over both slices, and when buffers have room.

    Whether all has room is tried on the way, so that `allocate-lram` finds it, too. Some lines:

    Before:
        %0 = torq_hl.clamp %x {low = -5 : i64, high = 5 : i64} : (tensor<16xi8>) -> tensor<16xi8>
    After:
        torq_plan.schedule {
        %memory = torq_plan.caller 0 "input 0"
        %memory_1 = torq_plan.caller 1 "output 0"
        %buffer = torq_plan.reserve "x of clamp 0" 16 of %0 : !torq_hl.tensor<16xi8> top
        %buffer_1 = torq_plan.reserve "slice code" 1536 of %0 : !torq_hl.tensor<16xi8> top
        %buffer_2 = torq_plan.reserve "y of clamp 0" 16 of %0 : !torq_hl.tensor<16xi8> top
        %xr = torq_plan.load %memory to %buffer [#torq_plan.move<16, xram + 0, lram + 0>]
        torq_plan.wait %xr
        %commands = torq_plan.commands 0 of %0 : !torq_hl.tensor<16xi8> by <"clamp">
            for <[0], [16]> tasks 0 to 1 cycles 73 in %buffer_1
        %xr_1 = torq_plan.load_commands %commands
        torq_plan.wait %xr_1
        %slc0 = torq_plan.run %commands with(%buffer, %buffer_2)
            lying [#torq_plan.lying<"x", "x" int8 [16] by [1] + 0>,
            #torq_plan.lying<"y", "clamp 0" int8 [16] by [1] + 0>]
        torq_plan.free %buffer_1
        torq_plan.wait %slc0
        %xw = torq_plan.store %buffer_2 to %memory_1 [#torq_plan.move<16, xram + 0, lram + 0>]
        torq_plan.wait %xw
    """

    name: ClassVar[str] = "schedule"
    options: Options = USUAL

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Adds a schedule to the module's function, or takes another one. Raises ModelError."""
        function = ops.only_function(op)
        network, plan = _choose(function, self.options)
        write_schedule(function, network, replace(plan, addresses={}))


def scheduled(op: ModuleOp, name: str) -> tuple[FuncOp, ScheduleOp]:
    """The module's function and its schedule. Raises ModelError."""
    function = ops.only_function(op)
    schedule = schedule_of(function)
    if schedule is None:
        raise ModelError(f"pass {name} takes a function with a schedule, as pass schedule makes it")
    return function, schedule


@dataclass(frozen=True)
class PackConstants(ModulePass):
    """Packs constants: weights in the order of their kernel, the bias and scale of each channel.

    That is (O/4)IHW4 of a convolution of 4 channels at a time. Of a layer of 4 outputs with the
    weights 1 to 16, of which a vector has 8:

    Before:
        %memory_2 = torq_plan.packed "weights" of %0 : !torq_hl.tensor<1x4xi8>
            by <"fully connected"> for <[0, 0], [1, 4]>
    After:
        %memory_2 = torq_plan.packed "weights" of %0 : !torq_hl.tensor<1x4xi8>
            by <"fully connected"> for <[0, 0], [1, 4]>
            holds <"0105090d0000000002060a0e0000000003070b0f0000000004080c1000000000">
    """

    name: ClassVar[str] = "pack-constants"
    options: Options = USUAL

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Adds the bytes of all that kernels pack. Raises ModelError."""
        function, schedule = scheduled(op, self.name)
        network = network_of(function)
        with targeting(hardware(self.options.hardware)):
            read_schedule(schedule, network)
            self._pack(schedule, network)

    def _pack(self, schedule: ScheduleOp, network: Network) -> None:
        jobs = {job.result: job for job in network.jobs}
        for each in schedule.body.block.ops:
            if isinstance(each, PackedOp):
                job = jobs[each.operator]
                packing = packing_of(each, job)
                values = packing.kernel.pack(job.op, packing.region, job.values)
                data = packed("", values[packing.role], packing).data or b""
                each.properties["content"] = ContentAttr(Content(data, len(data)))


@dataclass(frozen=True)
class _OnSchedule(ModulePass):
    """A pass that makes another schedule of a schedule."""

    options: Options = USUAL

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Changes the schedule of the module's function. Raises ModelError."""
        function, schedule = scheduled(op, self.name)
        network = network_of(function)
        with targeting(hardware(self.options.hardware)):
            made = self.done(read_schedule(schedule, network), network)
        write_schedule(function, network, made.plan, made.outside, packed=True)

    @abstractmethod
    def done(self, read: Read, network: Network) -> Read:
        """The schedule as the pass leaves it. Raises ModelError."""


@dataclass(frozen=True)
class AllocateLram(_OnSchedule):
    """Gives buffers addresses in LRAM: of the room that they take the first that is free.

    Before:
        torq_plan.schedule {
        %buffer = torq_plan.reserve "x of clamp 0" 16 of %0 : !torq_hl.tensor<16xi8> top
        %buffer_1 = torq_plan.reserve "slice code" 1536 of %0 : !torq_hl.tensor<16xi8> top
        %buffer_2 = torq_plan.reserve "y of clamp 0" 16 of %0 : !torq_hl.tensor<16xi8> top
    After:
        torq_plan.schedule peak 1664 {
        %buffer = torq_plan.reserve "x of clamp 0" 16 of %0 : !torq_hl.tensor<16xi8> top
            at <lram[0x7ff40]>
        %buffer_1 = torq_plan.reserve "slice code" 1536 of %0 : !torq_hl.tensor<16xi8> top
            at <lram[0x7f940]>
        %buffer_2 = torq_plan.reserve "y of clamp 0" 16 of %0 : !torq_hl.tensor<16xi8> top
            at <lram[0x7f900]>
    """

    name: ClassVar[str] = "allocate-lram"

    def done(self, read: Read, network: Network) -> Read:
        """With an address for every buffer."""
        places = {job.name: job.place for job in network.jobs}
        try:
            return replace(read, plan=allocated(read.plan))
        except NoRoom as error:
            place = places.get(error.buffer.job, error.buffer.name)
            raise ModelError(f"{place}: {error}") from None


@dataclass(frozen=True)
class KeepCode(_OnSchedule):
    """Keeps commands in LRAM that are used again, where room is left, instead of loading them.

    Those of a fourth tile are those of the first one, whose tensors have the same addresses:

    Before:
        %commands_6 = torq_plan.commands 0 of %0 : !torq_hl.tensor<786432xi8> by <"clamp">
            for <[393216], [65536]> tasks 0 to 1 cycles 4165 in %buffer_13
        %xr_22 = torq_plan.load_commands %commands_6
    After:
        %commands_6 = torq_plan.commands 0 of %0 : !torq_hl.tensor<786432xi8> by <"clamp">
            for <[393216], [65536]> tasks 0 to 1 cycles 4165 in %buffer_1
    """

    name: ClassVar[str] = "keep-code"

    def done(self, read: Read, network: Network) -> Read:
        """Without the loads that are not needed."""
        check_lram(read.plan, network)
        return replace(read, plan=with_code_kept(read.plan)) if self.options.reuse else read


@dataclass(frozen=True)
class AllocateXram(_OnSchedule):
    """Gives addresses in XRAM to tensors, constants and commands; the same bytes are there once.

    Before:
        %memory = torq_plan.caller 0 "input 0"
        %memory_1 = torq_plan.caller 1 "output 0"
        %xr_1 = torq_plan.load_commands %commands
    After:
        %memory = torq_plan.caller 0 "input 0" at <xram[0x100000]>
        %memory_1 = torq_plan.caller 1 "output 0" at <xram[0x101000]>
        %xr_1 = torq_plan.load_commands %commands at <xram[0x101010]>
    """

    name: ClassVar[str] = "allocate-xram"

    def done(self, read: Read, network: Network) -> Read:
        """With an address for all that is in XRAM."""
        check_lram(read.plan, network)
        for step in read.plan.steps:
            if isinstance(step, LoadTile | StoreTile):
                check_packed(step.storage)
        commands = Commands(read.plan.addresses)
        return replace(read, outside=laid_out(network.callers, read.plan.steps, commands))


def lacking(module: ModuleOp) -> list[type[PackConstants | _OnSchedule]] | None:
    """The passes that a module's schedule still needs: what it says stays as it is.

    None of a module without a schedule.
    """
    found = [schedule for f in ops.functions(module) if (schedule := schedule_of(f)) is not None]
    if not found:
        return None
    every = [op for schedule in found for op in schedule.body.block.ops]
    left: list[type[PackConstants | _OnSchedule]] = []
    if any(isinstance(op, PackedOp) and op.content is None for op in every):
        left.append(PackConstants)
    if any(isinstance(op, ReserveOp) and op.place is None for op in every):
        left += [AllocateLram, KeepCode]
    outside = CallerOp | MemoryOp | PackedOp | LoadCommandsOp
    if any(isinstance(op, outside) and op.place is None for op in every):
        left.append(AllocateXram)
    return left

"""The last passes of the NPU's compiler: from a schedule to TorqHW, and to an executable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from assay.compiler.models.errors import ModelError
from assay.compiler.torq.blocks import assembled
from assay.compiler.torq.hw.executable import ExecutableOp
from assay.compiler.torq.passes.pipeline import PIPELINE, passes_named, usual_passes
from assay.compiler.torq.schedule.compile import materialised
from assay.compiler.torq.schedule.ir.passes import (
    AllocateLram,
    AllocateXram,
    KeepCode,
    PackConstants,
    Schedule,
    Tile,
    lacking,
    scheduled,
)
from assay.compiler.torq.schedule.options import USUAL, Options

from ...status import StatusError
from ..pack import pack
from .module import executable_op
from .unpacked import unpacked_of, unpacked_op


@dataclass(frozen=True)
class Materialise(ModulePass):
    """Makes tasks of the NSS and of slices, transfers and waits of a schedule that has its places.

    It does what is written, also by hand, and refuses what cannot be: buffers without an address,
    beyond LRAM's end, or with bytes of another one that is in use. Some lines:

    Before:
        %memory = torq_plan.caller 0 "input 0" at <xram[0x100000]>
        %buffer = torq_plan.reserve "x of clamp 0" 16 of %0 : !torq_hl.tensor<16xi8> top
            at <lram[0x7ff40]>
        %xr = torq_plan.load %memory to %buffer [#torq_plan.move<16, xram + 0, lram + 0>]
        torq_plan.wait %xr
        %xr_1 = torq_plan.load_commands %commands at <xram[0x101010]>
        torq_plan.wait %xr_1
    After:
        torq_hw.slice_program xram[0x101010] at lram[0x7f940] {
        torq_hw.slice_task {alu_op0_mode = DBYP, alu_op1_mode = BOR, act_clip_min = -5,
            act_clip_max = 5}
        agent DEDR lram[@"x of clamp 0"] low [B 1 by 1, D 64 by 1] high [1, A 1 by 64]
        agent DEQW lram[@"y of clamp 0"] low [B 1 by 1, D 16 by 1] high [1, A 4, A 1]
            special [B 1 by 1, X 16 by 1]
        torq_hw.nss_program {
        %xr = torq_hw.dma_in DIXR xram[@"input 0"] high [16 by 1]
            to DILW lram[@"x of clamp 0"] high [16 by 1] {mtu = 4}
        torq_hw.wait(%xr)
        %xr_1 = torq_hw.dma_in DIXR xram[@"slice code"] high [240 by 1]
            to DILW lram[@"slice code"] high [240 by 1] {mtu = 4}
        torq_hw.wait(%xr_1)
        %slc0 = torq_hw.slice_start 0 lram[0x7f940]
        torq_hw.wait(%slc0)
        %xw = torq_hw.dma_out DOLR lram[@"y of clamp 0"] high [16 by 1]
            to DOXW xram[@"output 0"] high [16 by 1] {mtu = 4}
        torq_hw.wait(%xw)
    """

    name: ClassVar[str] = "materialise"
    options: Options = USUAL

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replaces the module's function. Raises ModelError."""
        scheduled(op, self.name)
        made = materialised(op, self.options)
        _replace(op, unpacked_op(made.unpacked, "main"))


@dataclass(frozen=True)
class Pack(ModulePass):
    """Puts tasks of the NSS into blocks, each of which loads the next, and adds the host's part.

    Some lines of the same program:

    Before:
        torq_hw.nss_program {
        %xr = torq_hw.dma_in DIXR xram[@"input 0"] high [16 by 1]
            to DILW lram[@"x of clamp 0"] high [16 by 1] {mtu = 4}
        torq_hw.wait(%xr)
    After:
        torq_hw.nss_program {
        torq_hw.block xram[0x101100] at lram[0x0]
        %xr = torq_hw.dma_in DIXR xram[@"input 0"] high [16 by 1]
            to DILW lram[@"x of clamp 0"] high [16 by 1] {mtu = 4}
        torq_hw.wait(%xr)
        torq_hw.action HostCopy {source = XRAM, target = LRAM, source_address = 0x101100,
            target_address = 0, source_strides = [], target_strides = [], shape = [],
            element_bytes = 640}
        torq_hw.action StartNss {address = 0, slice0 = true, dma_in = true, dma_out = true}
        torq_hw.action WaitNss {}
    """

    name: ClassVar[str] = "pack"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replaces the module's program. Raises ModelError."""
        found = list(op.body.block.ops)
        if len(found) != 1 or not isinstance(found[0], ExecutableOp):
            raise ModelError("pass pack takes one torq_hw.executable, as pass materialise makes it")
        title = found[0].title.data
        try:
            executable = pack(assembled(unpacked_of(found[0])), title)
        except (StatusError, ValueError) as error:
            raise ModelError(f"pass pack: {error}") from None
        _replace(op, executable_op(executable))


def _replace(module: ModuleOp, made: ExecutableOp) -> None:
    block = module.body.block
    for op in reversed(list(block.ops)):
        block.erase_op(op, safe_erase=False)
    block.add_op(made)


WHOLE: tuple[type[ModulePass], ...] = (
    *PIPELINE,
    Tile,
    Schedule,
    PackConstants,
    AllocateLram,
    KeepCode,
    AllocateXram,
    Materialise,
    Pack,
)
"""From a model to the words of an executable."""


def chosen_passes(
    module: ModuleOp, names: Sequence[str] = (), stop_after: str = ""
) -> list[ModulePass]:
    """The passes with these names, or all that a module needs, up to one. Raises ModelError.

    An executable needs none, a schedule those that complete it.
    """
    if names:
        return passes_named(names, WHOLE)
    if any(isinstance(op, ExecutableOp) for op in module.body.block.ops):
        return []
    left = lacking(module)
    return usual_passes(stop_after, WHOLE if left is None else [*left, Materialise, Pack])

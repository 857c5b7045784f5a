"""What a schedule is expected to do: its time, what it moves, and how far it is from the least."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assay.hw.torq.facts.costs import sl2610
from assay.hw.torq.facts.machine import limit

from ..blocks import BURST
from ..operators.operator import Operator
from ..operators.products import Convolution, DepthwiseConvolution, FullyConnected, MatMul
from .network import Network
from .play import played
from .steps import LoadCode, LoadTile, Plan, StoreTile


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Figures of a schedule, by the costs of the emulated device; time is in cycles of its clock.

    Attributes:
        operators: how many.
        cycles: from the first command to the last.
        lram_peak: the most bytes of LRAM that buffers have at a time.
        loaded, stored: bytes of transfers from and to XRAM, commands of slices included.
        macs: products that operators sum, without padding.
        slices: cycles in which a slice works.
        transfers: cycles in which bytes are moved.
        both: cycles in which both is the case.
        mac_bound: cycles of the products if all multipliers of both slices were always at work.
        transfer_bound: cycles of the transfers if there never was a gap between them.
    """

    operators: int
    cycles: int
    lram_peak: int
    loaded: int
    stored: int
    macs: int
    slices: int
    transfers: int
    both: int
    mac_bound: int
    transfer_bound: int

    @property
    def utilisation(self) -> float:
        """Which part of the multipliers' cycles is used."""
        return self.mac_bound / self.cycles

    @property
    def overlap(self) -> float:
        """Which part of the shorter of transfers and slices' work is beside the other."""
        return self.both / max(1, min(self.slices, self.transfers))

    @property
    def roofline(self) -> int:
        """The cycles below which this schedule's products and transfers cannot be."""
        return max(self.mac_bound, self.transfer_bound)

    def __str__(self) -> str:
        times = self.cycles / max(1, self.roofline)
        bound = "products" if self.mac_bound >= self.transfer_bound else "transfers"
        milliseconds = self.cycles / sl2610().clock_hz * 1e3
        return (
            f"{self.operators:,} operators, {self.cycles:,} cycles expected, "
            f"{milliseconds:.2f} ms\n"
            f"LRAM: {self.lram_peak:,} bytes at most; DMA: {self.loaded:,} bytes loaded, "
            f"{self.stored:,} stored\n"
            f"multipliers: {self.utilisation:.0%} used; slices work {self.slices:,} cycles, "
            f"transfers {self.transfers:,}, of the shorter {self.overlap:.0%} beside the other\n"
            f"{times:.2f} times the roofline, which is {self.roofline:,} cycles of {bound}"
        )

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        more = {"utilisation": self.utilisation, "overlap": self.overlap}
        return {**asdict(self), **more, "roofline": self.roofline}


def summary_of(network: Network, plan: Plan) -> Summary:
    """The figures of a network's plan."""
    units = played(plan.steps)
    loads = [step for step in plan.steps if isinstance(step, LoadTile)]
    code = [step.run.code_bytes for step in plan.steps if isinstance(step, LoadCode)]
    stores = [step for step in plan.steps if isinstance(step, StoreTile)]
    loaded, stored = _bytes(loads) + sum(code), _bytes(stores)
    macs = sum(macs_of(job.op) for job in network.jobs)
    return Summary(
        operators=len(network.jobs),
        cycles=units.now,
        lram_peak=plan.peak,
        loaded=loaded,
        stored=stored,
        macs=macs,
        slices=units.computing,
        transfers=units.moving,
        both=units.both,
        mac_bound=-(-macs // (limit("multipliers_per_slice") * limit("slices"))),
        transfer_bound=sl2610().dma_cycles(loaded + stored, BURST),
    )


def macs_of(op: Operator) -> int:
    """How many products an operator sums; those of elementwise operators do not count."""
    if isinstance(op, MatMul):
        return op.y.shape[0] * op.y.shape[1] * op.y.shape[2] * op.b.shape[1]
    if isinstance(op, Convolution | DepthwiseConvolution | FullyConnected):
        return math.prod(op.y.shape) * math.prod(op.weights.shape[1:])
    return 0


def _bytes(steps: Sequence[LoadTile] | Sequence[StoreTile]) -> int:
    return sum(move.size for step in steps for move in step.moves)

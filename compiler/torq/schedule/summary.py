"""What a schedule is expected to do: its time, what it moves, and how far it is from the least."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.hw.torq.facts.machine import limit
from assay.hw.torq.notes import OperatorNote

from ..blocks import BURST
from ..target import target
from .bounds import least_in_order
from .network import Network
from .operators import macs_of
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
        order_bound: cycles of products and loads if operators come one behind the other, since LRAM
            holds no more of later ones' weights.
        ways: how many operators of the model came to the NPU by which way.
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
    order_bound: int = 0
    ways: dict[str, int] = field(default_factory=dict)

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

    @property
    def least(self) -> int:
        """The cycles below which its products and transfers cannot be, operator behind operator."""
        return max(self.roofline, self.order_bound)

    def __str__(self) -> str:
        times = self.cycles / max(1, self.roofline)
        bound = "products" if self.mac_bound >= self.transfer_bound else "transfers"
        milliseconds = self.cycles / target().clock_hz * 1e3
        return (
            f"{self.operators:,} operators{self._ways()}, {self.cycles:,} cycles expected, "
            f"{milliseconds:.2f} ms\n"
            f"LRAM: {self.lram_peak:,} bytes at most; DMA: {self.loaded:,} bytes loaded, "
            f"{self.stored:,} stored\n"
            f"multipliers: {self.utilisation:.0%} used; slices work {self.slices:,} cycles, "
            f"transfers {self.transfers:,}, of the shorter {self.overlap:.0%} beside the other\n"
            f"{times:.2f} times the roofline, which is {self.roofline:,} cycles of {bound}; "
            f"{self.cycles / max(1, self.least):.2f} times the least of operators in order, "
            f"{self.least:,}"
        )

    def _ways(self) -> str:
        listed = ", ".join(f"{count} {way}" for way, count in self.ways.items())
        return f" ({listed} of the model)" if listed else ""

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        more = {"utilisation": self.utilisation, "overlap": self.overlap}
        return {**asdict(self), **more, "roofline": self.roofline, "least": self.least}


def summary_of(network: Network, plan: Plan, notes: Sequence[OperatorNote] = ()) -> Summary:
    """The figures of a network's plan; `notes` are of the operators of its model."""
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
        mac_bound=-(-macs // (limit("multipliers_per_slice") * target().slices)),
        transfer_bound=target().dma_cycles(loaded + stored, BURST),
        order_bound=least_in_order(network, plan),
        ways=dict(sorted(Counter(note.way for note in notes if note.way).items())),
    )


def _bytes(steps: Sequence[LoadTile] | Sequence[StoreTile]) -> int:
    return sum(move.size for step in steps for move in step.moves)

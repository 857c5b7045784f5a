"""Why nothing happens any more: who waits for whom."""

from collections.abc import Sequence

from ..faults import Deadlock
from ..registers import registers
from . import status
from .slice_unit import SliceUnit, agent_names
from .stream_agent import StreamAgent


def deadlock(nss: StreamAgent, pending: int, slices: Sequence[SliceUnit]) -> Deadlock:
    """The error that says who waits; `pending` is what the command stream could go on with."""
    chain: list[str] = []
    if nss.waiting is not None:
        mask, _ = nss.waiting
        chain += [
            f"NSS at {nss.pc:#x} waits for {name}{_why(name, slices)}"
            for name in status.names(mask & ~pending)
        ]
    for unit in slices:
        if unit.agent.waiting is not None:
            mask, _ = unit.agent.waiting
            missing = mask & ~unit.words.get(registers("slice").address("STATUS.dr"), 0)
            who = ", ".join(agent_names(missing))
            chain.append(f"{unit.name} at {unit.agent.pc:#x} waits for {who}, not started")
    if not chain:
        chain.append("the host waits for an interrupt, but no unit runs")
    return Deadlock("; ".join(chain), unit="NPU", chain=chain)


def _why(name: str, slices: Sequence[SliceUnit]) -> str:
    if any(unit.name == name and unit.agent.running for unit in slices):
        return ", which waits itself"
    return ", which is not running: it was never started, or its end was cleared"

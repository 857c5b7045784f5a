"""How long a slice task takes, from what its agents move.

Every agent makes one transfer per cycle. What feeds the ALU and the ALU itself form one stage, the
activation unit with its feeds and DEQW the next; two banks of partial sums lie between, so a block
is activated while the next is summed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..facts.costs import Machine
from . import layout as at
from .interpreter import Counts
from .plan import SlicePlan

_FEEDS = ("DEDR", "DEDR1", "DEWR")
_SINKS = ("DEBR", "DEBR1", "DEQW")


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceCycles:
    """A task's time in cycles: in all, of each agent alone, and the agent that is the slowest."""

    total: int
    agents: dict[str, int]
    slowest: str


def cycles_of(plan: SlicePlan, counts: Counts, machine: Machine) -> SliceCycles:
    """The cycles of a task, from its first transfer to its last result."""
    agents = dict(counts.transfers)
    if counts.blocks:
        agents["ALU"] = counts.alu_cycles
        agents["ACT"] = counts.vectors * _vector_cycles(plan, machine)
    total = pipelined(agents, counts.blocks)
    slowest = max(agents, key=lambda name: agents[name]) if agents else ""
    return SliceCycles(total=total, agents=agents, slowest=slowest)


def pipelined(agents: Mapping[str, int], blocks: int) -> int:
    """The cycles of so many blocks from what each agent takes alone, ALU and ACT included.

    What is summed last has still to be activated, and what is activated first to be summed.
    """
    first = max((agents[name] for name in (*_FEEDS, "ALU") if name in agents), default=0)
    second = max((agents[name] for name in (*_SINKS, "ACT") if name in agents), default=0)
    if not blocks:
        return max(first, second)
    return max(first + -(-second // blocks), second + -(-first // blocks))


def _vector_cycles(plan: SlicePlan, machine: Machine) -> int:
    return -(-plan[at.RESULTS] // machine.table_lookups) if plan[at.TABLE_ON] else 1

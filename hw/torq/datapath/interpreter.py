"""Runs decoded slice tasks; counts what agents move, and refuses tasks whose agents disagree."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..faults import AccessFault, CountMismatch, TorqFault
from ..lram import Lram
from . import layout as at
from .descriptors import Descriptor
from .feed import steps_of_word, words_of_row
from .plan import SlicePlan
from .plan_alu import without_fast_path
from .run import run_task
from .state import Slice, scratch

PRAM_WORDS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What one task does: transfers of each agent, ALU cycles, vectors of the activation unit."""

    transfers: dict[str, int]
    blocks: int
    alu_cycles: int
    vectors: int
    results: int
    """Results per vector."""


class Interpreter:
    """One slice's datapath: its partial sums outlive a task."""

    def __init__(self) -> None:
        self.pram: NDArray[np.int32] = np.zeros(PRAM_WORDS, np.int32)
        self._scratch = scratch()
        self._report = self._scratch["report"]
        self._machine = Slice()
        self._machine.point({"pram": self.pram, **self._scratch})

    def run(self, plan: SlicePlan, lram: Lram, *, fast: bool = True) -> None:
        """Runs a task on LRAM; `fast` False forgoes the fast paths.

        Raises TorqFault when the task leaves LRAM; what it wrote until then stays written.
        """
        numbers = plan.numbers if fast else without_fast_path(plan.numbers)
        self._machine.point(
            {
                "p": numbers,
                "nests": plan.nests,
                "loops": plan.loops,
                "lanes": plan.lanes,
                "base": plan.base,
                "slope": plan.slope,
                "expansion": plan.expansion,
                "lram": lram.bytes,
            }
        )
        self._machine.lram_size = len(lram.bytes)
        run_task(self._machine)
        code, agent, address, size = (int(number) for number in self._report)
        if code == at.OUT_OF_RANGE:
            raise AccessFault(
                f"bytes {address:#x} to {address + size:#x} are not inside of LRAM, "
                f"which has {len(lram):#x}",
                agent=at.AGENTS[agent],
                address=address,
            )
        if code == at.RAN_DRY:
            raise CountMismatch("it has no transfer left", agent=at.AGENTS[agent])


def count(plan: SlicePlan) -> Counts:
    """What a task moves. Raises CountMismatch when two of its agents disagree."""
    transfers = {agent: _transfers(plan, agent) for agent in plan.descriptors}
    alu = plan[at.ALU_KIND] != at.NO_ALU
    blocks = plan[at.BLOCKS] if alu else 0
    cycles = blocks * plan[at.CYCLES]
    vectors = blocks * plan[at.VECTORS] if plan[at.ACT_ON] else 0
    found = Counts(
        transfers=transfers,
        blocks=blocks,
        alu_cycles=cycles,
        vectors=vectors,
        results=plan[at.RESULTS],
    )
    _compare(plan, found)
    return found


def _compare(plan: SlicePlan, found: Counts) -> None:
    _someone_takes(plan, found)
    transfers = found.transfers
    if plan[at.DATA_ON]:
        supplied = _data_cycles(plan, transfers["DEDR"])
        _equal("DEDR", supplied, "CEPR", found.alu_cycles, "ALU cycles")
    if plan[at.GATHER]:
        units = transfers["DEDR"] // plan[at.UNIT] * plan[at.INDEX_UNIT]
        _equal("DEDR1", transfers["DEDR1"], "DEDR", units, "index words")
    if plan[at.WEIGHTS] == at.WEIGHTS_EXPLICIT and "DEWR" in transfers:
        words, rest = divmod(transfers["DEWR"], plan[at.WEIGHT_TRANSFERS])
        uses = plan[at.WEIGHT_STEPS] * plan[at.WEIGHT_REPEAT_STEP] * plan[at.WEIGHT_REPEAT_WORD]
        _equal("DEWR", rest, "CEWW", 0, "transfers behind the last whole weight word")
        _equal("DEWR", words * uses, "CEPR", found.alu_cycles, "ALU cycles")
    if plan[at.BIAS_ON]:
        uses = transfers["DEBR"] * plan[at.BIAS_REUSE]
        _equal("DEBR", uses, "ACPR", found.vectors, "activation vectors")
    if plan[at.WRITE_ON] and not plan[at.FILL]:
        _equal("DEQW", transfers["DEQW"], "ACPR", found.vectors, "activation vectors")
    if plan[at.SCATTER]:
        _equal("DEBR1", transfers["DEBR1"], "DEQW", transfers["DEQW"], "transfers")


def _someone_takes(plan: SlicePlan, found: Counts) -> None:
    """What one unit makes another must be running to take."""
    if plan[at.ACT_ON] and not found.blocks:
        raise CountMismatch(
            "the activation unit waits, but START does not start the ALU", agent="ACPR"
        )
    kept = not plan.image["CE.AL_MODE.cepx_out_en"]
    if found.blocks and not plan[at.ACT_ON] and not kept:
        raise CountMismatch("the ALU's sums are taken by no one", agent="CEPR")
    idle = [agent for agent in ("DEDR", "DEWR") if agent in found.transfers and not found.blocks]
    if idle:
        raise CountMismatch("runs, but START does not start the ALU", agent=idle[0])
    if found.vectors and not plan[at.WRITE_ON]:
        raise CountMismatch(
            f"ACPR hands on {found.vectors} vectors, but START does not start DEQW", agent="DEQW"
        )


def _equal(one: str, its: int, other: str, others: int, what: str) -> None:
    if its != others:
        raise CountMismatch(
            f"{one} and {other} disagree: {one} makes {its} {what}, {other} {others}", agent=one
        )


def _transfers(plan: SlicePlan, agent: str) -> int:
    """Transfers of all descriptors of an agent."""
    return sum(_of_nest(plan, agent, descriptor) for descriptor in plan.descriptors[agent])


def _of_nest(plan: SlicePlan, agent: str, descriptor: Descriptor) -> int:
    counts = [loop.count for loop in descriptor.loops]
    product = 1
    k = 0
    while k < len(counts):
        missing = _missing(plan, agent, k, len(counts))
        if missing:
            if missing >= counts[k]:
                raise TorqFault(f"loop {k} would be shortened to nothing", agent=agent)
            product *= counts[k] * counts[k + 1] - missing
            k += 2
        else:
            product *= counts[k]
            k += 1
    return product


def _missing(plan: SlicePlan, agent: str, loop: int, loops: int) -> int:
    """By how much the last round of a loop is shorter."""
    if agent != "DEDR" or loop + 1 >= loops:
        return 0
    if loop == plan[at.SHORT_LOOP] and plan[at.SHORT_BY]:
        return plan[at.SHORT_BY]
    return plan[at.SHORT_BY1] if loop == plan[at.SHORT_LOOP1] else 0


def _data_cycles(plan: SlicePlan, transfers: int) -> int:
    """ALU cycles that so many data transfers feed."""
    words, rest = divmod(transfers, plan[at.SEGMENTS])
    if rest:
        raise CountMismatch(
            f"DEDR makes {transfers} transfers, which do not fill words of {plan[at.SEGMENTS]} "
            "segments that CEDW writes",
            agent="DEDR",
        )
    steps = [steps_of_word(plan.numbers, k) for k in range(words_of_row(plan.numbers))]
    rows, rest = divmod(words, len(steps))
    used = rows * sum(steps) + sum(steps[:rest])
    return used * plan[at.REPEAT_STEP] * plan[at.REPEAT_WORD]

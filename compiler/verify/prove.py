"""Proofs of one kernel: what holds for all sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from assay.sim.simt.ir.nodes import THREADGROUP_ROOTS
from assay.sim.simt.run.program import Program

from .answers import Answer, Obstacle
from .barriers import share_loops, uniform_barriers
from .kernel import Kernel, Size, prepared
from .races import threadgroup_races
from .study import Study
from .terms import Expression
from .values import Values


def prove(
    program: Program,
    size: Size,
    assumed: Callable[[Values], list[Expression]] = lambda values: [],
) -> list[Answer]:
    """What is proved, refuted or not decided of a kernel.

    Args:
        program: the kernel.
        size: threads of its threadgroups, all of which are full.
        assumed: what is assumed of its launches.

    Raises:
        UnsupportedKernel: for what proofs cannot be about.
    """
    kernel = prepared(program, size)
    share_loops(kernel)
    barriers = uniform_barriers(Study(kernel, assumed))
    races = threadgroup_races(Study(kernel, assumed))
    return [_resting(barriers, races, _reads_shared(kernel)), _resting(races, barriers, True)]


def _resting(answer: Answer, other: Answer, rests: bool) -> Answer:
    """A proof that is one only together with another that was not found is none.

    That threads come to the same barriers and that they do not race is proved together, by what
    goes wrong first: until then, the other holds.
    """
    if not rests or answer.verdict != "proved" or other.verdict == "proved":
        return answer
    why = f"it would be proved if {other.about} were, which are {other.verdict}"
    return replace(answer, verdict="undecided", obstacles=(Obstacle(why=why),))


def _reads_shared(kernel: Kernel) -> bool:
    """Whether threads are taken to read the same where they read threadgroup memory together."""
    return any(
        isinstance(each.root, THREADGROUP_ROOTS) and each not in kernel.threads.varying
        for each in kernel.accesses()
        if each.operation.reads_memory
    )

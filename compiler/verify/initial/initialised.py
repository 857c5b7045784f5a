"""Whether all that is read of threadgroup memory was written before, by whatever thread."""

from __future__ import annotations

from collections.abc import Iterator

from assay.sim.simt.ir.nodes import THREADGROUP_ROOTS

from ..answers import Answer, Counterexample, Obstacle, answer
from ..copies import copies_of
from ..intervals import MEM_THREADGROUP, Interval, intervals
from ..races import unknown_arrays
from ..study import Study
from ..walks.visits import Visit
from .search import Search

ABOUT = "initialised"


def initialised(study: Study) -> Answer:
    """Whether threadgroup memory is written before it is read.

    Args:
        study: of many threads, of which `a` reads.
    """
    copies = copies_of(study)
    search = Search(study, copies)
    obstacles = [*copies.obstacles, *unknown_arrays(study.kernel)]
    examples: list[Counterexample] = []
    for interval in intervals(study.kernel, MEM_THREADGROUP):
        for visit in _reads(study, interval):
            enough = study.effort.is_enough(examples, obstacles)
            if enough or not study.meant(visit.access):
                continue
            found = search.unwritten(interval, visit)
            if isinstance(found, Obstacle):
                obstacles.append(found)
            elif found is not None:
                examples += found
    return answer(ABOUT, study.cases, examples, obstacles)


def _reads(study: Study, interval: Interval) -> Iterator[Visit]:
    for block, state in interval.visits:
        for access in block.body:
            if access.operation.reads_memory and isinstance(access.root, THREADGROUP_ROOTS):
                yield Visit(access, state)

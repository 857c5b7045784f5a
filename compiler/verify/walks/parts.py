"""What a simdgroup does as a whole where only part of one may come to it: asynchronous copies, and
loads and stores of matrices.

Metal asks for all lanes there. Each lane's share is an access of its own here, so that proofs about
some lanes' shares would be about less than the hardware may do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from assay.sim.check import layout
from assay.sim.lanes import LANES
from assay.sim.simt.analysis.divergence import skipped_by
from assay.sim.simt.ir.nodes import Instruction, is_private
from assay.sim.simt.ir.operations.marks import ACCESS_KIND
from assay.sim.simt.ir.operations.memory import LOAD, STORE
from assay.sim.simt.ir.operations.positions import MATRIX_COLUMN, MATRIX_ROW

from ..answers import Obstacle
from ..barriers import divergence
from ..copies import kind_of
from ..kernel import Kernel
from ..study import Study

_WHY = "all lanes of a simdgroup have to come to it, and that they do is not proved"


def made_by_part(study: Study) -> Iterator[Obstacle]:
    """Copies and accesses of matrices that part of a simdgroup may make; the study is of two
    threads of one.
    """
    kernel = study.kernel
    whole = list(_of_simdgroups(kernel))
    if not whole:
        return
    if math.prod(kernel.size) % LANES or kernel.is_ragged:
        yield from (Obstacle(why=_WHY, site=each.site) for each in whole)
        return
    for block in [each for each in kernel.cfg.order if each in kernel.lanes.divergent]:
        skipped = skipped_by(block, kernel.cfg)
        here = [each for each in whole if each.block in skipped]
        if here and divergence(study, block) is not None:
            yield from (Obstacle(why=_WHY, site=each.site) for each in here)


def _of_simdgroups(kernel: Kernel) -> Iterator[Instruction]:
    """Where copies begin, and accesses whose places depend on a lane's place in a matrix."""
    of_matrices: set[Instruction] = set()
    before, is_kept = -1, False
    while before != len(of_matrices):
        before = len(of_matrices)
        for each in kernel.function.instructions():
            is_place = each.operation in (MATRIX_ROW, MATRIX_COLUMN)
            is_computed = not each.operation.accesses_memory
            comes_of = not of_matrices.isdisjoint(each.operands)
            # What a thread keeps of its place may be read from its own memory anywhere.
            is_kept |= each.operation is STORE and is_private(each.root) and comes_of
            is_read = is_kept and each.operation is LOAD and is_private(each.root)
            if is_place or is_read or (is_computed and comes_of):
                of_matrices.add(each)
    for each in kernel.function.instructions():
        is_copy = each.operation is ACCESS_KIND and kind_of(each) == layout.KIND_COPY
        if is_copy or (each.operation.accesses_memory and each.operands[0] in of_matrices):
            yield each

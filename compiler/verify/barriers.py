"""Whether all threads of a threadgroup come to the same barriers, in the same order."""

from __future__ import annotations

from assay.sim.simt.analysis.divergence import escapes
from assay.sim.simt.ir.nodes import Block, Instruction

from .answers import Answer, Counterexample, Obstacle, answer
from .conditions import differ
from .kernel import Kernel, barrier_of
from .study import Study

ABOUT = "barriers"


def uniform_barriers(study: Study) -> Answer:
    """Whether threads agree on all branches that decide which barrier they come to next.

    If they do, they are in the same iteration of all loops that are left or gone round by such a
    branch, which is what `Kernel.shared` says and other proofs build on.
    """
    study.cases = 0
    examples: list[Counterexample] = []
    obstacles: list[Obstacle] = []
    for block in deciding(study.kernel):
        if study.effort.is_for_proofs and (examples or obstacles):
            break
        found = divergence(study, block)
        if isinstance(found, Obstacle):
            obstacles.append(found)
        elif found is not None:
            examples += found
    return answer(ABOUT, study.cases, examples, obstacles)


def share_loops(kernel: Kernel) -> None:
    """Count loops as gone through together if a branch in them decides on barriers."""
    before = -1
    while before != len(kernel.shared):
        before = len(kernel.shared)
        for block in deciding(kernel):
            kernel.shared.update(kernel.around(block))


def deciding(kernel: Kernel) -> list[Block]:
    """Blocks with a branch on which it depends which barrier comes next, or which iteration of
    loops that threads go through together.
    """
    return [block for block in kernel.cfg.order if _decides(kernel, block)]


def _decides(kernel: Kernel, block: Block) -> bool:
    if block.condition is None or len(set(block.targets)) < 2:
        return False
    meeting = kernel.cfg.postdominator[block]
    seen: set[Block] = set()
    work = [each for each in block.targets if each is not meeting]
    while work:
        reached = work.pop()
        if reached in seen:
            continue
        seen.add(reached)
        if barrier_of(reached) is not None:
            return True
        work += [each for each in reached.targets if each is not meeting]
    # What leaves or goes round a loop that is shared is decided together, too.
    return any(
        (meeting is None or meeting not in loop.blocks) and block in loop.blocks
        for loop in kernel.shared
    )


def divergence(study: Study, block: Block) -> list[Counterexample] | Obstacle | None:
    """How two threads part before a barrier; None if they cannot."""
    condition = block.condition
    assert condition is not None
    if not study.kernel.threads.is_varying(condition) and not _escapes(study.kernel, block):
        return None
    a, b = study.a, study.b
    counts = a.counts_at(block, {})
    formulas = [
        a.path(block, counts),
        b.path(block, counts),
        differ(a.condition(condition, counts), b.condition(condition, counts)),
    ]
    model = study.ask(formulas)
    if model.answer == "no":
        return None
    place = _place(block)
    if model.answer == "unknown":
        return Obstacle(why="whether all threads take the same way is too hard", site=place.site)
    words = [(a, "takes one way to the barrier", place), (b, "takes another", place)]
    return study.examples(formulas, model, "", words)


def _place(block: Block) -> Instruction:
    """What stands for a branch in the source: its condition."""
    if isinstance(block.condition, Instruction):
        return block.condition
    return block.body[-1]


def _escapes(kernel: Kernel, block: Block) -> bool:
    """Whether a branch's condition comes out of a loop that threads leave at different times."""
    assert block.condition is not None
    return escapes(block.condition, block, kernel.cfg)

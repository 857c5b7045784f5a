"""Whether accesses stay within the memory that they belong to."""

from __future__ import annotations

from collections.abc import Mapping

from assay.sim.simt.ir.nodes import (
    AddressRoot,
    BufferRoot,
    ConstantRoot,
    Instruction,
    PrivateArenaRoot,
    PrivateRoot,
    Root,
    ThreadgroupArenaRoot,
    ThreadgroupParameterRoot,
    ThreadgroupRoot,
)

from .accesses import action, length
from .answers import (
    UNKNOWN_ARRAY,
    UNKNOWN_TARGET,
    Answer,
    Counterexample,
    Obstacle,
    answer,
)
from .conditions import both, negation
from .kernel import Lack
from .memory.pointers import PointedRoot, buffers_behind, may_be_null
from .study import Study
from .terms import Expression

ABOUT = "bounds"
_UNKNOWN_ROOTS = (ThreadgroupArenaRoot, PrivateArenaRoot)
_NOT_WHOLE = "reads of a thread's own arrays may be missing where loops are unrolled"


def within_bounds(study: Study, lengths: Mapping[str, Expression]) -> Answer:
    """Whether accesses to arrays, and to buffers of known length, stay within them.

    Args:
        study: any thread is the study's `a`.
        lengths: bytes of arguments that stand for memory, by name.
    """
    study.lengths = lengths
    before = study.cases
    examples: list[Counterexample] = []
    obstacles: list[Obstacle] = [Obstacle(why=_NOT_WHOLE)] if Lack.OWN in study.kernel.lacks else []
    for access in study.kernel.accesses():
        if _may_leave(access, lengths):
            obstacles.append(Obstacle(why=UNKNOWN_TARGET, site=access.site))
            continue
        if isinstance(access.root, _UNKNOWN_ROOTS) and study.meant(access):
            obstacles.append(Obstacle(why=UNKNOWN_ARRAY, site=access.site))
            continue
        size = _size(access.root, lengths)
        enough = study.effort.is_enough(examples, obstacles)
        if size is None or enough or not study.meant(access):
            continue
        found = _outside(study, access, size)
        if isinstance(found, Obstacle):
            obstacles.append(found)
        elif found is not None:
            examples += found
    return answer(ABOUT, study.cases - before, examples, obstacles)


def _may_leave(access: Instruction, lengths: Mapping[str, Expression]) -> bool:
    """Whether an access through a pointer may be to memory of known length, or to none."""
    if not isinstance(access.root, AddressRoot):
        return False
    buffers = buffers_behind(access.root.address)
    if buffers is None or may_be_null(access.root.address):
        return True
    return any(root.name in lengths for root in buffers)


def _size(root: Root | None, lengths: Mapping[str, Expression]) -> Expression | None:
    """Bytes of what is behind a root; None if that is not known."""
    if isinstance(root, ThreadgroupRoot | PrivateRoot | ConstantRoot):
        return root.size
    if isinstance(root, BufferRoot | ThreadgroupParameterRoot):
        return lengths.get(root.name)
    return None


def _outside(
    study: Study, access: Instruction, size: Expression
) -> list[Counterexample] | Obstacle | None:
    """How an access leaves its memory; None if it cannot."""
    values, block = study.a, access.block
    assert block is not None and access.root is not None
    counts = values.counts_at(block, {})
    start = values.read(access.operands[0], counts, "signed").value
    if isinstance(access.root, PointedRoot):
        start = start + access.root.first
    inside = both(start >= 0, start + length(access) <= size)
    # There are no buffers of 0 bytes.
    lengths_are = [each > 0 for each in study.lengths.values()]
    formulas = [values.path(block, counts), negation(inside), *lengths_are]
    model = study.ask(formulas)
    if model.answer == "no":
        return None
    if model.answer == "unknown":
        why = f"whether the {action(access)} stays within '{access.root.name}' is too hard"
        return Obstacle(why=why, site=access.site)
    words = [(values, action(access), access)]
    return study.examples(formulas, model, access.root.name, words)

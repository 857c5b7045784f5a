"""Between which numbers everything lies that is ever stored into an array of a threadgroup.

What is read of such an array lies there, too, if all reads find what was written before and no
threads race: the first read that did not would find something that was stored before it. So this is
for who has proved both. Reads and writes are of whole elements of one width, so that none finds
parts of two.
"""

from __future__ import annotations

from assay.sim.simt.ir.llvm_types import bits
from assay.sim.simt.ir.nodes import (
    Instruction,
    Root,
    ThreadgroupArenaRoot,
    ThreadgroupRoot,
    block_of,
)
from assay.sim.simt.ir.operations.memory import LOAD, STORE

from ..kernel import Kernel
from ..races import unknown_arrays
from ..values import Values

Stored = dict[Root, tuple[int, int]]


def stored_in(kernel: Kernel, values: Values) -> Stored:
    """The least and the largest number of each array of which not all can be stored.

    Args:
        kernel: the kernel.
        values: of any thread.
    """
    is_any = any(isinstance(each.root, ThreadgroupArenaRoot) for each in kernel.accesses())
    if is_any or unknown_arrays(kernel):
        return {}
    accesses: dict[Root, list[Instruction]] = {}
    for each in kernel.accesses():
        if isinstance(each.root, ThreadgroupRoot):
            accesses.setdefault(each.root, []).append(each)
    found = {root: _between(values, of_root) for root, of_root in accesses.items()}
    return {root: known for root, known in found.items() if known is not None}


def _between(values: Values, accesses: list[Instruction]) -> tuple[int, int] | None:
    """What all that accesses to an array store lies between; None if that may be anything."""
    width = bits(accesses[0].element)
    if not all(_is_of_elements(values, each, width) for each in accesses):
        return None
    stores = [each for each in accesses if each.operation is STORE]
    terms = [
        values.read(each.operands[1], values.counts_at(block_of(each), {}), "unsigned")
        for each in stores
    ]
    if not terms or any(term.least is None or term.most is None for term in terms):
        return None
    least = min(term.least for term in terms if term.least is not None)
    most = max(term.most for term in terms if term.most is not None)
    return None if (least, most) == (0, (1 << width) - 1) else (least, most)


def _is_of_elements(values: Values, access: Instruction, width: int) -> bool:
    """Whether an access reads or writes one integer of a width, at a multiple of it."""
    if access.operation not in (LOAD, STORE) or access.components != 1:
        return False
    if access.element != f"i{width}" or width % 8 or width & width - 1:
        return False
    at = values.read(access.operands[0], values.counts_at(block_of(access), {}), "signed")
    return at.zeros >= (width // 8).bit_length() - 1

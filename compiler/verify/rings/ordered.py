"""What barriers order besides races: atomics, which do not race, but find what came before them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import product

from assay.sim.simt.ir.nodes import THREADGROUP_ROOTS, Block, Instruction, Root, is_private

from ..intervals import MEM_DEVICE, MEM_THREADGROUP, separates
from ..kernel import Kernel, is_read_only
from ..races import same_memory

Matters = Callable[[Instruction, Instruction], bool]


def atomics_meet(kernel: Kernel, dropped: Collection[Block], *, is_alone: bool) -> bool:
    """Whether accesses whose order decides what atomics find have no barrier between them but those
    that are dropped.

    Args:
        kernel: with all of its barriers.
        dropped: blocks that end in those.
        is_alone: whether there is one threadgroup: then only what comes to the same memory matters.
    """
    shared = [each for each in kernel.accesses() if not is_private(each.root)]
    of_group = [each for each in shared if isinstance(each.root, THREADGROUP_ROOTS)]
    of_device = [each for each in shared if not isinstance(each.root, THREADGROUP_ROOTS)]

    def hands_over(one: Instruction, other: Instruction) -> bool:
        """Whether another threadgroup may see the order of two accesses: one of them, atomic, says
        or asks how far the other has come, as a flag or a counter of threadgroups that are done.
        """
        is_told = one.operation.is_atomic or other.operation.is_atomic
        return is_told and _may_change(kernel, one) and _may_change(kernel, other)

    on_device = _order_matters if is_alone else hands_over
    return _meet(dropped, separates(MEM_THREADGROUP), of_group, _order_matters) or _meet(
        dropped, separates(MEM_DEVICE), of_device, on_device
    )


def _order_matters(one: Instruction, other: Instruction) -> bool:
    """Whether what two atomics of one memory find depends on which comes first."""
    are_atomic = one.operation.is_atomic and other.operation.is_atomic
    writes = one.operation.writes_memory or other.operation.writes_memory
    return are_atomic and writes and same_memory(one, other)


def _may_change(kernel: Kernel, access: Instruction) -> bool:
    """Whether somebody may write where an access goes while the kernel runs: atomics would not be
    needed elsewhere.
    """
    return access.operation.is_atomic or not is_read_only(access.root, kernel.written)


def _meet(
    dropped: Collection[Block],
    ends: Callable[[Block], bool],
    accesses: Collection[Instruction],
    matters: Matters,
) -> bool:
    """Whether the order matters of an access before a dropped barrier and one behind it."""
    if not any(each.operation.is_atomic for each in accesses):
        return False
    kinds: dict[Block, dict[tuple[Root | None, bool, bool], Instruction]] = {}
    for each in accesses:
        assert each.block is not None
        kind = (each.root, each.operation.is_atomic, each.operation.writes_memory)
        kinds.setdefault(each.block, {}).setdefault(kind, each)
    return any(
        matters(one, other)
        for start, before in kinds.items()
        for block in _behind(start, dropped, ends)
        for one, other in product(before.values(), kinds.get(block, {}).values())
    )


def _behind(
    start: Block, dropped: Collection[Block], ends: Callable[[Block], bool]
) -> Iterator[Block]:
    """Blocks that are come to from one through a dropped barrier, and no other that separates."""
    seen: set[tuple[Block, bool]] = set()
    work = [(start, False)]
    while work:
        block, is_behind = work.pop()
        if block in dropped:  # it holds threads back, whatever memory its flags name
            is_behind = True
        elif ends(block):
            continue
        for target in block.targets:
            if (target, is_behind) not in seen:
                seen.add((target, is_behind))
                work.append((target, is_behind))
                if is_behind:
                    yield target

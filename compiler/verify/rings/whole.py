"""What the reading that rings are about may leave out, or take for granted, of the whole kernel.

It is of what is needed: reads in vain are not in it, nor what LLVM need not do as it depends on a
variable that may have no value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from assay.sim.simt.ir.nodes import (
    PRIVATE_ROOTS,
    THREADGROUP_ROOTS,
    AddressRoot,
    Block,
    Constant,
    Instruction,
    PrivateArenaRoot,
    PrivateRoot,
    Root,
    ThreadgroupParameterRoot,
    ThreadgroupRoot,
    Value,
)
from assay.sim.simt.ir.operations.marks import UNINITIALISED
from assay.sim.simt.ir.operations.memory import LOAD, STORE
from assay.sim.simt.ir.operations.synchronisation import THREADGROUP_BARRIER
from assay.sim.site import Site

from ..accesses import length
from ..answers import Obstacle
from ..kernel import Kernel
from ..races import THREADGROUP_SPACES, same_memory
from ..walks.order import dominates
from .rotation import Ring

_ARRAYS = (ThreadgroupRoot, ThreadgroupParameterRoot)

_Kind = tuple[Site, Root | None, bool, bool]


def left_out(ring: Ring, needed: Kernel, whole: Kernel) -> Iterator[Obstacle]:
    """Why nothing may be said of a ring: what is done with it, or orders it, and is not looked at.

    Args:
        ring: of the reading of what is needed.
        needed: the reading of what is needed.
        whole: the kernel as it is written.
    """
    known = list(_shared(needed))
    others = {each.root for each in known if isinstance(each.root, _ARRAYS)} - {ring.root}
    left = Counter(map(_kind, known))
    for each in _shared(whole):
        kind = _kind(each)
        left[kind] -= 1
        if left[kind] < 0 and not _is_read_of(each, others):
            why = "nobody needs this, or it depends on what has no value: it is not looked at"
            yield Obstacle(why=why, site=each.site)
    leading = leading_to(ring.loop.header)
    behind = {_kind(each) for each in known} - {
        _kind(each) for each in known if each.block in leading and each.root not in others
    }
    yield from _without_value(behind, whole)


def leading_to(block: Block) -> Collection[Block]:
    """A block, and all from which it is come to."""
    found, work = {block}, [block]
    while work:
        more = [each for each in work.pop().predecessors if each not in found]
        found.update(more)
        work += more
    return found


def _shared(kernel: Kernel) -> Iterator[Instruction]:
    """Barriers, and accesses of what may be threadgroup memory."""
    for each in kernel.function.instructions():
        root = each.root
        is_hidden = isinstance(root, AddressRoot) and root.space in THREADGROUP_SPACES
        is_shared = isinstance(root, THREADGROUP_ROOTS) or is_hidden
        if each.operation is THREADGROUP_BARRIER or (each.operation.accesses_memory and is_shared):
            yield each


def _kind(each: Instruction) -> _Kind:
    """What accesses and barriers of two readings have in common."""
    root = None if isinstance(each.root, AddressRoot) else each.root
    return each.site, root, each.operation.reads_memory, each.operation.writes_memory


def _is_read_of(each: Instruction, arrays: Collection[Root | None]) -> bool:
    """Whether it only reads one of some arrays."""
    return each.root in arrays and not each.operation.writes_memory


def _without_value(no_matter: Collection[_Kind], kernel: Kernel) -> Iterator[Obstacle]:
    """Branches, and accesses of what may be the ring's array, by what may have no value.

    Args:
        no_matter: accesses of other arrays, or from which the loop is not come to.
        kernel: as it is written.
    """
    unset = _unset(kernel)
    for block in kernel.cfg.order:
        if block.condition in unset:
            yield Obstacle(why="which way it goes may depend on what has no value", site=block.site)
    for each in _shared(kernel):
        if _kind(each) not in no_matter and not unset.isdisjoint(_operands(each)):
            yield Obstacle(why="it may depend on what has no value", site=each.site)


def _unset(kernel: Kernel) -> set[Value]:
    """All that is made of variables that may have no value, also by way of memory."""
    every = list(kernel.function.instructions())
    found: set[Value] = {each for each in every if each.operation is UNINITIALISED}
    found.update(_found_unset(kernel, every))
    writes: dict[Root | None, Instruction] = {}
    known = -1
    while known != len(found) + len(writes):
        known = len(found) + len(writes)
        for each in every:
            if not found.isdisjoint(_operands(each)) or _may_find(each, writes.values()):
                found.add(each)
                if each.operation.writes_memory and not _begins(each):
                    writes.setdefault(each.root, each)
    return found


def _operands(each: Instruction) -> list[Value]:
    """What it is made of, or goes to."""
    root = each.root
    return [*each.operands, *([root.address] if isinstance(root, AddressRoot) else [])]


def _begins(store: Instruction) -> bool:
    """Whether a store says that a variable in memory begins without a value."""
    value = store.operands[1] if store.operation is STORE else None
    return isinstance(value, Instruction) and value.operation is UNINITIALISED


def _may_find(read: Instruction, writes: Collection[Instruction]) -> bool:
    """Whether a read may find what some writes left."""
    if not read.operation.reads_memory:
        return False
    return any(same_memory(read, each) or _are_own(read, each) for each in writes)


def _are_own(one: Instruction, other: Instruction) -> bool:
    """Whether accesses are of a thread's own memory, of one of which the array is not known."""
    are_own = isinstance(one.root, PRIVATE_ROOTS) and isinstance(other.root, PRIVATE_ROOTS)
    return are_own and any(isinstance(each.root, PrivateArenaRoot) for each in (one, other))


def _found_unset(kernel: Kernel, every: Collection[Instruction]) -> Iterator[Instruction]:
    """Reads of a known element of a thread's own array that nobody surely wrote before: LLVM may
    see that these have no value. It does not where it does not know which element is read, but of
    arrays that nobody writes.
    """
    own = [each for each in every if isinstance(each.root, PrivateRoot)]
    stores = [each for each in own if each.operation is STORE and not _begins(each)]
    written = {each.root for each in every if each.operation.writes_memory and not _begins(each)}
    is_any = any(isinstance(root, PrivateArenaRoot) for root in written)
    for each in own:
        if each.operation is not LOAD:
            continue
        if _place(each) is None:
            if each.root not in written and not is_any:
                yield each
        elif not any(_covers(store, each) and dominates(kernel, store, each) for store in stores):
            yield each


def _place(access: Instruction) -> int | None:
    """Where in its array an access is, if that is a known number."""
    at = access.operands[0]
    return at.number if isinstance(at, Constant) else None


def _covers(store: Instruction, load: Instruction) -> bool:
    start, at = _place(store), _place(load)
    if store.root != load.root or start is None or at is None:
        return False
    return start <= at and at + length(load) <= start + length(store)

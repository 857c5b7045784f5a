"""What shadow memory a watched kernel needs."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.llvm_types import Scalar, size_of
from ..ir.nodes import THREADGROUP_ROOTS, AddressRoot, BufferRoot, Function
from ..ir.operations.marks import OBSERVE_TOGETHER
from ..ir.operations.memory import LOAD, STORE

# Checks that need records of accesses.
RACE_CHECKS = frozenset({"race", "lanes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchNeeds:
    """Which memory a kernel writes, how finely it accesses threadgroup memory, and what is compared
    between its simdgroups.

    Attributes:
        written: parameters whose buffers it writes.
        read: parameters whose buffers it reads, atomically or not.
        follows_pointers: whether it accesses buffers whose addresses it found in memory.
        arena_shift: bytes of the smallest access to threadgroup memory, as a power of two.
        compares_calls: whether it has operations that all simdgroups call, which are counted.
    """

    written: tuple[int, ...]
    read: tuple[int, ...]
    follows_pointers: bool
    arena_shift: int
    compares_calls: bool


def find_watch_needs(function: Function) -> WatchNeeds:
    """Look through all accesses of a kernel."""
    written: set[int] = set()
    read: set[int] = set()
    follows, shift, compares = False, 2, False
    for instruction in function.instructions():
        root = instruction.root
        operation = instruction.operation
        compares = compares or operation is OBSERVE_TOGETHER
        if not operation.accesses_memory:
            continue
        if isinstance(root, BufferRoot):
            if operation is not LOAD:
                written.add(root.parameter)
            if operation is not STORE:
                read.add(root.parameter)
        elif isinstance(root, (*THREADGROUP_ROOTS, AddressRoot)):
            follows = follows or isinstance(root, AddressRoot)
            size = size_of(Scalar(instruction.element))
            shift = min(shift, size.bit_length() - 1)
    return WatchNeeds(
        written=tuple(sorted(written)),
        read=tuple(sorted(read)),
        follows_pointers=follows,
        arena_shift=shift,
        compares_calls=compares,
    )

"""Which arguments a kernel touches, and whether it reaches memory beyond them."""

from __future__ import annotations

from ..ir.nodes import AddressRoot, Constant, Function


def untouched_parameters(function: Function, count: int) -> tuple[int, ...]:
    """Numbers of the `count` parameters whose memory and address the kernel never uses."""
    touched = {getattr(i.root, "parameter", -1) for i in function.instructions()}
    return tuple(number for number in range(count) if number not in touched)


def follows_pointers(function: Function) -> bool:
    """Whether the kernel accesses memory through addresses that it computed or loaded."""
    return any(
        isinstance(i.root, AddressRoot) and not isinstance(i.root.address, Constant)
        for i in function.instructions()
    )

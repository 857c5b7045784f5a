"""Which properties a change proves, and which stay open, over all setups of a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..proofs import KernelProof
from ..proofs.rings import open_rings

RINGS = "rings"
"""What is asked of rings, beside the properties."""


def newly_proved(before: Sequence[KernelProof], after: Sequence[KernelProof]) -> tuple[str, ...]:
    """Properties that were not proved of all setups, and are then."""
    was_open, is_open = _open(before), _open(after)
    return tuple(each for each in was_open if each not in is_open)


def left_open(after: Sequence[KernelProof]) -> tuple[str, ...]:
    """What is then not proved of all setups, so that the kernel is not."""
    are_rings_open = any(any(open_rings(each.rings)) for each in after)
    return (*_open(after), *([RINGS] if are_rings_open else []))


def _open(proofs: Iterable[KernelProof]) -> tuple[str, ...]:
    """Properties that are not proved of all."""
    return tuple(
        dict.fromkeys(
            answer.about
            for proof in proofs
            for answer in proof.answers
            if answer.verdict != "proved"
        )
    )

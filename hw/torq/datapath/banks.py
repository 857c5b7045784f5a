"""Agents whose transfers may not lie across banks of LRAM."""

from collections.abc import Mapping, Sequence

from ..facts.machine import limit
from ..facts.registers import Image
from ..faults import Misaligned
from .descriptors import Descriptor, Loop, strides
from .plan_data import or_full

_BANKED = {"DEBR": ("DE_B_R.w_size", limit("bias_bus"), limit("bias_bank"))}
"""By agent: the field with the bytes of a transfer, what its 0 means, the bytes of a bank."""


def check_banks(image: Image, descriptors: Mapping[str, Sequence[Descriptor]]) -> None:
    """Raises Misaligned if a transfer starts inside of a bank and reaches into the next."""
    for agent, (field, full, bank) in _BANKED.items():
        size = or_full(image[field], full)
        for found in descriptors.get(agent, ()):
            starts = _offsets(found.base, found.loops, bank)
            if any(start and start + size > bank for start in starts):
                steps = [loop.delta for loop in found.loops if loop.count > 1]
                raise Misaligned(
                    f"reads {size} bytes at a time from {found.base:#x} in steps of "
                    f"{', '.join(map(str, steps)) or 'nothing'}; they must start at multiples of "
                    f"{bank}, or not reach across one",
                    agent=agent,
                    address=found.base,
                )


def _offsets(base: int, loops: tuple[Loop, ...], bank: int) -> set[int]:
    """Where in a bank transfers start."""
    offsets = {base % bank}
    for loop, stride in zip(loops, strides(loops), strict=True):
        steps = range(min(loop.count, bank))
        offsets = {(offset + step * stride) % bank for offset in offsets for step in steps}
    return offsets

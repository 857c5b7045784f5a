"""The NPU's register spaces as its command stream and the host address them."""

from dataclasses import dataclass

from ..facts.registers import registers, spaces
from ..faults import AccessFault

SLICE_BLOCKS = ((0x000, 0x080, 0x000), (0x100, 0x138, 0x080), (0x200, 0xA00, 0x200))
"""(first, behind the last, slice-local first): where a slice's blocks are, seen from outside.

Source: torq_nss_regs_struct.h, as for registers.toml.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A register word: its space (`nss`, `css`, `cpu`, `cdma` or `slice`), address there, slice."""

    space: str
    address: int
    slice: int = 0


def from_stream(address: int) -> Place:
    """A word by its 16-bit address in the NPU's command stream. Raises AccessFault."""
    return _find(address, "stream")


def from_host(address: int) -> Place | None:
    """A register word by its address in the host's view, or None where there are no registers."""
    first = min(space.views["host"] for space in spaces().values() if "host" in space.views)
    return _find(address, "host") if address >= first else None


def _find(address: int, view: str) -> Place:
    for name, space in spaces().items():
        start = space.views.get(view)
        if start is None or not start <= address < start + space.size:
            continue
        place = _inside(name, address - start)
        if place.address % 4 == 0 and place.address in registers(place.space):
            return place
    raise AccessFault(f"there is no register at {address:#x}", address=address)


def _inside(space: str, offset: int) -> Place:
    """A place in the space, or in the space of the slice that lies there."""
    if space == "nss":
        size = spaces()["slice"].size
        for index in range(2):
            local = offset - spaces()["slice"].views[f"slice{index}"]
            if 0 <= local < size:
                for first, behind, inner in SLICE_BLOCKS:
                    if first <= local < behind:
                        return Place(space="slice", address=inner + local - first, slice=index)
    return Place(space=space, address=offset)

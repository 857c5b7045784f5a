"""DRAM as the NPU sees it: 32-bit addresses, of which only mapped regions exist."""

import bisect
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..faults import AccessFault

PAGE = 4096
SPACE = 1 << 32
FRESH = 0x77
"""What the vendor's simulator fills memory with that nobody has written."""


@dataclass(slots=True, eq=False)
class AddressSpace:
    """What is mapped where, for one program: the NPU sees one of them at a time."""

    starts: list[int] = field(default_factory=list)
    regions: list[NDArray[np.uint8]] = field(default_factory=list)


class Xram:
    """Mapped regions; every access must lie inside of one of them.

    `space` is what is mapped now. A driver puts another program's in its place, as the page tables
    of the board's IOMMU do.
    """

    def __init__(self) -> None:
        self.space = AddressSpace()
        self.host_access: Callable[[str, int, int, bool], None] | None = None
        """Told of the host's accesses: (`XRAM`, start, stop, whether it writes)."""

    def map(self, address: int, size: int) -> None:
        """Makes a region exist, in whole pages of 4 KiB. Raises AccessFault when it overlaps."""
        first = address // PAGE * PAGE
        last = -(-(address + size) // PAGE) * PAGE
        if size <= 0 or address < 0 or last > SPACE:
            raise AccessFault(f"{size} bytes at {address:#x} are no region of XRAM", unit="XRAM")
        at = bisect.bisect(self.space.starts, first)
        before = self.space.starts[at - 1] + len(self.space.regions[at - 1]) if at else 0
        if before > first or (at < len(self.space.starts) and self.space.starts[at] < last):
            raise AccessFault(
                f"the region {first:#x} to {last:#x} overlaps one that is mapped",
                unit="XRAM",
                address=first,
            )
        self.space.starts.insert(at, first)
        self.space.regions.insert(at, np.full(last - first, FRESH, np.uint8))

    def unmap(self, address: int) -> None:
        """Removes the region that starts in the page of `address`. Raises AccessFault."""
        first = address // PAGE * PAGE
        at = bisect.bisect_left(self.space.starts, first)
        if at == len(self.space.starts) or self.space.starts[at] != first:
            raise AccessFault(f"no region starts at {first:#x}", unit="XRAM", address=first)
        del self.space.starts[at], self.space.regions[at]

    def regions(self) -> tuple[tuple[int, int], ...]:
        """(start, size) of each region, in order."""
        return tuple(
            (s, len(r)) for s, r in zip(self.space.starts, self.space.regions, strict=True)
        )

    def window(self, address: int, size: int, agent: str = "") -> NDArray[np.uint8]:
        """The bytes themselves, not a copy. Raises AccessFault."""
        at = bisect.bisect(self.space.starts, address) - 1
        if at >= 0:
            offset = address - self.space.starts[at]
            if offset + size <= len(self.space.regions[at]):
                return self.space.regions[at][offset : offset + size]
        raise AccessFault(
            f"bytes {address:#x} to {address + size:#x} of XRAM are not mapped",
            agent=agent,
            address=address,
        )

    def read(self, address: int, size: int, agent: str = "") -> bytes:
        """The host reads bytes. Raises AccessFault."""
        found = self.window(address, size, agent).tobytes()
        if self.host_access is not None:
            self.host_access("XRAM", address, address + size, False)
        return found

    def write(self, address: int, data: bytes, agent: str = "") -> None:
        """The host replaces bytes. Raises AccessFault."""
        self.window(address, len(data), agent)[:] = np.frombuffer(data, np.uint8)
        if self.host_access is not None:
            self.host_access("XRAM", address, address + len(data), True)

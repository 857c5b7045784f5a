"""The memory on the chip: bytes that every access is checked against."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .faults import AccessFault

HOST = ("", "HOST")
"""Who the host is, among the agents."""


class Lram:
    """`size` bytes, zero at first. Also serves as ITCM and DTCM, under another `name`."""

    def __init__(self, size: int, name: str = "LRAM") -> None:
        self.name = name
        self.bytes: NDArray[np.uint8] = np.zeros(size, np.uint8)
        self.host_access: Callable[[str, int, int, bool], None] | None = None
        """Told of the host's accesses: (name, start, stop, whether it writes)."""

    def __len__(self) -> int:
        return len(self.bytes)

    def check(self, address: int, size: int, agent: str = "") -> None:
        """Raises AccessFault unless all bytes are inside."""
        if address < 0 or size < 0 or address + size > len(self.bytes):
            raise AccessFault(
                f"bytes {address:#x} to {address + size:#x} are not inside of {self.name}, "
                f"which has {len(self.bytes):#x}",
                agent=agent,
                address=address,
            )

    def read(self, address: int, size: int, agent: str = "") -> bytes:
        """Bytes. Raises AccessFault."""
        self.check(address, size, agent)
        if self.host_access is not None and agent in HOST:
            self.host_access(self.name, address, address + size, False)
        return self.bytes[address : address + size].tobytes()

    def write(self, address: int, data: bytes, agent: str = "") -> None:
        """Replaces bytes. Raises AccessFault."""
        self.check(address, len(data), agent)
        if self.host_access is not None and agent in HOST:
            self.host_access(self.name, address, address + len(data), True)
        self.bytes[address : address + len(data)] = np.frombuffer(data, np.uint8)

    def word(self, address: int, agent: str = "") -> int:
        """The 32-bit little-endian word at an address. Raises AccessFault."""
        return int.from_bytes(self.read(address, 4, agent), "little")

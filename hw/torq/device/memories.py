"""The memories that the host, CDMA and the CSS core address, each in its own view."""

from ..facts.costs import Machine
from ..facts.machine import memories
from ..faults import AccessFault
from ..lram import Lram

HOST_VIEW = {name: memory.host for name, memory in memories().items()}
CORE_VIEW = {name: memory.cpu for name, memory in memories().items()}
"""Where each memory starts for the host and CDMA, and for the core."""


class Memories:
    """LRAM and the CSS core's two memories."""

    def __init__(self, machine: Machine) -> None:
        self.lram = Lram(machine.lram)
        self.itcm = Lram(machine.itcm, "ITCM")
        self.dtcm = Lram(machine.dtcm, "DTCM")

    def find(self, address: int, size: int, view: dict[str, int]) -> tuple[Lram, int] | None:
        """The memory that has these bytes and where in it, or None."""
        for memory in (self.lram, self.itcm, self.dtcm):
            offset = address - view[memory.name]
            if offset >= 0 and offset + size <= len(memory):
                return memory, offset
        return None

    def at(self, address: int, size: int, view: dict[str, int], agent: str) -> tuple[Lram, int]:
        """The memory that has these bytes and where in it. Raises AccessFault."""
        found = self.find(address, size, view)
        if found is None:
            raise AccessFault(
                f"bytes {address:#x} to {address + size:#x} are in none of "
                + ", ".join(f"{name} (at {start:#x})" for name, start in view.items()),
                agent=agent,
                address=address,
            )
        return found

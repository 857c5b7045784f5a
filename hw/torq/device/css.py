"""The CSS core: tasks are Python functions, found by the code that the program put into ITCM.

A function computes and returns its cycles. One that is a generator yields the cycles of each part,
and `view.wait("SLC0")` where it waits until units have ended or a mailbox is rung.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from ..faults import AccessFault, TorqFault
from . import status
from .memories import CORE_VIEW, Memories

ARGUMENT_LIMIT = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """Bytes that a task read or wrote: memory, (start, stop), direction."""

    memory: str
    start: int
    stop: int
    writes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CssWait:
    """What a task waits for: bits as in NSS.STATUS and the interrupt enables, all of them."""

    mask: int


class CssView:
    """What a task sees: memory at the core's addresses, and the words of the mailboxes."""

    def __init__(self, memories: Memories, mailboxes: tuple[int, int, int, int]) -> None:
        self.mailboxes = mailboxes
        self.touched: list[Touched] = []
        self._memories = memories

    def read(self, address: int, size: int) -> bytes:
        """Bytes at one of the core's addresses. Raises AccessFault."""
        memory, offset = self._memories.at(address, size, CORE_VIEW, "CSS")
        self._note(memory.name, offset, size, False)
        return memory.read(offset, size, "CSS")

    def write(self, address: int, data: bytes) -> None:
        """Replaces bytes at one of the core's addresses. Raises AccessFault."""
        memory, offset = self._memories.at(address, len(data), CORE_VIEW, "CSS")
        self._note(memory.name, offset, len(data), True)
        memory.write(offset, data, "CSS")

    def word(self, address: int) -> int:
        """The 32-bit word at an address. Raises AccessFault."""
        return int.from_bytes(self.read(address, 4), "little")

    def arguments(self) -> tuple[int, ...]:
        """The task's arguments: mailbox 0 says where their number and they are.

        Raises TorqFault.
        """
        at = self.mailboxes[0]
        count = self.word(at)
        if count > ARGUMENT_LIMIT:
            raise TorqFault(
                f"the arguments at {at:#x} say they are {count}; {ARGUMENT_LIMIT} are possible",
                unit="CSS",
                address=at,
            )
        return tuple(self.word(at + 4 + 4 * k) for k in range(count))

    def wait(self, *names: str) -> CssWait:
        """To be yielded: goes on when all of these have ended, or were rung.

        Names are NSS, XR, XW, SLC0, SLC1, CDMA, `mailbox 0`, `mailbox 2` and `mailbox 3`; a mailbox
        can be rung again afterwards. Raises ValueError for others.
        """
        mask = 0
        for name in names:
            bit = status.NAMED.get(name, status.MBX1)
            if bit == status.MBX1:  # what the core itself rings
                known = ", ".join(name for name, bit in status.NAMED.items() if bit != status.MBX1)
                raise ValueError(f"a task cannot wait for {name!r}; there are {known}")
            mask |= 1 << bit
        return CssWait(mask=mask)

    def _note(self, memory: str, start: int, size: int, writes: bool) -> None:
        self.touched.append(Touched(memory=memory, start=start, stop=start + size, writes=writes))


CssSteps = Generator[int | CssWait, None, int | None]
"""A task in parts: yields cycles and waits, returns further cycles or None."""
CssFunction = Callable[[CssView], int | CssSteps | None]
"""A task; returns its cycles, or None for what the machine says a task takes, or its parts."""


class CssTasks:
    """The functions that stand for code."""

    def __init__(self) -> None:
        self._known: list[tuple[bytes, str, CssFunction]] = []

    def register(self, code: bytes, name: str, function: CssFunction) -> None:
        """`function` runs whenever the core starts at code that begins with `code`."""
        if not code:
            raise ValueError(f"{name}: the code must not be empty; it is how a task is recognised")
        self._known.append((code, name, function))

    def find(self, memories: Memories, pc: int) -> tuple[str, CssFunction]:
        """The task whose code is at `pc`. Raises TorqFault."""
        found = memories.find(pc, 4, CORE_VIEW)
        if found is None:
            raise AccessFault(f"starts at {pc:#x}, where it has no memory", unit="CSS", address=pc)
        memory, offset = found
        held = memory.bytes[offset:].tobytes()
        matches = [known for known in self._known if held.startswith(known[0])]
        if not matches:
            names = ", ".join(name for _, name, _ in self._known) or "none"
            raise TorqFault(
                f"no function stands for the code at {pc:#x}, which begins with "
                f"{held[:8].hex(' ')}; registered: {names}",
                unit="CSS",
                address=pc,
            )
        _, name, function = max(matches, key=lambda known: len(known[0]))
        return name, function

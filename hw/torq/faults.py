"""What goes wrong when the emulated NPU runs: programs that break its rules or leave its memory."""

from collections.abc import Sequence


class TorqFault(Exception):
    """A program did what the NPU cannot do, or what the emulator does not model.

    `unit` is the unit that ran (`SLC0`, `XR`, `NSS`...), `agent` the agent inside a slice or the
    register, `address` the LRAM, XRAM or register address, where there is one.
    """

    def __init__(
        self, reason: str, *, unit: str = "", agent: str = "", address: int | None = None
    ) -> None:
        self.reason = reason
        self.unit = unit
        self.agent = agent
        self.address = address
        where = " ".join(part for part in (unit, agent) if part)
        super().__init__(f"{where}: {reason}" if where else reason)

    def of(self, unit: str) -> "TorqFault":
        """The same fault, said to have happened in `unit`."""
        return type(self)(self.reason, unit=unit, agent=self.agent, address=self.address)


class NotModelled(TorqFault):
    """The program uses something real that nobody outside knows enough about to emulate it."""


class CountMismatch(TorqFault):
    """Two agents that feed each other disagree about how much there is; hardware would hang."""


class AccessFault(TorqFault):
    """An address outside of the memory, or outside of what is mapped."""


class Misaligned(AccessFault):
    """An address at which what lies there cannot start."""


class Busy(TorqFault):
    """A unit is started while it is still at work."""


class Deadlock(TorqFault):
    """Units wait for what will never happen; `chain` says who waits for what."""

    def __init__(
        self,
        reason: str,
        *,
        unit: str = "",
        agent: str = "",
        address: int | None = None,
        chain: Sequence[str] = (),
    ) -> None:
        super().__init__(reason, unit=unit, agent=agent, address=address)
        self.chain = tuple(chain)

"""Interrupts: what is pending, what is notified. Wait masks and enables have the same bits."""

from collections.abc import Mapping

from ..facts.registers import registers

NSS, XR, XW, SLC0, SLC1, MBX0, MBX1, CDMA = 0, 2, 3, 4, 5, 8, 9, 12
"""Bit numbers in NSS.STATUS, wait masks and interrupt enables."""
NAMES = {
    NSS: "NSS",
    XR: "XR",
    XW: "XW",
    SLC0: "SLC0",
    SLC1: "SLC1",
    MBX0: "mailbox 0",
    MBX1: "CSS (mailbox 1)",
    10: "mailbox 2",
    11: "mailbox 3",
    CDMA: "CDMA",
}
NAMED = {name: bit for bit, name in NAMES.items()}
MAILBOXES = {
    MBX0: "CSS.MBX_IRQ_0.irq",
    MBX1: "CSS.MBX_IRQ_1.irq",
    10: "CSS.MBX_IRQ_2.irq",
    11: "CSS.MBX_IRQ_3.irq",
}
UNIT_BITS = {"XR": XR, "XW": XW, "SLC0": SLC0, "SLC1": SLC1, "CSS": MBX1, "CDMA": CDMA}
_UNITS = 1 << NSS | 1 << XR | 1 << XW | 1 << SLC0 | 1 << SLC1


class Pending:
    """What each unit reported, from the registers that hold it."""

    def __init__(self, nss: Mapping[int, int], css: Mapping[int, int], cdma: Mapping[int, int]):
        self._nss, self._css, self._cdma = nss, css, cdma
        css_registers, cdma_registers = registers("css"), registers("cdma")
        self._status = registers("nss").address("NSS.STATUS.nss")
        self._control = registers("nss").address("NSS.CTRL.ien_nss")
        self._boxes = {bit: css_registers.address(field) for bit, field in MAILBOXES.items()}
        self._done = cdma_registers.field("CDMA.CH0_STATUS.intr_done")
        self._any = cdma_registers.field("CDMA.NSEC_CTRL.intren_anychintr")
        self._to_nss = css_registers.address("CSS.IEN_NSS.mbx1")
        self._to_host = css_registers.address("CSS.IEN_HST.nss")

    def units(self) -> int:
        """NSS.STATUS: bits of units that ended since they were cleared."""
        return self._nss.get(self._status, 0) & _UNITS

    def others(self) -> int:
        """Mailboxes and CDMA."""
        found = 0
        for bit, address in self._boxes.items():
            found |= (self._css.get(address, 0) & 1) << bit
        done = self._done.get(self._cdma.get(self._done.address, 0))
        return found | (done & self._any.get(self._cdma.get(self._any.address, 0))) << CDMA

    def for_stream(self) -> int:
        """What the NPU's command stream can wait for."""
        return self.units() | self.others() & self._css.get(self._to_nss, 0)

    def for_core(self) -> int:
        """What a task of the CSS core can wait for: it polls, so nothing need be enabled."""
        return self.units() | self.others()

    def for_host(self) -> int:
        """The enabled interrupts of the host that are pending."""
        units = self.units() & self._nss.get(self._control, 0)
        return (units | self.others()) & self._css.get(self._to_host, 0)


def startable(slices: int) -> int:
    """The bits of NSS.START that start something on an NPU with so many slices."""
    return _UNITS & ~(0 if slices > 1 else 1 << SLC1)


def unit_of(name: str) -> str:
    """The unit that reports by a name, or the name itself."""
    return next((unit for unit, bit in UNIT_BITS.items() if NAMES[bit] == name), name)


def names(mask: int) -> tuple[str, ...]:
    """The units of a mask."""
    return tuple(NAMES.get(bit, f"bit {bit}") for bit in range(32) if mask >> bit & 1)

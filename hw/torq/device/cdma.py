"""CDMA: copies between the NPU's memories, with the registers of an Arm DMA-350 channel."""

from dataclasses import dataclass

from ..facts.registers import Image
from ..faults import NotModelled, TorqFault
from ..lram import Lram
from .memories import HOST_VIEW, Memories

_FIXED = {
    "CDMA.CH0_CTRL.xtype": 1,
    "CDMA.CH0_CTRL.donetype": 1,
    "CDMA.CH0_CTRL.transize": 0,
    "CDMA.CH0_CTRL.regreloadtype": 0,
    "CDMA.CH0_CTRL.usesrctrigin": 0,
    "CDMA.CH0_CTRL.usedestrigin": 0,
    "CDMA.CH0_CTRL.usetrigout": 0,
    "CDMA.CH0_CTRL.donepauseen": 0,
    "CDMA.CH0_XADDRINC.srcxaddrinc": 1,
    "CDMA.CH0_XADDRINC.desxaddrinc": 1,
}
"""What a plain copy has; other transfers of that hardware are not modelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """`size` bytes from one memory to another, with their offsets there."""

    source: Lram
    source_offset: int
    target: Lram
    target_offset: int
    size: int

    def moves(self) -> tuple[list[tuple[str, int, int]], list[tuple[str, int, int]]]:
        """(memory, start, stop) that it reads, and that it writes."""
        source = (self.source.name, self.source_offset, self.source_offset + self.size)
        target = (self.target.name, self.target_offset, self.target_offset + self.size)
        return [source], [target]

    def fetch(self) -> bytes:
        """The bytes it moves."""
        return self.source.read(self.source_offset, self.size, "CDMA")

    def deliver(self, data: bytes) -> None:
        """Puts them where they belong."""
        self.target.write(self.target_offset, data, "CDMA")


def copy_of(image: Image, memories: Memories) -> Copy:
    """What the channel's registers ask for. Raises TorqFault."""
    for name, value in _FIXED.items():
        if image[name] != value:
            raise NotModelled(
                f"{name} is {image[name]}; only plain copies, where it is {value}, are modelled",
                unit="CDMA",
                agent=name,
            )
    sizes = [
        image[f"CDMA.CH0_XSIZE.{end}xsize"] | image[f"CDMA.CH0_XSIZEHI.{end}xsizehi"] << 16
        for end in ("src", "des")
    ]
    if sizes[0] != sizes[1] or not sizes[0]:
        raise TorqFault(f"copies {sizes[0]} bytes to {sizes[1]}", unit="CDMA")
    source, source_offset = memories.at(image["CDMA.CH0_SRCADDR.a"], sizes[0], HOST_VIEW, "CDMA")
    target, target_offset = memories.at(image["CDMA.CH0_DESADDR.a"], sizes[1], HOST_VIEW, "CDMA")
    return Copy(
        source=source,
        source_offset=source_offset,
        target=target,
        target_offset=target_offset,
        size=sizes[0],
    )

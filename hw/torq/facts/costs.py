"""Sizes and speeds of one NPU: of its hardware string, machine.toml and costs.toml together."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil

from ...facts import FactFile, fact, read_package_file, table
from .hardware import Hardware, hardware
from .machine import limit, memories

_FILE = "costs.toml"
_LARGEST_WORD = 4
"""Bytes of the largest elements that the vendor's runtime copies without memcpy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One NPU. Sizes are bytes, times cycles of `clock_hz`."""

    clock_hz: int
    lram: int
    itcm: int
    dtcm: int
    slices: int
    table_lookups: int
    """Results of a look-up table per cycle."""
    dma_rate: Fraction
    """Bytes per cycle of one channel that has DRAM for itself, but for the gaps of bursts."""
    dma_gap: Fraction
    """Beats that each burst costs besides its own."""
    dma_start: int
    cdma_rate: Fraction
    css_task: int
    """Cycles of a task of the CSS core that says nothing else."""
    fetch: int
    """Cycles per command word."""
    slice_start: int
    host_start: int
    """Cycles until the host has started a program."""
    host_interrupt: int
    """Cycles from the end of a program until the host goes on."""
    host_window_rate: Fraction
    """Bytes per cycle of the host's own copies into or out of LRAM."""
    host_instruction: Fraction
    """Cycles per instruction of the host's own code."""
    host_element: Fraction
    """Cycles per element of copies within XRAM, ..."""
    host_dimension: Fraction
    """... and of each element per dimension."""
    host_memcpy_rate: Fraction
    """Bytes per cycle of elements of more than 4 bytes there."""

    def dma_cycles(self, size: int, mtu: int) -> int:
        """Cycles for `size` bytes when a channel has DRAM for itself; bursts of 1 << mtu beats."""
        rate = _rate(self.dma_rate, self.dma_gap, mtu)
        return -(-size * rate.denominator // rate.numerator)

    def host_window_cycles(self, size: int) -> int:
        """Cycles for the host to copy `size` bytes into or out of LRAM."""
        return ceil(size / self.host_window_rate)

    def host_xram_cycles(self, elements: int, dimensions: int, element_bytes: int) -> int:
        """Cycles for the host to copy elements within XRAM, one by one as the vendor's runtime."""
        each = self.host_element + dimensions * self.host_dimension
        if element_bytes > _LARGEST_WORD:
            each += element_bytes / self.host_memcpy_rate
        return ceil(elements * each)

    def cdma_cycles(self, size: int) -> int:
        """Cycles for `size` bytes between memories of the NPU."""
        return max(1, ceil(size / self.cdma_rate))


@cache
def _rate(peak: Fraction, gap: Fraction, mtu: int) -> Fraction:
    """Bytes per cycle of bursts of 1 << mtu beats, each followed by a gap."""
    beats = 1 << mtu
    return peak * beats / (beats + gap)


@cache
def sl2610() -> Machine:
    """The NPU of the SL2610. Raises SpecError when the data files are wrong."""
    return machine_of(hardware())


def machine_of(given: Hardware) -> Machine:
    """The NPU that a hardware string describes. Raises SpecError when the data file is wrong."""
    source = _costs()

    def number(section: str, key: str) -> int:
        entries = table(source.name, section, source.tables.get(section))
        return fact(source, f"{section}.{key}", entries.get(key)).value

    clock = number("clock", "npu")
    per_microsecond = Fraction(clock, 10**6)
    per_host_cycle = Fraction(clock, number("host", "clock"))
    return Machine(
        clock_hz=clock,
        lram=given.lram,
        itcm=memories()["ITCM"].size,
        dtcm=memories()["DTCM"].size,
        slices=given.slices,
        table_lookups=limit("table_lookups"),
        dma_rate=given.dma_bytes_per_cycle * given.dma_factor,
        dma_gap=Fraction(number("dma", "burst_overhead"), 10),
        dma_start=number("dma", "start"),
        cdma_rate=number("cdma", "bytes_per_cycle") * given.cdma_factor,
        css_task=number("css", "task"),
        fetch=number("control", "fetch"),
        slice_start=number("control", "slice_start"),
        host_start=ceil(number("host", "start") * per_microsecond),
        host_interrupt=ceil(number("host", "interrupt") * per_microsecond),
        host_window_rate=number("host", "window") / per_microsecond,
        host_instruction=number("host", "instruction") * per_host_cycle,
        host_element=number("host", "copy_element") * per_host_cycle,
        host_dimension=number("host", "copy_dimension") * per_host_cycle,
        host_memcpy_rate=number("host", "memcpy") / per_microsecond,
    )


@cache
def _costs() -> FactFile:
    """The parsed file of costs. Raises SpecError."""
    return read_package_file("assay.hw.torq.facts", _FILE)

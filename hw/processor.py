"""The processor of a board: how long kernels and copies take it, by a stated model.

A kernel takes what its products take, or its other elements, or moving its bytes, whichever is
most; each takes one core.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import simpy

from assay.sim.clock import TICKS_PER_SECOND, Environment, Link, Shared, Steps, ticks_of

from .facts import SpecError, measure, read_package_file, table

_FILE = "processor.toml"
_UNITS = {
    "cores": "cores",
    "clock": "Hz",
    "macs": "MAC/cycle",
    "sustained": "ratio",
    "elements": "elements/cycle",
    "memcpy": "B/s",
    "call": "ns",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Rates per second, times in seconds, of one core.

    Attributes:
        cores: how many there are.
        macs: products that compiled kernels sum.
        elements: elements that other arithmetic makes.
        memcpy: bytes that a copy moves.
        call: from asking for a kernel until it begins.
    """

    cores: int
    macs: float
    elements: float
    memcpy: float
    call: float

    def kernel(self, *, macs: int, elements: int, moved: int) -> float:
        """Seconds of a kernel that sums `macs`, makes `elements`, and moves so many bytes."""
        return self.call + max(macs / self.macs, elements / self.elements, moved / self.memcpy)

    def copy(self, size: int) -> float:
        """Seconds of a copy of `size` bytes from one memory to another."""
        return self.call + size / self.memcpy


@cache
def processor_costs() -> Costs:
    """Those of the data file. Raises SpecError when it is wrong."""
    file = read_package_file("assay.hw", _FILE)
    entries = table(file.name, "processor", file.tables.get("processor"))
    numbers = {}
    for key, unit in _UNITS.items():
        found = measure(file, f"processor.{key}", entries.get(key))
        if found.unit != unit:
            raise SpecError(f"{file.name}: processor.{key} is in {found.unit}; expected {unit}")
        numbers[key] = found.value
    return Costs(
        cores=int(numbers["cores"]),
        macs=numbers["clock"] * numbers["macs"] * numbers["sustained"],
        elements=numbers["clock"] * numbers["elements"],
        memcpy=numbers["memcpy"],
        call=numbers["call"] * 1e-9,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """When a core did something, in ticks; `kind` is "kernel" or "copy"."""

    core: int
    kind: str
    name: str
    begin: int
    end: int


class Processor:
    """The cores of a board, which take what is to be done in the order in which it comes."""

    def __init__(
        self, environment: Environment, costs: Costs, *, name: str, dram: Shared | None = None
    ) -> None:
        self.spans: list[Span] = []
        self._environment = environment
        self._link = Link(environment, name, costs.cores * TICKS_PER_SECOND, beyond=dram)
        self._cores = simpy.Store(environment)
        for core in range(costs.cores):
            self._cores.put(core)

    def work(self, kind: str, name: str, seconds: float, *, traffic: int) -> Steps:
        """Takes a core for so long, longer while other machines want the DRAM, too.

        `traffic` is how many bytes it moves there.
        """
        core = yield self._cores.get()
        begin, ticks = self._environment.tick, max(1, ticks_of(seconds))
        yield self._link.transfer(ticks, limit=TICKS_PER_SECOND, traffic=traffic).done
        self.spans.append(
            Span(core=core, kind=kind, name=name, begin=begin, end=self._environment.tick)
        )
        yield self._cores.put(core)

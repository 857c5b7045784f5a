"""What results of time have in common, whichever machine ran the program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.traces import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a program's time: a dispatch of a GPU, or all that a unit of an NPU did.

    Attributes:
        name: of the kernel, or of the unit.
        begin, end: seconds since the program's start.
        cycles: of the machine's clock.
        causes: cycles by cause; they sum to `cycles`.
    """

    name: str
    begin: float
    end: float
    cycles: float
    causes: Mapping[str, float]


class ProgramTime(ABC):
    """How long a program takes on a machine, and why; `str()` is for people.

    Attributes:
        program: what was timed, for people.
    """

    program: str

    @property
    @abstractmethod
    def machine(self) -> str:
        """The machine's name."""

    @property
    @abstractmethod
    def cycles(self) -> float:
        """Cycles of the machine's clock."""

    @property
    @abstractmethod
    def seconds(self) -> float:
        """Seconds of the machine's own work."""

    @property
    @abstractmethod
    def causes(self) -> dict[str, float]:
        """Cycles by what they are due to; they sum to `cycles`."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """What it consists of."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Everything as plain data."""

    @abstractmethod
    def trace(self) -> Trace:
        """The run as a timeline."""

    @property
    def microseconds(self) -> float:
        """`seconds` in millionths."""
        return self.seconds * 1e6

    def save_trace(self, path: str | Path) -> None:
        """Write the timeline: `.html`, `.pftrace` or `.json` by the suffix. Raises TraceError."""
        from assay.traces.files import write_trace

        write_trace(self.trace(), Path(path))

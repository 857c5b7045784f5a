"""What a check remembers of a run: bytes that agents touch, and units at work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..datapath.plan import SlicePlan
from .ranges import Ranges

Moved = Sequence[tuple[str, int, int]]
"""(memory, start, stop): bytes in the order in which they are copied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """Bytes that one agent of a run reads or writes; `plan` and `before` are a slice task's.

    `operation` says what for, `unmoved` what else it would touch without offsets in memory.
    """

    unit: str
    agent: str
    descriptor: int
    memory: str
    writes: bool
    ranges: Ranges
    task: int
    operation: str = ""
    unmoved: Ranges = ()
    plan: SlicePlan | None = None
    before: NDArray[np.uint8] | None = None


@dataclass(slots=True)
class Run:
    """A unit at work since it was started, until the command stream waited for it."""

    unit: str
    task: int
    address: int
    stream_from: int
    """How much the command stream had fetched, of what is remembered, when it started."""
    touches: list[Touch] = field(default_factory=list)

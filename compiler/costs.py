"""What compilers ask about the machine that they compile for: what a kernel would cost on it.

A compiler is handed an object that answers and imports no machine's timing, so that it can be given
a predictor, recorded times, or something made up for a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .msl import KernelFunction

Size = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelUse:
    """A kernel as it would be run.

    Attributes:
        kernel: the kernel.
        threadgroups: the grid.
        threadgroup: threads of one threadgroup.
        arguments: one for each argument of the kernel: how many bytes a buffer has, or threadgroup
            memory; the bytes themselves of a small constant, which may decide how the kernel goes.
    """

    kernel: KernelFunction
    threadgroups: Size
    threadgroup: Size
    arguments: tuple[int | bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one run takes, alone on the machine.

    Attributes:
        seconds: how long.
        error: standard error of that, relative.
        causes: what the time goes into, in seconds; they sum to `seconds`.
    """

    seconds: float
    error: float
    causes: Mapping[str, float]


class CostError(ValueError):
    """A use of a kernel has no cost, because it cannot run; `str()` says why."""


class Costs(Protocol):
    """Answers for one machine."""

    def cost_of(self, use: KernelUse) -> Cost:
        """What `use` costs. Raises CostError."""

"""Kernels of several traces side by side: by name, and those of other names by their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .kinds import DISPATCH
from .trace import Integers, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelDifference:
    """A kernel in each trace.

    Attributes:
        names: what it is called in each; "" where it is not.
        counts: its dispatches in each.
        seconds: of all its dispatches in each.
    """

    names: list[str]
    counts: list[int]
    seconds: list[float]


class PairedKernels:
    """Which kernels of the traces stand for each other.

    A kernel of another trace is that of the first one which has its name; or else, if that one is
    in no other trace, the kernel that is dispatched at the same place of the order.
    """

    def __init__(self, traces: Sequence[Trace]) -> None:
        self._traces = traces
        self._dispatches = [_dispatches(trace) for trace in traces]
        names = [self._names(number) for number in range(len(traces))]
        self._first_names = [_stand_ins(names[0], found) for found in names]

    def first_name(self, number: int, name: str) -> str:
        """What a kernel of a trace, or a threadgroup of it, is called in the first trace."""
        kernel, space, rest = name.partition(" ")
        return self._first_names[number].get(kernel, kernel) + space + rest

    def differences(self) -> list[KernelDifference]:
        """All kernels, those that take longest first."""
        size = len(self._traces)
        found: dict[str, KernelDifference] = {}
        for number, trace in enumerate(self._traces):
            durations = trace.slices.duration[self._dispatches[number]].tolist()
            for name, ticks in zip(self._names(number), durations, strict=True):
                entry = found.setdefault(
                    self.first_name(number, name),
                    KernelDifference(names=[""] * size, counts=[0] * size, seconds=[0.0] * size),
                )
                entry.names[number] = name
                entry.counts[number] += 1
                entry.seconds[number] += trace.clock.seconds(ticks)
        return sorted(found.values(), key=lambda each: -max(each.seconds))

    def _names(self, number: int) -> list[str]:
        """Kernels by dispatch, in the order of time."""
        trace = self._traces[number]
        return [trace.names[name] for name in trace.slices.name[self._dispatches[number]].tolist()]


def _stand_ins(first: list[str], other: list[str]) -> dict[str, str]:
    """For kernels that only the other trace has those of the first one that they stand for."""
    known, present = set(first), set(other)
    found: dict[str, str] = {}
    for theirs, ours in zip(other, first, strict=False):
        if theirs not in known and ours not in present and ours not in found.values():
            found.setdefault(theirs, ours)
    return found


def _dispatches(trace: Trace) -> Integers:
    """Positions of the dispatches among the slices, in the order of time."""
    kinds = np.array([kind.name == DISPATCH.name for kind in trace.kinds], bool)
    if not kinds.any() or not len(trace.slices):
        return np.zeros(0, np.int64)
    rows = np.flatnonzero(kinds[trace.slices.kind])
    found: Integers = rows[np.argsort(trace.slices.begin[rows], kind="stable")]
    return found

"""Memory that command buffers in flight may use, and what the host does to it meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from assay.sim.simt.run.accesses import Spans, runs_of

from . import guard_layout as k
from .guard import Guarded, Seen, guard
from .resources import Resource
from .touches import CommandsRun, HostStep, Touch, Way, touch


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Use:
    """A resource that a command buffer may use, and whether it may write to it."""

    resource: Resource
    writes: bool


class Flight:
    """What is closed to the host, and to which run."""

    def __init__(self) -> None:
        self._users: dict[Guarded, dict[CommandsRun, list[Use]]] = {}

    def begins(self, run: CommandsRun, uses: Iterable[Use]) -> None:
        """A command buffer is about to use these."""
        by_memory: dict[Guarded, list[Use]] = {}
        for use in uses:
            memory = use.resource.guarded
            if memory is not None:
                by_memory.setdefault(memory, []).append(use)
        for memory, chosen in by_memory.items():
            self._users.setdefault(memory, {})[run] = chosen
            self._close(memory)

    def ends(self, run: CommandsRun) -> None:
        """The host knows that a command buffer has ended."""
        for memory, users in list(self._users.items()):
            if users.pop(run, None) is None:
                continue
            if users:
                self._close(memory)
            else:
                del self._users[memory]
                watching = guard()
                if watching is not None:
                    watching.open(memory)

    def seen(self) -> list[Seen]:
        """What the host did to closed memory since this was asked last."""
        watching = guard() if self._users else None
        return watching.seen() if watching is not None else []

    def touches(self, seen: Seen, step: HostStep) -> Iterator[Touch | None]:
        """What that was to the resources."""
        reads, writes = _bytes(seen.reads), _bytes(seen.writes)
        for users in self._users.values():
            uses = {use.resource.handle: use for each in users.values() for use in each}
            for use in uses.values():
                start, end = use.resource.start, use.resource.start + use.resource.data.nbytes
                yield touch(
                    step,
                    use.resource,
                    (
                        Way(write=False, atomic=False, spans=_within(reads, start, end)),
                        Way(write=True, atomic=False, spans=_within(writes, start, end)),
                    ),
                )

    def _close(self, memory: Guarded) -> None:
        watching = guard()
        writes = any(use.writes for uses in self._users[memory].values() for use in uses)
        if watching is not None:
            watching.close(memory, k.CLOSED if writes else k.READ_ONLY)


def _bytes(addresses: Iterable[int]) -> Spans:
    return runs_of(np.unique(np.fromiter(addresses, np.int64)))


def _within(spans: Spans, start: int, end: int) -> Spans:
    chosen = spans[(spans[:, 1] > start) & (spans[:, 0] < end)]
    return np.clip(chosen, start, end)

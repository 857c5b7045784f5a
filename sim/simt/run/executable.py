"""Machine code of a kernel for one shape, loaded and ready to run."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...site import Site
from ..emit.driver import driver
from ..emit.tape import PLACES, TAPE
from ..ir.shape import Shape
from ..watch.needs import WatchNeeds
from .access_sites import AccessSite, access_site, site_of
from .kernel_code import LoadedKernel
from .tape_code import FUNCTIONS as TAPE_FUNCTIONS
from .tape_code import load_tape_code
from .watch_code import FUNCTIONS as WATCH_FUNCTIONS
from .watch_code import load_watch

if TYPE_CHECKING:
    from .program import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What has run: loops by their places, each with whether it was entered, and parameters by
    their numbers, each with whether its memory was touched; and whether the code has accesses of
    memory by pointers that are not known to lead to one of them."""

    loops: tuple[tuple[Site, bool], ...]
    buffers: Mapping[int, bool]
    follows_pointers: bool


class Executable:
    """A kernel's machine code for one shape."""

    def __init__(
        self,
        program: Program,
        shape: Shape,
        stored: bytes,
        observers: frozenset[str],
        *,
        quick: bool = False,
    ) -> None:
        self.program = program
        self.shape = shape
        self.observers = observers
        self.quick = quick
        length = int.from_bytes(stored[:8], "little")
        head: dict[str, Any] = json.loads(stored[8 : 8 + length])
        self.state_size: int = head["state_size"]
        self.has_barriers: bool = head["has_barriers"]
        self.private_memory: int = head["private_memory"]  # bytes of one thread
        self.threadgroup_memory: int = head["threadgroup_memory"]
        self.lanes: list[int] = head["lanes"]  # those that run, by the numbers that code gives them
        self.packs: int = head["packs"]  # threadgroups that run at once
        self.constants = bytes.fromhex(head["constants"])
        # (block, ordinal, description) of the accesses that a tape leaves out.
        self.known_accesses: list[tuple[int, int, int]] = head["known"]
        self._sites: list[dict[str, Any]] = head["sites"]
        self._watch_sites: list[dict[str, Any]] = head["watch_sites"]
        self.watch_needs = WatchNeeds(**head["watch"])
        known: tuple[str, ...] = ()
        if TAPE in observers:
            load_tape_code()
            known = TAPE_FUNCTIONS
        elif observers:
            load_watch()
            known = WATCH_FUNCTIONS
        around = driver(
            shape.simdgroups,
            has_barriers=self.has_barriers,
            private_memory=self.private_memory,
            streams=head["streams"],
            observed=bool(observers - {TAPE, PLACES}),
            shadowed="init" in observers,
            taped=TAPE in observers,
            packs=self.packs,
            compares_calls=self.watch_needs.compares_calls,
        )
        self.run = LoadedKernel(stored[8 + length :], around, known).run
        self._loops: list[tuple[dict[str, Any], list[int]]] = head["loops"]
        self._touching: list[tuple[int, list[int]]] = head["touching"]
        self.seconds = 0.0  # that a threadgroup takes by the clock; 0 if that is not known
        self._lock = threading.Lock()
        self._reached = np.zeros(head["blocks"] if observers else 0, np.uint8)

    def coverage(self) -> Coverage:
        """What has run of it since `forget_coverage` or since it was made, if it is watched."""
        ran = self._reached
        return Coverage(
            loops=tuple(
                (site_of(site), any(ran[at] for at in after)) for site, after in self._loops
            ),
            buffers={number: any(ran[at] for at in blocks) for number, blocks in self._touching},
            follows_pointers=self.watch_needs.follows_pointers,
        )

    def forget_coverage(self) -> None:
        """Let nothing count as run so far."""
        with self._lock:
            self._reached[:] = 0

    def note_seconds(self, seconds: float) -> None:
        """A threadgroup, or pack of them, took so long: mostly that, since others may disturb."""
        known = self.seconds
        self.seconds = min(seconds, 1.25 * known) if known else seconds

    @property
    def blocks(self) -> int:
        """Of how many blocks its code tells which have run."""
        return self._reached.size

    def note_reached(self, blocks: NDArray[np.uint8]) -> None:
        """Let the blocks count as run whose byte is 1."""
        with self._lock:
            self._reached |= blocks

    def access(self, number: int) -> AccessSite:
        """What a fault's site number stands for."""
        return access_site(self._sites[number])

    def watched(self, number: int) -> AccessSite:
        """What a number in an observer's report stands for; an empty site for 0."""
        if 0 < number <= len(self._watch_sites):
            return access_site(self._watch_sites[number - 1])
        return AccessSite(site=Site(), memory="", size=0)

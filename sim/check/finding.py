"""What a check reports."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..site import Site

Position = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """One side of a finding: a thread that does something at a line.

    Attributes:
        what: the deed in words: `write of 4 bytes`, `waits at threadgroup_barrier`.
        site: where in the source; its `inlined` sites lead outwards.
        threadgroup: threadgroup position in the grid, if one is meant.
        thread: thread position in the threadgroup, if one is meant.
        simdgroup, lane: the same thread by simdgroup; -1 if none is meant.
        epoch: barriers that the threadgroup had passed; -1 if that says nothing.
    """

    what: str
    site: Site
    threadgroup: Position | None = None
    thread: Position | None = None
    simdgroup: int = -1
    lane: int = -1
    epoch: int = -1

    def who(self) -> str:
        """The thread in words; empty if no thread is meant."""
        parts = []
        if self.thread is not None:
            parts.append(f"thread {self.thread}")
        if self.simdgroup >= 0:
            lane = f", lane {self.lane}" if self.lane >= 0 else ""
            parts.append(f"simdgroup {self.simdgroup}{lane}")
        if self.threadgroup is not None:
            parts.append(f"threadgroup {self.threadgroup}")
        if self.epoch >= 0:
            parts.append("before any barrier" if self.epoch == 0 else f"epoch {self.epoch}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One defect of a kernel, however often it happened.

    Attributes:
        check: the check that found it (`race`, `init`, ...).
        kind: stable identifier within the check, for suppression (`race-read-write`).
        kernel: name of the kernel; empty if it concerns host calls only.
        message: one sentence without a full stop.
        parties: who did it where; the first is the primary place.
        memory: buffer or array concerned, in the kernel's words; empty if none.
        offset: byte offset of the first place in `memory`; -1 if none.
        hint: what to do about it.
        severity: `error` or `warning`.
        count: how many times it happened, over all threads.
    """

    check: str
    kind: str
    kernel: str
    message: str
    parties: tuple[Party, ...] = ()
    memory: str = ""
    offset: int = -1
    hint: str = ""
    severity: str = "error"
    count: int = 1

    @property
    def site(self) -> Site:
        """The primary place."""
        return self.parties[0].site if self.parties else Site()

    @property
    def key(self) -> tuple[object, ...]:
        """What two happenings of the same defect have in common."""
        return (self.kind, self.kernel, self.memory, *(p.site for p in self.parties))

    def __str__(self) -> str:
        head = f"{self.site}: {self.severity}: {self.message} [{self.kind}]"
        lines = [head]
        for party in self.parties:
            who = party.who()
            lines.append(f"  {party.what} at {party.site}" + (f" by {who}" if who else ""))
            lines += [
                f"    called from {outer.function or 'the kernel'} at {outer}"
                for outer in party.site.inlined
            ]
        if self.kernel:
            times = f", {self.count} times" if self.count > 1 else ""
            lines.append(f"  in kernel '{self.kernel}'{times}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The finding as plain data."""
        return asdict(self)

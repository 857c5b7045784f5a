"""What a check reports."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..site import Site

Position = tuple[int, int, int]
_NOWHERE = Site()


# What a variable is called until its declaration is read, and what a party at that place does.
NAMELESS = "a variable"
DECLARED = "declared here"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPlace:
    """A place in a machine whose programs have no source lines: a unit at work on a task.

    Attributes:
        unit: which unit; `agent` which part of it, if one is meant.
        task: number of the task in its program, from 0; -1 before the first.
        address: of the command or descriptor behind it, None if none is.
        operation: what the unit was to do there, for which operation of the model; may be unknown.
    """

    unit: str = ""
    agent: str = ""
    task: int = -1
    address: int | None = None
    operation: str = ""

    def __str__(self) -> str:
        parts = [f"task {self.task}" if self.task >= 0 else "", self.unit, self.agent]
        parts.append(f"at {self.address:#x}" if self.address is not None else "")
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """One side of a finding: a thread that does something at a line, or a unit in its task.

    Attributes:
        what: the action in words: `write of 4 bytes`, `waits at threadgroup_barrier`.
        site: where in the source; its `inlined` sites lead outwards.
        unit: where in a machine without source lines; None for a thread.
        threadgroup: threadgroup position in the grid, if one is meant.
        thread: thread position in the threadgroup, if one is meant.
        simdgroup, lane: the same thread by simdgroup; -1 if none is meant.
        epoch: barriers that the threadgroup had passed; -1 if that says nothing.
    """

    what: str
    site: Site = _NOWHERE
    unit: UnitPlace | None = None
    threadgroup: Position | None = None
    thread: Position | None = None
    simdgroup: int = -1
    lane: int = -1
    epoch: int = -1

    @property
    def place(self) -> Site | UnitPlace:
        """Where: in the source, or in the machine."""
        return self.unit if self.unit is not None else self.site

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
            parts.append(_passed(self.epoch))
        return ", ".join(parts)


def _passed(barriers: int) -> str:
    """When something happened, by the barriers that the threadgroup had passed."""
    if barriers == 0:
        return "before any barrier"
    return f"after {barriers} barrier{'' if barriers == 1 else 's'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One defect of a kernel or of a machine's program, however often it happened.

    Attributes:
        check: the check that found it (`race`, `init`, ...).
        kind: stable identifier within the check, for suppression (`race-read-write`).
        kernel: name of the kernel or program; empty if it concerns host calls only.
        message: one sentence without a full stop.
        parties: who did it where; the first is the primary place.
        memory: buffer or array concerned, in the kernel's words; empty if none.
        offset: byte offset of the first place in `memory`; -1 if none.
        length: how many bytes from there on, where that is known; else -1.
        tensor: what these bytes are called, where programs give them names.
        hint: what to do about it.
        severity: `error` or `warning`.
        at_any_size: whether it would be one whatever size the memory had.
        count: how many times it happened, over all threads.
    """

    check: str
    kind: str
    kernel: str
    message: str
    parties: tuple[Party, ...] = ()
    memory: str = ""
    offset: int = -1
    length: int = -1
    tensor: str = ""
    hint: str = ""
    severity: str = "error"
    at_any_size: bool = False
    count: int = 1

    @property
    def site(self) -> Site:
        """The primary place in the source."""
        return self.parties[0].site if self.parties else Site()

    @property
    def at(self) -> UnitPlace:
        """The primary place in a machine without source lines."""
        return (self.parties[0].unit if self.parties else None) or UnitPlace()

    @property
    def place(self) -> Site | UnitPlace:
        """The primary place."""
        return self.parties[0].place if self.parties else Site()

    @property
    def key(self) -> tuple[object, ...]:
        """What two happenings of the same defect have in common."""
        at = self.at
        if at.unit:  # its task differs from round to round of a loop
            return (self.kind, self.kernel, at.unit, at.agent, at.address, self.offset)
        return (self.kind, self.kernel, self.memory, *(p.site for p in self.parties))

    def bytes_text(self) -> str:
        """The bytes concerned, where it is known how many: `LRAM 0x40-0x80 (x)`; else nothing."""
        if not self.memory or self.length < 0:
            return ""
        named = f" ({self.tensor})" if self.tensor else ""
        return f"{self.memory} {self.offset:#x}-{self.offset + self.length:#x}{named}"

    def __str__(self) -> str:
        head = f"{self.place}: {self.severity}: {self.message} [{self.kind}]"
        lines = [head]
        for party in self.parties:
            who = party.who()
            if party.what:
                lines.append(f"  {party.what} at {party.place}" + (f" by {who}" if who else ""))
            if party.unit is not None and party.unit.operation:
                lines.append(f"  in {party.unit.operation}")
            lines += [
                f"    called from {outer.function or 'the kernel'} at {outer}"
                for outer in party.site.inlined
            ]
        if self.bytes_text():
            lines.append(f"  memory: {self.bytes_text()}")
        if self.kernel:
            times = f", {self.count} times" if self.count > 1 else ""
            noun = "program" if self.at.unit else "kernel"
            lines.append(f"  in {noun} '{self.kernel}'{times}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The finding as plain data; what only some machines have is left out where it is not."""
        found = asdict(self)
        for party in found["parties"]:
            if party["unit"] is None:
                del party["unit"]
        if self.length < 0:
            del found["length"]
        del found["at_any_size"]  # which the severity tells
        if not self.tensor:
            del found["tensor"]
        return found

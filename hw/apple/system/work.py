"""What a program hands to a GPU, and when each part of it ran: the input and result of `run`."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A dispatch or copy. `ticks` is how long it takes on an idle GPU, `share` the part of the
    GPU (0 to 1] that it can keep busy; two that need half each run side by side. `group` is equal
    for those that may overlap; `ident` tells the caller which one it is; `traffic` is how many
    bytes it moves from and to DRAM, which counts on a board whose machines share that.
    """

    label: str
    ticks: int
    share: float
    group: int
    ident: int
    traffic: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What one encoder recorded, in order."""

    label: str
    work: tuple[Work, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventWait:
    """The queue stands still until an event is at `value`."""

    event: int
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSignal:
    """An event is set to `value`."""

    event: int
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A command buffer of the queue with that number."""

    label: str
    queue: int
    steps: tuple[Pass | EventWait | EventSignal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """The program commits a command buffer, the `submission`-th."""

    submission: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitForEnd:
    """The program waits until a command buffer has completed."""

    submission: int


HostCall = Commit | WaitForEnd


@dataclass(slots=True, kw_only=True)
class WorkSpan:
    """When a piece of work was handed out, began, and ended; in ticks.

    From `waited_from`, when what it waits for had ended, until `ready` is the barrier's cost, from
    there until `begin` that of the launch.
    """

    work: Work
    waited_from: int
    ready: int
    begin: int
    end: int = -1


@dataclass(slots=True, kw_only=True)
class PassSpan:
    """When a pass ran; `begin` is when its setting up begins, `ready` when its first work could."""

    label: str
    begin: int
    ready: int = -1
    end: int = -1
    work: list[WorkSpan] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class SubmissionSpan:
    """When a command buffer was committed, ran, and was seen to be complete by the program."""

    label: str
    queue: int
    committed: int
    begin: int = -1
    end: int = -1
    completed: int = -1
    passes: list[PassSpan] = field(default_factory=list)
    waits: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSpan:
    """A call of the program, from when until when, and the command buffer that it concerns."""

    name: str
    begin: int
    end: int
    submission: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What happened when, in ticks.

    `submissions` are in the order of commit. `stuck` are those that never ran, because an event
    they wait for is never signalled.
    """

    submissions: tuple[SubmissionSpan, ...]
    host: tuple[HostSpan, ...]
    stuck: tuple[int, ...]

    @property
    def gpu_ticks(self) -> int:
        """Time in which at least one command buffer ran."""
        spans = sorted((s.begin, s.end) for s in self.submissions if s.end >= 0)
        total, until = 0, 0
        for begin, end in spans:
            total += max(0, end - max(begin, until))
            until = max(until, end)
        return total

    @property
    def end(self) -> int:
        """When the last thing had happened."""
        ends = [s.completed for s in self.submissions] + [call.end for call in self.host]
        return max(ends, default=0)

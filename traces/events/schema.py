"""What an event kind, a cause and a track are; which ones there are stands in `kinds`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .errors import TraceError

ABSENT = -(2**63)
"""What an integer column holds where an event lacks the argument; text columns hold -1, NaN real
ones."""
NO_CAUSE = -1


class Form(Enum):
    """How events of a kind lie in time."""

    SLICE = "slice"  # from a begin for a duration
    INSTANT = "instant"  # at one time
    COUNTER = "counter"  # a value from a time on
    FLOW = "flow"  # from one slice to another


class Type(Enum):
    """What an argument holds."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"


class Group(Enum):
    """What a cause says about a track: it works, it waits, it has nothing to do."""

    BUSY = "busy"
    STALLED = "stalled"
    IDLE = "idle"


class Role(Enum):
    """What a track stands for; viewers choose its look by it."""

    GROUP = "group"
    RUN = "run"  # all tracks of one of several traces that are shown together
    HOST = "host"
    QUEUE = "queue"
    COMMAND_BUFFER = "command buffer"
    CORE = "core"
    PARTITION = "core partition"
    SIMDGROUP = "simdgroup"
    ARRAY = "threadgroup-memory array"
    DMA = "DMA channel"
    UNIT = "NPU unit"
    MEMORY = "memory map"  # its slices have `offset` and `bytes`, and may be drawn by address
    COUNTER = "counter"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Argument:
    """One typed field of an event kind; `unit` is empty for plain numbers and text."""

    name: str
    text: str
    unit: str = ""
    type: Type = Type.INTEGER


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why time passes in a slice: one word, what it means, and whether it is work."""

    name: str
    group: Group
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of event: the schema of its columns, of its arguments in viewers, of the docs.

    Attributes:
        name: one word, unique; the category in Perfetto.
        form: how it lies in time.
        category: what viewers colour by.
        text: what one event of the kind is, a sentence.
        arguments: typed fields beyond the name.
        overlapping: slices of the kind may overlap on a track; they are put into lanes and are
            nobody's children. Slices of other kinds must nest.
        tiled: the children of a slice of the kind, if there are any, leave no gap in it.
        caused: a slice of the kind must state a cause.
        around: its time passes in what it stands around, on other tracks or inside it; it is no
            link of a critical path.
    """

    name: str
    form: Form
    category: str
    text: str
    arguments: tuple[Argument, ...] = ()
    overlapping: bool = False
    tiled: bool = False
    caused: bool = False
    around: bool = False

    def __post_init__(self) -> None:
        names = [argument.name for argument in self.arguments]
        taken = {"name", "track", "begin", "duration", "time", "cause"}
        if wrong := sorted(set(names) & taken):
            raise TraceError(f"kind {self.name}: {wrong[0]!r} is no name for an argument")
        if len(set(names)) != len(names):
            raise TraceError(f"kind {self.name}: an argument is declared twice")
        traits = (self.overlapping, self.tiled, self.caused, self.around)
        if self.form is not Form.SLICE and any(traits):
            raise TraceError(
                f"kind {self.name}: only slices overlap, are tiled, have a cause or stand around"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One row of a timeline, a node of the track tree.

    Attributes:
        name: what it is called among its siblings ("simdgroup[3]").
        path: the names from the root to it.
        parent: position of the parent among the tracks, -1 for a root.
        role: what it stands for.
        unit: of the values, for counters.
        capacity: what a memory map or a counter can hold at most, in its unit; None if unlimited.
    """

    name: str
    path: tuple[str, ...]
    parent: int
    role: Role
    unit: str = ""
    capacity: int | None = None

    def __str__(self) -> str:
        return ".".join(self.path)

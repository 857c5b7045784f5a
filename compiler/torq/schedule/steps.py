"""What a schedule is made of: loads, runs of a slice, stores and waits, over buffers in LRAM.

Steps have no addresses. Loads, runs and stores only start something; a wait for their token says
that it is done. So a schedule can be reordered as long as steps come behind what they wait for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..hl.tiles import Tiles
from ..kernels.kernel import Kernel
from ..operators.operator import Operator
from ..operators.tensors import Region
from ..plan.attributes import Move
from ..slice.tensor import Tensor
from .storage import Storage


@dataclass(frozen=True, eq=False, kw_only=True)
class Buffer:
    """Bytes in LRAM for a job: `stays` while operators come and go."""

    job: str
    name: str
    size: int
    stays: bool = False


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A tensor in a buffer: its address counts from the buffer's start."""

    buffer: Buffer
    tensor: Tensor

    def at(self, addresses: Mapping[Buffer, int]) -> Tensor:
        """The tensor where its buffer is."""
        return replace(self.tensor, address=addresses[self.buffer] + self.tensor.address)


@dataclass(frozen=True, eq=False, kw_only=True)
class LoadTile:
    """Starts to bring a part of a tensor, or constants, to a buffer."""

    storage: Storage
    buffer: Buffer
    moves: tuple[Move, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class StoreTile:
    """Starts to bring a buffer's tile to XRAM."""

    storage: Storage
    buffer: Buffer
    moves: tuple[Move, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class RunSlice:
    """Starts a slice on tasks `first` to `stop` of a region of an operator."""

    slice_: int
    kernel: Kernel[Any]
    op: Operator
    out: Region
    places: Mapping[str, Spot]
    first: int
    stop: int
    code: Buffer
    cycles: int
    """How long it takes, with its commands."""
    code_bytes: int
    """About how long its commands are; their buffer is large enough for any."""
    source: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class LoadCode:
    """Starts to bring a run's commands to its buffer."""

    run: RunSlice


@dataclass(frozen=True, eq=False, kw_only=True)
class Wait:
    """Goes on when something that was started is done."""

    token: Start


Start = LoadTile | StoreTile | RunSlice | LoadCode
Step = Start | Wait
UNITS = ("XR", "XW", "SLC0", "SLC1")


def unit_of(step: Start) -> str:
    """Who does a step, one after the other."""
    if isinstance(step, RunSlice):
        return UNITS[2 + step.slice_]
    return "XW" if isinstance(step, StoreTile) else "XR"


def buffers_of(step: Step) -> Iterator[Buffer]:
    """The buffers that must be there from a step on, or up to it."""
    if isinstance(step, Wait):
        yield from buffers_of(step.token)
    elif isinstance(step, LoadCode):
        yield step.run.code
    elif isinstance(step, RunSlice):
        yield step.code
        yield from (spot.buffer for spot in step.places.values())
    else:
        yield step.buffer


@dataclass(frozen=True, kw_only=True)
class Change:
    """A buffer takes its room, or gives it back, before the step with this number."""

    step: int
    buffer: Buffer
    taken: bool
    top: bool = False
    """Whether it takes what is free at the top of LRAM."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Steps with waits in order, and when their buffers have room.

    Attributes:
        room: what takes and gives back room, in order.
        addresses: of buffers in LRAM, in the order in which they take room.
        peak: the most bytes of LRAM that are used at a time.
        tiles: by operator how its result is made.
        shared: by buffer of commands that are not loaded the one whose commands do for them.
    """

    steps: list[Step]
    room: Sequence[Change]
    addresses: dict[Buffer, int]
    peak: int
    tiles: Mapping[str, Tiles] = field(default_factory=dict)
    shared: Mapping[Buffer, Buffer] = field(default_factory=dict)

"""What schedules that were written by hand cannot ask for: refused by operator and reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from assay.hw.torq.facts.machine import limit
from assay.hw.torq.facts.registers import WORD_BYTES
from assay.hw.torq.intervals import XRAM_ADDRESSES

from ....models.errors import ModelError
from ...slice.lram import ALIGNMENT
from ...slice.tensor import Tensor
from ..allocate import bounds, fetched_behind
from ..commands import Commands
from ..dependences import extent
from ..network import Job, Network
from ..outside import Outside
from ..steps import Buffer, LoadCode, LoadTile, Plan, RunSlice, StoreTile, buffers_of
from ..storage import Role, Storage


def check_run(job: Job, run: RunSlice) -> None:
    """A region that the kernel can make, of tensors as it reads them. Raises ModelError."""
    steps = {dim.axis: dim.granularity for dim in run.kernel.tile_dims(job.op)}
    bounds_of = zip(run.out.starts, run.out.sizes, job.op.y.shape, strict=True)
    for axis, (start, size, whole) in enumerate(bounds_of):
        step = steps.get(axis, whole)
        if start % step or (size % step and start + size != whole):
            raise ModelError(
                f"{job.place}: {size} from {start} on along axis {axis}, which has {whole}, are no "
                f"multiples of {step}"
            )
    wanted = run.kernel.unplaced(job.op, run.out)
    for role, tensor in wanted.items():
        if role not in run.places:
            raise ModelError(f"{job.place}: kernel {run.kernel.name} needs {role}")
        spot = run.places[role]
        if (spot.tensor.dtype, spot.tensor.shape) != (tensor.dtype, tensor.shape):
            raise ModelError(f"{job.place}: {role} is {_shape(tensor)}, not {_shape(spot.tensor)}")
        if spot.tensor.address + spot.tensor.size > spot.buffer.size:
            raise ModelError(f"{job.place}: {role} is larger than its buffer, {spot.buffer.name}")


def _shape(tensor: Tensor) -> str:
    return f"{'x'.join(map(str, tensor.shape))} {tensor.dtype}"


def check_moves(step: LoadTile | StoreTile) -> None:
    """Transfers of bytes that there are. Raises ModelError."""
    for move in step.moves:
        low, high = extent(move)
        if low < 0 or high > step.storage.size:
            raise ModelError(
                f"a transfer of {step.buffer.name} is of bytes {low} to {high} of "
                f"{step.storage.name}, which has {step.storage.size}"
            )
        if move.inside + move.size > step.buffer.size:
            raise ModelError(f"a transfer is larger than its buffer, {step.buffer.name}")


def check_lram(plan: Plan, network: Network) -> None:
    """Every buffer has an address, in LRAM, aligned, and no other one's while both are in use.

    Raises ModelError.
    """
    places = {job.name: job.place for job in network.jobs}
    start, end = bounds(fetched_behind(plan.steps))
    lives = _lives(plan)
    for buffer in lives:
        name = _named(buffer, places)
        if buffer not in plan.addresses:
            raise ModelError(f"{name} has no address: pass allocate-lram gives it one")
        address = plan.addresses[buffer]
        if address % ALIGNMENT:
            raise ModelError(f"{name} is at {address:#x}, which is no multiple of {ALIGNMENT}")
        if address < start or address + buffer.size > end:
            raise ModelError(
                f"{name} is at {address:#x} to {address + buffer.size:#x}; buffers have LRAM from "
                f"{start:#x} to {end:#x}"
            )
    for one, other in _meetings(plan.addresses, lives):
        raise ModelError(f"{_named(one, places)} overlaps {other.name} while both are in use")


def _named(buffer: Buffer, places: Mapping[str, str]) -> str:
    return f"{places[buffer.job]}: {buffer.name}" if buffer.job in places else buffer.name


def _lives(plan: Plan) -> dict[Buffer, tuple[int, int]]:
    """The first and the last step that uses each buffer, in the order of the first."""
    found: dict[Buffer, tuple[int, int]] = {}
    for number, step in enumerate(plan.steps):
        for buffer in buffers_of(step):
            first, _ = found.get(buffer, (number, number))
            found[buffer] = first, number
    return found


def _meetings(
    addresses: Mapping[Buffer, int], lives: Mapping[Buffer, tuple[int, int]]
) -> Iterator[tuple[Buffer, Buffer]]:
    """Buffers that have bytes in common while both are in use."""
    alive: list[Buffer] = []
    for buffer, (first, _) in lives.items():
        alive = [other for other in alive if lives[other][1] >= first]
        start = addresses[buffer]
        for other in alive:
            if start < addresses[other] + other.size and addresses[other] < start + buffer.size:
                yield buffer, other
        alive.append(buffer)


def check_xram(plan: Plan, network: Network, outside: Outside) -> None:
    """All that is loaded and stored has an address. Raises ModelError."""
    used = {home.storage: None for home in network.callers}
    used |= {s.storage: None for s in plan.steps if isinstance(s, LoadTile | StoreTile)}
    for storage in used:
        check_packed(storage)
        if storage not in outside.storages:
            raise ModelError(f"{storage.name} has no address: pass allocate-xram gives it one")
    for step in plan.steps:
        if isinstance(step, LoadCode) and step.run not in outside.code:
            raise ModelError(
                f"commands of {step.run.source} have no address: pass allocate-xram gives them one"
            )


def check_packed(storage: Storage) -> None:
    """Constants have bytes. Raises ModelError."""
    if storage.role is Role.CONSTANT and storage.data is None:
        raise ModelError(f"{storage.name} is not packed: pass pack-constants does that")


def check_apart(outside: Outside, commands: Commands) -> None:
    """Nothing in XRAM overlaps, but for what is the same bytes at one place. Raises ModelError."""
    spans = [
        _Span(at=at, size=s.size, name=s.name, data=s.data) for s, at in outside.storages.items()
    ]
    for run, at in outside.code.items():
        data = commands.of(run).data
        spans.append(_Span(at=at, size=len(data), name=f"commands of {run.source}", data=data))
    spans.sort(key=lambda span: (span.at, span.size))
    for one, other in pairwise(spans):
        is_same = one.data is not None and (one.at, one.data) == (other.at, other.data)
        if other.at < one.at + one.size and not is_same:
            raise ModelError(f"{other.name} overlaps {one.name} in XRAM")
    for span in spans:
        step = ALIGNMENT if span.data is None else WORD_BYTES
        if span.at % step or span.at < limit("xram_start") or span.at + span.size > XRAM_ADDRESSES:
            raise ModelError(f"{span.name} is at {span.at:#x} in XRAM, where it cannot be")


@dataclass(frozen=True, kw_only=True)
class _Span:
    """Bytes in XRAM, with what they hold if that is known."""

    at: int
    size: int
    name: str
    data: bytes | None

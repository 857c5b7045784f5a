"""Which threadgroup arrays are written and read between which barriers, from a recording.

An array of which a place of the source touches one part in each epoch, and not always the same, is
a ring: its parts are the stages of a pipeline. Places, not instructions: loops are unrolled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.sim.simt import recording as r
from assay.sim.simt.ir import (
    Block,
    Instruction,
    ThreadgroupArenaRoot,
    ThreadgroupParameterRoot,
    ThreadgroupRoot,
)
from assay.sim.site import Site

MOST_WORDS = 1 << 20
"""Words of streams that are read for one dispatch; later threadgroups are left out."""

_MOST_STAGES = 8
_Root = ThreadgroupRoot | ThreadgroupParameterRoot | ThreadgroupArenaRoot


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayUse:
    """What one threadgroup does with one array, or a stage of a ring, in one epoch.

    `stage` is -1 for an array that is no ring; `read` and `written` are bytes of all lanes.
    """

    threadgroup: int
    epoch: int
    name: str
    stage: int
    read: int
    written: int

    @property
    def label(self) -> str:
        """The array's name, with the stage."""
        return self.name if self.stage < 0 else f"{self.name}[{self.stage}]"

    @property
    def access(self) -> str:
        """`write`, `read` or `both`."""
        if self.read and self.written:
            return "both"
        return "write" if self.written else "read"


@dataclass(slots=True)
class _Touch:
    """Bytes that are moved, and the part of the array in which: first byte, and the one behind."""

    moved: int
    first: int
    end: int


_Key = tuple[int, int, _Root, Site | None, bool]
"""Threadgroup, epoch, array, where in the source it is touched, and whether that writes."""
_Touches = dict[_Key, _Touch]


def array_uses(recording: r.Recording) -> tuple[ArrayUse, ...]:
    """Uses by threadgroup, epoch and array; the recording must have places."""
    touches = _touches(recording)
    stages = {root: _stages(root, touches) for root in {key[2] for key in touches}}
    found: dict[tuple[int, int, str, int], list[int]] = {}
    for (group, epoch, root, _, is_write), touch in touches.items():
        count = stages[root]
        size = root.size // count if isinstance(root, ThreadgroupRoot) and count > 1 else 0
        stage = touch.first // size if size else -1
        moved = found.setdefault((group, epoch, root.name, stage), [0, 0])
        moved[is_write] += touch.moved
    return tuple(
        ArrayUse(threadgroup=group, epoch=epoch, name=name, stage=stage, read=read, written=written)
        for (group, epoch, name, stage), (read, written) in sorted(found.items())
    )


def _stages(root: _Root, touches: _Touches) -> int:
    """How many stages an array has; 1 if it is no ring.

    The fewest parts such that no place touches two in one epoch, and one moves on.
    """
    if not isinstance(root, ThreadgroupRoot):
        return 1
    mine = [(key[3], each.first, each.end) for key, each in touches.items() if key[2] is root]
    for count in range(2, _MOST_STAGES + 1):
        size = root.size // count
        if root.size % count or size % r.LINE_BYTES:
            continue
        parts = {(who, first // size, (end - 1) // size) for who, first, end in mine}
        moves = len(parts) > len({who for who, _, _ in parts})
        if moves and all(first == last for _, first, last in parts):
            return count
    return 1


def _touches(recording: r.Recording) -> _Touches:
    blocks = recording.function.blocks
    accesses = [r.accesses(block) for block in blocks]
    ends = [_ends_epoch(block) for block in blocks]
    roots: dict[_Root, _Root] = {}
    found: _Touches = {}
    for group in range(len(recording.threadgroups)):
        if recording.starts[(group + 1) * recording.simdgroups] > MOST_WORDS:
            break
        for simdgroup in range(recording.simdgroups):
            stream = r.events(recording, group, simdgroup)
            for epoch, instruction, event in _accesses(stream, accesses, ends):
                root = instruction.root
                if isinstance(root, _Root):
                    root = roots.setdefault(root, root)
                    _add(found, (group, epoch, root), instruction, event)
    return found


def _add(
    found: _Touches, key: tuple[int, int, _Root], instruction: Instruction, event: r.Event
) -> None:
    root = key[2]
    start = root.start if isinstance(root, ThreadgroupRoot) else 0
    first = max(0, event.first_row * r.LINE_BYTES - start)
    end = (event.last_row + 1) * r.LINE_BYTES - start
    if isinstance(root, ThreadgroupRoot):
        end = min(end, root.size)
    moved = event.lanes.bit_count() * event.bytes
    for is_write in (False, True):
        if instruction.op == ("load" if is_write else "store"):
            continue
        touch = found.setdefault((*key, instruction.site, is_write), _Touch(0, first, end))
        touch.moved += moved
        touch.first, touch.end = min(touch.first, first), max(touch.end, end)


def _accesses(
    stream: Iterable[r.Event], accesses: list[list[Instruction]], ends: list[bool]
) -> Iterator[tuple[int, Instruction, r.Event]]:
    """(epoch, instruction, event) of each access of a simdgroup."""
    epoch, block, ended = 0, 0, False
    for event in stream:
        if event.type == r.BLOCK:
            epoch += ended
            block = event.number
            ended = ends[block]
        else:
            yield epoch, accesses[block][event.number], event


def _ends_epoch(block: Block) -> bool:
    return bool(block.body) and block.body[-1].callee == "threadgroup_barrier"

"""Whole programs: what is loaded, run and stored, as blocks of commands for the NSS.

Commands come in blocks, of which two fit into LRAM at a time: a block loads the next one into the
other place, and the last thing it does is to go on there. The host copies the first block. Where a
program of the NSS ends, it starts the next one at the block that was loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assay.hw.torq.facts.machine import limit
from assay.hw.torq.facts.registers import WORD_BYTES
from assay.hw.torq.intervals import ADDRESSES, XRAM_ADDRESSES
from assay.hw.torq.notes import Notes, Symbol, TaskNote
from assay.hw.torq.words.commands import Dim, Ndl, NssProgram, NssTask, SliceProgram, SliceTask
from assay.hw.torq.words.encode.nss import encode_nss_task
from assay.hw.torq.words.encode.programs import encode, memory_image

from .ends import with_ends
from .slice.held import Held, held, placed
from .slice.operands import linear, spans
from .slice.tensor import Tensor

BURST = 4
"""Bursts of 1 << BURST beats."""
_LINK_WORDS = 2
"""Words that a block may have behind its tasks."""
Segments = Sequence[tuple[int, bytes]]
Loops = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A tensor of the caller's: where it is in XRAM, and in LRAM while it is worked on.

    `caller` is its element type and shape to the caller, if they are not the tensor's: truth values
    are bytes here, and a tensor of no dimension has one.
    """

    name: str
    address: int
    tensor: Tensor
    is_output: bool
    caller: tuple[str, tuple[int, ...]] | None = None

    @property
    def size(self) -> int:
        """Bytes, the tensor's gaps included."""
        return self.tensor.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program that is ready to run.

    Attributes:
        segments: (XRAM address, bytes) of constants and code.
        bindings: inputs and outputs.
        first_block: XRAM address of the block that the host copies to LRAM address 0.
        blocks: how many there are.
        starts: LRAM addresses at which the host starts programs of the NSS, one behind the other.
        uses_slices: which slices run.
        notes: names, operations, and what each task is meant to touch.
    """

    segments: tuple[tuple[int, bytes], ...]
    bindings: tuple[Binding, ...]
    first_block: int
    blocks: int
    starts: tuple[int, ...]
    uses_slices: tuple[bool, bool]
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """A program whose tasks are not in blocks yet.

    Attributes:
        tasks: one after the other.
        segments, bindings: as of the program.
        end: the first XRAM address that is free.
        notes: as of the program, but for transfers, which the tasks have, and places.
        block_tasks: the most tasks in a block besides the one that loads the next; 0: as many as
            there is room for.
        program_blocks: the most blocks in a program of the NSS; 0: all of them in one.
    """

    tasks: Sequence[NssTask]
    segments: Segments
    bindings: Sequence[Binding]
    end: int
    notes: Notes
    block_tasks: int = 0
    program_blocks: int = 0


def assembled(given: Unpacked) -> Program:
    """The program, whose blocks are put behind what is in XRAM.

    To its notes come the transfers and what the host puts into XRAM.
    """
    size = limit("nss_block")
    tasks, segments, bindings, notes = given.tasks, given.segments, given.bindings, given.notes
    first = -(-given.end // WORD_BYTES) * WORD_BYTES
    groups = _linked(_groups(tasks, given.block_tasks or len(tasks)), first)
    count = given.program_blocks or len(groups)
    groups = with_ends(groups, count)
    lasts = {*range(count - 1, len(groups), count), len(groups) - 1}
    blocks = [
        (first + number * size, _block(group, number, last=number in lasts))
        for number, group in enumerate(groups)
    ]
    callers = [
        Symbol(name=b.name, memory="XRAM", start=b.address, stop=b.address + b.size)
        for b in bindings
    ]
    return Program(
        segments=(*segments, *blocks),
        bindings=tuple(bindings),
        first_block=first,
        blocks=len(blocks),
        starts=tuple(_place(number) for number in range(0, len(blocks), count)),
        uses_slices=(
            any(task.slc_start[0] for task in tasks),
            any(task.slc_start[1] for task in tasks),
        ),
        notes=replace(
            notes,
            symbols=(*notes.symbols, *callers),
            transfers=tuple(t.note for group in groups for t in group if t.note is not None),
            places=(
                *callers,
                *(_kept("constants and code", *segment) for segment in segments),
                *(_kept("commands", *block) for block in blocks),
            ),
        ),
    )


def _groups(tasks: Sequence[NssTask], count: int) -> list[list[NssTask]]:
    """Tasks by block: as many as there is room for beside the one that loads the next block, and no
    more than `count`."""
    most = limit("nss_block") // WORD_BYTES - _LINK_WORDS - _words(load("", 0, 0, 1))
    groups: list[list[NssTask]] = [[]]
    used = 0
    for task in tasks:
        words = _words(task)
        if used + words > most or len(groups[-1]) == count:
            groups.append([])
            used = 0
        groups[-1].append(task)
        used += words
    return groups


def _words(task: NssTask) -> int:
    return len(encode_nss_task(task).words)


def _linked(groups: Sequence[Sequence[NssTask]], first: int) -> list[list[NssTask]]:
    """Each group but the last with a task that loads the next one's commands."""
    size = limit("nss_block")
    found = []
    busy = False
    for number, group in enumerate(groups):
        if number + 1 < len(groups):
            following = first + (number + 1) * size
            link = load("the next commands", following, _place(number + 1), size)
            found.append(_with_link(group, replace(link, dma_xr_wait=False), busy=busy))
        else:
            found.append(list(group))
        busy = _is_loading(found[-1], busy)[-1]
    return found


def _is_loading(tasks: Sequence[NssTask], busy: bool) -> list[bool]:
    """Whether XR may be under way before each task, and behind the last, if it is `busy` first."""
    found = [busy]
    for task in tasks:
        found.append((found[-1] or task.dma_xr_start) and not task.dma_xr_wait)
    return found


def _with_link(tasks: Sequence[NssTask], link: NssTask, *, busy: bool) -> list[NssTask]:
    """The tasks with one more that loads the next commands while others wait, where it can.

    It is put where XR is free and most is waited for until XR starts again.
    """
    loading = _is_loading(tasks, busy)
    made = list(tasks)
    if all(loading):
        made[-1] = replace(made[-1], dma_xr_wait=True)
        return [*made, replace(link, dma_xr_wait=True)]
    best = max(
        (place for place, under_way in enumerate(loading) if not under_way),
        key=lambda place: (_waits(tasks[place : _next_load(tasks, place)]), -place),
    )
    stop = _next_load(tasks, best)
    made.insert(best, link)
    made[stop] = replace(made[stop], dma_xr_wait=True)
    return made


def _next_load(tasks: Sequence[NssTask], place: int) -> int:
    """The first task from a place on that starts XR, or how many there are."""
    return next((n for n in range(place, len(tasks)) if tasks[n].dma_xr_start), len(tasks))


def _waits(tasks: Sequence[NssTask]) -> int:
    return sum(task.dma_xw_wait or any(task.slc_wait) for task in tasks)


def _block(tasks: Sequence[NssTask], number: int, *, last: bool) -> bytes:
    """The bytes of one block; if it is not the last one, it goes on in the next one's place."""
    here = _place(number)
    if not last:
        # This task is not part of the block: it is there to be linked to.
        tasks = (*tasks, NssTask(address=_place(number + 1)))
    words = memory_image(encode(NssProgram(tasks=tuple(tasks), address=here)))
    end = here + limit("nss_block")
    return data_of({at: word for at, word in words.items() if here <= at < end}).ljust(
        limit("nss_block"), b"\0"
    )


def _place(number: int) -> int:
    """The LRAM address of a block's commands."""
    return number % 2 * limit("nss_block")


def _kept(name: str, address: int, data: bytes) -> Symbol:
    """A segment's place."""
    return Symbol(name=name, memory="XRAM", start=address, stop=address + len(data))


def image(tasks: Sequence[SliceTask], address: int) -> dict[int, int]:
    """The words of a slice program by their LRAM addresses."""
    return memory_image(encode(SliceProgram(tasks=tuple(tasks), address=address)))


def data_of(words: Mapping[int, int]) -> bytes:
    """Words as bytes, from the first address to the last."""
    first = min(words)
    data = bytearray(max(words) + WORD_BYTES - first)
    for at, word in words.items():
        data[at - first : at - first + WORD_BYTES] = word.to_bytes(WORD_BYTES, "little")
    return bytes(data)


def noted(
    tasks: Sequence[SliceTask], source: str, words: Mapping[int, int], address: int
) -> tuple[TaskNote, ...]:
    """What the tasks of a slice program with these words are for."""
    return tuple(
        _noted(task, source, own) for task, own in zip(tasks, held(words, address), strict=True)
    )


def _noted(task: SliceTask, source: str, words: Held) -> TaskNote:
    """What a task is for: its registers hold `words`, or what its nest means if it has one."""
    note = task.note or TaskNote()
    return replace(note, source=source, registers=placed(note.registers, words))


def load(name: str, source: int, target: int, size: int) -> NssTask:
    """Bytes from XRAM to LRAM, and a wait for them."""
    return replace(load_strided(name, source, target, size, ()), dma_xr_wait=True)


def store(name: str, source: int, target: int, size: int) -> NssTask:
    """Bytes from LRAM to XRAM, and a wait for them."""
    return replace(store_strided(name, source, target, size, ()), dma_xw_wait=True)


def load_strided(name: str, source: int, target: int, row: int, loops: Loops) -> NssTask:
    """Starts to load rows from XRAM at all steps of `loops` (count, stride), innermost first."""
    ndls = (_strided("DIXR", source, row, loops), _linear("DILW", target, row, loops))
    note = _note("load", name, ndls)
    return NssTask(ndls=ndls, dma_xr_start=True, dma_mtu_xr=BURST, note=note)


def store_strided(name: str, source: int, target: int, row: int, loops: Loops) -> NssTask:
    """Starts to store rows to XRAM at all steps of `loops` (count, stride), innermost first."""
    ndls = (_linear("DOLR", source, row, loops), _strided("DOXW", target, row, loops))
    note = _note("store", name, ndls)
    return NssTask(ndls=ndls, dma_xw_start=True, dma_mtu_xw=BURST, note=note)


def _note(what: str, name: str, ndls: Sequence[Ndl]) -> TaskNote:
    """What a transfer is for, from the loops of both agents of its channel."""
    operands = []
    for ndl in ndls:
        memory = "XRAM" if "X" in ndl.agent else "LRAM"
        own = linear(ndl.agent, memory, name, ndl.base_address, 1)
        loops = [(dim.count, dim.stride) for dim in ndl.high]
        addresses = XRAM_ADDRESSES if memory == "XRAM" else ADDRESSES
        ranges, exact = spans(ndl.base_address, loops, addresses)
        operands.append(replace(own, ranges=ranges, exact=exact))
    return TaskNote(operation=f"{what} {name}", operands=tuple(operands))


def _strided(agent: str, address: int, row: int, loops: Loops) -> Ndl:
    high = (Dim(count=row, stride=1), *(Dim(count=n, stride=stride) for n, stride in loops))
    return Ndl(agent=agent, low=_BYTE, high=high, base_address=address)


def _linear(agent: str, address: int, row: int, loops: Loops) -> Ndl:
    size = row
    for count, _ in loops:
        size *= count
    return Ndl(agent=agent, low=_BYTE, high=(Dim(count=size, stride=1),), base_address=address)


_BYTE = (Dim(count=1, stride=1, tag="B"),)

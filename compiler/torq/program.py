"""Whole programs: what is loaded, run and stored, as blocks of commands for the NSS.

Constants and the words of slice programs are kept in XRAM; the program itself brings them to LRAM.
Commands come in blocks, of which two fit into LRAM at a time: the last thing a block does is to
load the next one into the other place and to go on there. The host copies the first block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from assay.hw.torq.facts.machine import limit, memories
from assay.hw.torq.facts.registers import WORD_BYTES
from assay.hw.torq.notes import Notes, Symbol, TaskNote
from assay.hw.torq.words.commands import Dim, Ndl, NssProgram, NssTask, SliceProgram, SliceTask
from assay.hw.torq.words.encode.programs import encode, memory_image

from .slice.errors import IllegalSliceProgram
from .slice.held import Held, held, placed
from .slice.lram import Lram
from .slice.operands import linear
from .slice.tensor import Tensor

OPERATIONS_PER_BLOCK = 4
BURST = 4
"""Bursts of 1 << BURST beats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A tensor of the caller's: where it is in XRAM, and in LRAM while it is worked on."""

    name: str
    address: int
    tensor: Tensor
    is_output: bool

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
        uses_slices: which slices run.
        notes: names, operations, and what each task is meant to touch.
    """

    segments: tuple[tuple[int, bytes], ...]
    bindings: tuple[Binding, ...]
    first_block: int
    blocks: int
    uses_slices: tuple[bool, bool]
    notes: Notes


@dataclass(slots=True)
class ProgramBuilder:
    """Takes steps one after the other; `lram` is where the tensors are."""

    lram: Lram
    _tasks: list[NssTask] = field(default_factory=list)
    _segments: list[tuple[int, bytes]] = field(default_factory=list)
    _bindings: list[Binding] = field(default_factory=list)
    _programs: dict[int, tuple[TaskNote, ...]] = field(default_factory=dict)
    """What each slice program's tasks are for, by its LRAM address."""
    _constants: int = 0
    _xram: int = field(default_factory=lambda: limit("xram_start"))

    @classmethod
    def new(cls) -> ProgramBuilder:
        """A builder with all of LRAM behind the two places for blocks."""
        return cls(Lram(limit("lram_pool_start"), memories()["LRAM"].size))

    def load(self, name: str, tensor: Tensor) -> None:
        """Bring an input of the caller's to LRAM."""
        address = self._bind(name, tensor, is_output=False)
        self._tasks.append(_load(name, address, tensor.address, tensor.size))

    def store(self, name: str, tensor: Tensor) -> None:
        """Bring a result to the caller."""
        address = self._bind(name, tensor, is_output=True)
        self._tasks.append(_store(name, tensor.address, address, tensor.size))

    def run(self, *programs: Sequence[SliceTask], source: str = "") -> None:
        """Run slice tasks one after the other; a second sequence runs on the other slice.

        `source` names the operation of the model that they come from; findings tell it.
        Raises IllegalSliceProgram when there are more sequences than slices.
        """
        if not 1 <= len(programs) <= limit("slices"):
            raise IllegalSliceProgram("slices", f"{len(programs)} programs at a time")
        self._load_constants()
        starts = []
        for number, tasks in enumerate(programs):
            starts.append(self._load_code(tasks, source))
            self._tasks.append(
                NssTask(
                    slc_start=(number == 0, number == 1),
                    slc_cfg_addr=(starts[0], starts[number]),
                )
            )
        for number in range(len(programs)):
            self._tasks.append(NssTask(slc_wait=(number == 0, number == 1)))

    def build(self) -> Program:
        """The program of all steps so far."""
        count = -(-len(self._tasks) // OPERATIONS_PER_BLOCK)
        size = limit("nss_block")
        first_block = self._reserve(size * count)
        groups = [
            self._group(number, first_block + (number + 1) * size if number < count - 1 else None)
            for number in range(count)
        ]
        blocks = [
            (first_block + number * size, _block(group, number).ljust(size, b"\0"))
            for number, group in enumerate(groups)
        ]
        return Program(
            segments=(*self._segments, *blocks),
            bindings=tuple(self._bindings),
            first_block=first_block,
            blocks=len(blocks),
            uses_slices=(
                any(task.slc_start[0] for task in self._tasks),
                any(task.slc_start[1] for task in self._tasks),
            ),
            notes=self._notes([task for group in groups for task in group], blocks),
        )

    def _group(self, number: int, following: int | None) -> list[NssTask]:
        """The tasks of a block, of which the last loads the block at XRAM address `following`."""
        first = number * OPERATIONS_PER_BLOCK
        tasks = self._tasks[first : first + OPERATIONS_PER_BLOCK]
        if following is not None:
            size = limit("nss_block")
            tasks.append(_load("the next commands", following, _place(number + 1), size))
        return tasks

    def _notes(self, tasks: Sequence[NssTask], blocks: Sequence[tuple[int, bytes]]) -> Notes:
        places = [Symbol(name=n, memory="LRAM", start=a, stop=b) for a, b, n in self.lram.places]
        callers = [
            Symbol(name=b.name, memory="XRAM", start=b.address, stop=b.address + b.size)
            for b in self._bindings
        ]
        return Notes(
            symbols=(*places, *callers),
            padding=tuple(("LRAM", start, stop) for start, stop in self.lram.padding),
            slice_programs=MappingProxyType(dict(self._programs)),
            transfers=tuple(task.note for task in tasks if task.note is not None),
            places=(
                *callers,
                *(_kept("constants and code", *segment) for segment in self._segments),
                *(_kept("commands", *block) for block in blocks),
            ),
        )

    def _bind(self, name: str, tensor: Tensor, *, is_output: bool) -> int:
        address = self._reserve(tensor.size, limit("xram_page"))
        self._bindings.append(
            Binding(name=name, address=address, tensor=tensor, is_output=is_output)
        )
        return address

    def _reserve(self, size: int, alignment: int = WORD_BYTES) -> int:
        address = -(-self._xram // alignment) * alignment
        self._xram = address + size
        return address

    def _load_constants(self) -> None:
        """Load the constants that came since the last time."""
        for constant in self.lram.constants[self._constants :]:
            address = self._keep(constant.data)
            self._tasks.append(_load(constant.name, address, constant.address, len(constant.data)))
        self._constants = len(self.lram.constants)

    def _load_code(self, tasks: Sequence[SliceTask], source: str) -> int:
        """Load a slice program; gives its LRAM address."""
        size = len(_data(_image(tasks, 0)))
        address = self.lram.reserve("slice code", size)
        image = _image(tasks, address)
        place = self._keep(_data(image))
        self._tasks.append(_load("slice code", place, address, size))
        self._programs[address] = tuple(
            _noted(task, source, words)
            for task, words in zip(tasks, held(image, address), strict=True)
        )
        return address

    def _keep(self, data: bytes) -> int:
        address = self._reserve(len(data))
        self._segments.append((address, data))
        return address


def _image(tasks: Sequence[SliceTask], address: int) -> dict[int, int]:
    """The words of a slice program by their LRAM addresses."""
    return memory_image(encode(SliceProgram(tasks=tuple(tasks), address=address)))


def _data(image: Mapping[int, int]) -> bytes:
    """Words as bytes, from the first address to the last."""
    first = min(image)
    data = bytearray(max(image) + WORD_BYTES - first)
    for at, word in image.items():
        data[at - first : at - first + WORD_BYTES] = word.to_bytes(WORD_BYTES, "little")
    return bytes(data)


def _kept(name: str, address: int, data: bytes) -> Symbol:
    """A segment's place."""
    return Symbol(name=name, memory="XRAM", start=address, stop=address + len(data))


def _noted(task: SliceTask, source: str, words: Held) -> TaskNote:
    """What a task is for: its registers hold `words`, or what its nest means if it has one."""
    note = task.note or TaskNote()
    return replace(note, source=source, registers=placed(note.registers, words))


def _place(number: int) -> int:
    """The LRAM address of a block's commands."""
    return number % 2 * limit("nss_block")


def _block(tasks: Sequence[NssTask], number: int) -> bytes:
    """The words of one block; if it loads another one, it goes on there."""
    here = _place(number)
    if len(tasks) > OPERATIONS_PER_BLOCK:
        # This task is not part of the block: it is there to be linked to.
        tasks = (*tasks, NssTask(address=_place(number + 1)))
    image = memory_image(encode(NssProgram(tasks=tuple(tasks), address=here)))
    end = here + limit("nss_block")
    return _data({at: word for at, word in image.items() if here <= at < end})


def _load(name: str, source: int, target: int, size: int) -> NssTask:
    ends = (("DIXR", "XRAM", source), ("DILW", "LRAM", target))
    ndls, note = _copy("load", name, ends, size)
    return NssTask(ndls=ndls, dma_xr_start=True, dma_xr_wait=True, dma_mtu_xr=BURST, note=note)


def _store(name: str, source: int, target: int, size: int) -> NssTask:
    ends = (("DOLR", "LRAM", source), ("DOXW", "XRAM", target))
    ndls, note = _copy("store", name, ends, size)
    return NssTask(ndls=ndls, dma_xw_start=True, dma_xw_wait=True, dma_mtu_xw=BURST, note=note)


def _copy(
    what: str, name: str, ends: Sequence[tuple[str, str, int]], size: int
) -> tuple[tuple[Ndl, ...], TaskNote]:
    """The loops of both agents of a channel, from (agent, memory, address), and what for."""
    note = TaskNote(
        operation=f"{what} {name}",
        operands=tuple(linear(agent, memory, name, at, size) for agent, memory, at in ends),
    )
    return tuple(_linear(agent, at, size) for agent, _, at in ends), note


def _linear(agent: str, address: int, size: int) -> Ndl:
    return Ndl(
        agent=agent,
        low=(Dim(count=1, stride=1, tag="B"),),
        high=(Dim(count=size, stride=1),),
        base_address=address,
    )

"""From words to TorqHW: commands of the NSS block by block, programs of slices where they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from xdsl.ir import Operation

from assay.compiler.torq.hw.attributes import Address, Loops, LoopsAttr, has_address
from assay.compiler.torq.hw.nss import BlockOp, DmaOp, NextOp, SliceStartOp
from assay.compiler.torq.hw.nss_program import CommandBlock, NssProgramOp, TaskOps, block_words
from assay.compiler.torq.hw.slices import SliceProgramOp, SliceTaskOp
from assay.hw.torq.facts.registers import WORD_BYTES
from assay.hw.torq.notes import NO_NOTES, Notes, Operand, SliceRun, TaskNote
from assay.hw.torq.words.commands import Ndl, NssTask, SliceProgram, SliceTask
from assay.hw.torq.words.decode.nss import tasks_of
from assay.hw.torq.words.decode.programs import check
from assay.hw.torq.words.decode.slice import decode_slice
from assay.hw.torq.words.decode.stream import Command, Read, read_command
from assay.hw.torq.words.encode.programs import encode, memory_image
from assay.hw.torq.words.encode.slice import MEMORY_AGENTS
from assay.hw.torq.words.errors import DecodeError, EncodeError

from .loaded import Loaded
from .names import Names

_NO_OPERAND = Operand(agent="", tensor="", memory="", ranges=())
_MOST_BLOCKS = 1 << 14
_MOST_COMMANDS = 1 << 12


@dataclass
class Lifter:
    """Makes operations of what an executable's transfers bring to LRAM.

    Attributes:
        loaded: what is in LRAM.
        covered: XRAM addresses of words that are the programs' and blocks'.
        programs: what slices run, by XRAM and LRAM address.
    """

    loaded: Loaded
    names: Names
    notes: Notes = NO_NOTES
    covered: dict[int, int] = field(default_factory=dict)
    programs: dict[tuple[int, int], SliceProgramOp] = field(default_factory=dict)
    _runs: dict[str, list[SliceRun]] = field(default_factory=dict)
    _transfers: list[TaskNote] = field(default_factory=list)
    _failed: dict[tuple[int, int], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._transfers = list(reversed(self.notes.transfers))
        for run in reversed(self.notes.slice_runs):
            self._runs.setdefault(run.unit, []).append(run)

    def nss_program(self, address: int) -> NssProgramOp:
        """The program of the NSS that begins at an LRAM address, as far as it can be followed."""
        ops: list[Operation] = []
        tasks = TaskOps()
        owned = False
        place: int | None = address
        for _ in range(_MOST_BLOCKS):
            if place is None:
                break
            kept = self.loaded.kept(place)
            block = self._block(place, owned)
            here = Address("lram", place)
            head = BlockOp.made(here, None if kept is None else Address("xram", kept))
            if block.problem:
                head.remarked(f"not read further: {block.problem}")
            ops.append(head)
            ops += self.task_ops(block.tasks, tasks)
            if block.tasks and not block.problem:
                words, owned = block_words(block, owned)
                self._cover(kept, words)
            if block.follows is not None:
                ops.append(NextOp.made(Address("lram", block.follows)))
            place = block.follows
        return NssProgramOp.made(ops)

    def task_ops(self, given: Sequence[NssTask], tasks: TaskOps) -> Iterator[Operation]:
        """The operations of tasks; what they load and run is followed."""
        for task in given:
            note = self._note(task)
            for op in tasks.of(task):
                if isinstance(op, DmaOp) and note is not None:
                    self._name(op, note)
                    op.remarked(str(note))
                if isinstance(op, SliceStartOp):
                    op.remarked(self._slice(op.unit, op.place.data.offset))
                yield op
            self.loaded.task(task)

    def _note(self, task: NssTask) -> TaskNote | None:
        if task.note is not None:
            return task.note
        if (task.dma_xr_start or task.dma_xw_start) and self._transfers:
            return self._transfers.pop()
        return None

    def _name(self, op: DmaOp, note: TaskNote) -> None:
        sides = [self._named(side.data.ndl, note) for side in op.agents]
        op.properties["agents"] = type(op.agents)([LoopsAttr(side) for side in sides])

    def _named(self, ndl: Ndl, note: TaskNote | None) -> Loops:
        """Loops whose address is counted from the tensor that a note names."""
        if note is None or not has_address(ndl.agent):
            return Loops(ndl)
        space = "xram" if ndl.agent in ("DIXR", "DOXW") else "lram"
        operand = next((o for o in note.operands if o.agent == ndl.name), _NO_OPERAND)
        tensor, job = operand.tensor, note.operation.partition(" of ")[2]
        at = ndl.base_address
        found = self.names.symbol(space, (tensor, f"{tensor} of {job}"), at)
        if not found and ndl.agent in MEMORY_AGENTS:
            found = self.names.last(space, at)
        if not found and tensor and operand.ranges:
            start, stop = operand.ranges[0][0], operand.ranges[-1][1]
            found = self.names.region(space, tensor, start, stop) if start <= at < stop else ""
        if not found:
            return Loops(ndl)
        base = ndl.base_address - self.names.start(space, found)
        return Loops(replace(ndl, base_address=base), found)

    def _block(self, place: int, owned: bool) -> CommandBlock:
        """The commands from an LRAM address up to a link or the end."""
        kept = self.loaded.kept(place)
        block = CommandBlock(place=place, kept=kept)
        commands: list[Command] = []
        try:
            read = self.loaded.reader(place)
            for command in _commands(read, place):
                if command.kind == "NXT":
                    block.follows = command.target
                else:
                    commands.append(command)
            block.tasks = list(tasks_of(commands))
            words, _ = block_words(block, owned)
            _compare(read, place, words)
        except (DecodeError, EncodeError) as error:
            block.problem = str(error)
        return block

    def _slice(self, unit: str, address: int) -> str:
        """Takes up what a slice runs; gives what it is for, or why it cannot be read."""
        kept = self.loaded.kept(address)
        runs = self._runs.get(unit)
        notes = runs.pop().tasks if runs else self.notes.slice_programs.get(address, ())
        if kept is None:
            return "what it runs is not known before"
        key = (kept, address)
        if key not in self.programs and key not in self._failed:
            try:
                program, words = lifted_slice(self.loaded.reader(address), address)
                self.covered |= {kept + at - address: word for at, word in words.items()}
                self.programs[key] = self._slice_op(program, notes, Address("xram", kept))
            except DecodeError as error:
                self._failed[key] = str(error)
        if key in self._failed:
            return f"not read: {self._failed[key]}"
        return ", ".join(dict.fromkeys(str(note) for note in notes))

    def _slice_op(
        self, program: SliceProgram, notes: Sequence[TaskNote], kept: Address
    ) -> SliceProgramOp:
        known = list(notes) if len(notes) == len(program.tasks) else [None] * len(program.tasks)
        ops = []
        for task, note in zip(program.tasks, known, strict=True):
            loops = [self._named(ndl, note) for ndl in task.ndls]
            shown = replace(task, ndls=tuple(each.ndl for each in loops))
            op = SliceTaskOp.made(shown, [each.symbol for each in loops])
            op.remarked("" if note is None else str(note))
            ops.append(op)
        return SliceProgramOp.made(ops, Address("lram", program.address), kept)

    def _cover(self, kept: int | None, words: Sequence[int]) -> None:
        if kept is not None:
            self.covered |= {kept + WORD_BYTES * k: word for k, word in enumerate(words)}


def _commands(read: Read, address: int) -> Iterator[Command]:
    """Commands up to a link or the last one."""
    for _ in range(_MOST_COMMANDS):
        command = read_command(read, address)
        yield command
        if command.last or command.kind == "NXT":
            return
        address += WORD_BYTES * (1 + len(command.values))
    raise DecodeError(address, "the commands have no end")


def _compare(read: Read, place: int, words: Sequence[int]) -> None:
    for index, word in enumerate(words):
        at = place + WORD_BYTES * index
        if read(at) != word:
            raise DecodeError(at, f"{read(at):#010x} is no command that tasks have")


def lifted_slice(read: Read, address: int) -> tuple[SliceProgram, dict[int, int]]:
    """The slice program at an LRAM address in its shortest form, and its words.

    Descriptors that stand where the encoder puts them have no address of their own.
    Raises DecodeError.
    """
    program = decode_slice(read, address)
    short = replace(program, tasks=tuple(map(_without_places, program.tasks)))
    try:
        words = memory_image(encode(short))
        if all(read(at) == word for at, word in words.items()):
            return short, words
    except (DecodeError, EncodeError):
        pass  # Descriptors are elsewhere.
    check(program, read)
    return program, memory_image(encode(program))


def _without_places(task: SliceTask) -> SliceTask:
    """A task whose memory agents are in the order of their descriptors, which have no address."""
    places: dict[str, int] = {
        ndl.name: ndl.descriptor_address for ndl in task.ndls if ndl.descriptor_address is not None
    }
    memory = [ndl for ndl in task.ndls if ndl.name in MEMORY_AGENTS]
    ordered = sorted(memory, key=lambda ndl: places.get(ndl.name, 0))
    reference = [ndl for ndl in task.ndls if ndl.agent == "REF"]
    others = [ndl for ndl in task.ndls if ndl.name not in MEMORY_AGENTS and ndl.agent != "REF"]
    ndls = (*reference, *(replace(ndl, descriptor_address=None) for ndl in ordered), *others)
    return replace(task, ndls=ndls)

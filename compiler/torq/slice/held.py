"""What a slice's registers hold when its tasks start: as encoded, and as a nest means it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay.hw.torq.facts.registers import WORD_BYTES, registers
from assay.hw.torq.notes import TaskNote
from assay.hw.torq.words.commands import SliceProgram, SliceTask
from assay.hw.torq.words.decode.stream import read_commands, reader
from assay.hw.torq.words.encode.programs import encode, memory_image
from assay.hw.torq.words.errors import EncodeError

Held = tuple[tuple[int, int], ...]
"""(address, word) of registers."""


def held(image: Mapping[int, int], address: int) -> Iterator[Held]:
    """What registers hold when each task of the slice program at an LRAM address starts."""
    space = registers("slice")
    status, start = space.address("STATUS.dr"), space.address("START.dr")
    words: dict[int, int] = {}
    for command in read_commands(reader(image), address):
        for number, word in enumerate(command.values):
            words[command.register + WORD_BYTES * number] = word
        if words.pop(start, 0):
            words.pop(status, None)
            yield tuple(sorted(words.items()))


def with_meaning(task: SliceTask, note: TaskNote) -> TaskNote:
    """The note with what registers hold when the task starts alone, and the tags of its loops.

    Nothing is added if the task cannot be encoded.
    """
    try:
        segments = encode(SliceProgram(tasks=(task,)))
    except EncodeError:
        return note
    tags = {s.role: _tags(s.words) for s in segments if s.role != "CDS"}
    operands = tuple(replace(o, tags=tags.get(o.agent, ())) for o in note.operands)
    return replace(note, operands=operands, registers=next(held(memory_image(segments), 0), ()))


def _tags(words: Sequence[int]) -> tuple[int, ...]:
    """Codes of all loops of a list of descriptors."""
    found: list[int] = []
    at = 0
    while at < len(words):
        count = words[at] >> 24 & 0xF
        found += [words[at + 1 + 2 * k] >> 28 & 7 for k in range(count)]
        at += 1 + 2 * count
    return tuple(found)


def placed(nest: Held, task: Held) -> Held:
    """What a nest means, with the descriptors where those of its task lie."""
    words = dict(task)
    for address, word in nest:
        for field in registers("slice").at(address):
            if field.name.endswith(".desc"):
                word = field.wrap(word, field.get(words.get(address, 0)))
        words[address] = word
    return tuple(sorted(words.items()))

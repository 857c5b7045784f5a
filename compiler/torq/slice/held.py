"""What a slice's registers hold when its tasks start: as encoded, and as a nest means it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.hw.torq.commands import SliceProgram, SliceTask
from assay.hw.torq.decode_stream import read_commands, reader
from assay.hw.torq.encode import encode, memory_image
from assay.hw.torq.errors import EncodeError
from assay.hw.torq.registers import registers

WORD = 4
Held = tuple[tuple[int, int], ...]
"""(address, word) of registers."""


def held(image: Mapping[int, int], address: int) -> Iterator[Held]:
    """What registers hold when each task of the slice program at an LRAM address starts."""
    space = registers("slice")
    status, start = space.address("STATUS.dr"), space.address("START.dr")
    words: dict[int, int] = {}
    for command in read_commands(reader(image), address):
        for number, word in enumerate(command.values):
            words[command.register + WORD * number] = word
        if words.pop(start, 0):
            words.pop(status, None)
            yield tuple(sorted(words.items()))


def meant(task: SliceTask) -> Held:
    """What registers hold when a task starts alone; nothing if it cannot be encoded."""
    try:
        image = memory_image(encode(SliceProgram(tasks=(task,))))
    except EncodeError:
        return ()
    return next(held(image, 0), ())


def placed(nest: Held, task: Held) -> Held:
    """What a nest means, with the descriptors where those of its task lie."""
    words = dict(task)
    for address, word in nest:
        for field in registers("slice").at(address):
            if field.name.endswith(".desc"):
                word = field.wrap(word, field.get(words.get(address, 0)))
        words[address] = word
    return tuple(sorted(words.items()))

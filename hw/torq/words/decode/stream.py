"""Reads command words and descriptors from memory, with every address and length checked.

A stream that links in a circle, runs out of memory or never ends gives a DecodeError, whatever the
memory holds.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ...facts.registers import WORD_BYTES
from ..encode.descriptor import LAST_DESCRIPTOR, LAST_DIM, MOST_WORDS
from ..errors import DecodeError
from ..stream import (
    ADDRESS_MASK,
    CFG_OPCODE,
    COUNT_MASK,
    COUNT_SHIFT,
    LAST,
    LINK_MASK,
    NXT_OPCODE,
    OPCODE_MASK,
    OPCODE_SHIFT,
    SUB_OPERATION_SHIFT,
    SYN_OPCODE,
)

Read = Callable[[int], int]
"""The word at a byte address; raises DecodeError where there is none."""
MOST_COMMANDS = 1 << 16
"""More than fit in LRAM; a stream that goes on is no program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command word with its data. Addresses are LRAM bytes, except `register`.

    `kind` is CFG (writes `values` from `register` on), SYN (waits for `mask`) or NXT (goes on at
    `target`); `last` ends the program after it.
    """

    kind: str
    address: int
    last: bool
    register: int = 0
    values: tuple[int, ...] = ()
    mask: int = 0
    sub_operation: int = 0
    target: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RawDim:
    """A dimension as its two words say it; `delta` is signed."""

    count: int
    delta: int
    code: int
    pad: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RawDescriptor:
    """A descriptor as its words say it."""

    address: int
    start: int
    dims: tuple[RawDim, ...]


def reader(memory: Mapping[int, int] | bytes | bytearray | memoryview) -> Read:
    """Reads words out of a mapping from byte addresses, or out of an image that begins at 0."""
    if isinstance(memory, Mapping):
        return lambda address: _from_mapping(memory, address)
    image = memoryview(memory)
    return lambda address: _from_image(image, address)


def _from_mapping(memory: Mapping[int, int], address: int) -> int:
    if address not in memory:
        raise DecodeError(address, "no word is there")
    return memory[address]


def _from_image(image: memoryview, address: int) -> int:
    if address % WORD_BYTES or not 0 <= address <= len(image) - WORD_BYTES:
        raise DecodeError(
            address, f"lies outside the memory of {len(image)} bytes or is no multiple of 4"
        )
    return int.from_bytes(image[address : address + WORD_BYTES], "little")


def read_commands(read: Read, address: int) -> list[Command]:
    """The commands of the program at `address`, links followed. Raises DecodeError."""
    found: list[Command] = []
    links: set[int] = set()
    for command in walk(read, address):
        found.append(command)
        if command.kind == "NXT":
            if command.target in links:
                raise DecodeError(command.address, f"links to {command.target:#x} in a circle")
            links.add(command.target)
    return found


def walk(read: Read, address: int) -> Iterator[Command]:
    """The commands of a program one by one, read when asked for: a program may load its own rest.

    Raises DecodeError, also after MOST_COMMANDS.
    """
    for _ in range(MOST_COMMANDS):
        command = read_command(read, address)
        yield command
        if command.kind == "NXT":
            address = command.target
        elif command.last:
            return
        else:
            address += WORD_BYTES * (1 + len(command.values))
    raise DecodeError(address, f"no end after {MOST_COMMANDS} commands")


def read_command(read: Read, address: int) -> Command:
    """One command. Raises DecodeError."""
    word = read(address)
    opcode = word >> OPCODE_SHIFT & OPCODE_MASK
    last = bool(word & LAST)
    if opcode == CFG_OPCODE:
        count = word >> COUNT_SHIFT & COUNT_MASK
        if not count:
            raise DecodeError(address, f"{word:#010x} is a CFG command of no words")
        values = tuple(read(address + WORD_BYTES * (1 + index)) for index in range(count))
        return Command(
            kind="CFG", address=address, last=last, register=word & ADDRESS_MASK, values=values
        )
    if opcode == SYN_OPCODE:
        return Command(
            kind="SYN",
            address=address,
            last=last,
            mask=word & ADDRESS_MASK,
            sub_operation=word >> SUB_OPERATION_SHIFT & 0xF,
        )
    if opcode == NXT_OPCODE:
        target = word & LINK_MASK
        if target % WORD_BYTES:
            raise DecodeError(address, f"links to {target:#x}, which is no multiple of 4")
        return Command(kind="NXT", address=address, last=last, target=target)
    raise DecodeError(
        address, f"{word:#010x} is no command: operation {opcode}; there are 1 CFG, 6 SYN, 7 NXT"
    )


def read_descriptors(read: Read, address: int) -> list[RawDescriptor]:
    """The descriptors at `address` up to the one marked last. Raises DecodeError."""
    found: list[RawDescriptor] = []
    begin = address
    while True:
        header = read(address)
        descriptor = _read_descriptor(read, address, header)
        found.append(descriptor)
        address += WORD_BYTES * (1 + 2 * len(descriptor.dims))
        if header & LAST_DESCRIPTOR == LAST_DESCRIPTOR:
            return found
        if address - begin > WORD_BYTES * MOST_WORDS:
            raise DecodeError(begin, f"no last descriptor within {MOST_WORDS} words")


def _read_descriptor(read: Read, address: int, header: int) -> RawDescriptor:
    count = header >> 24 & 0xF
    marks = header & (LAST | 7 << OPCODE_SHIFT)
    if not count or marks not in (0, LAST_DESCRIPTOR):
        raise DecodeError(address, f"{header:#010x} is no header of a descriptor")
    dims = []
    for index in range(count):
        at = address + WORD_BYTES * (1 + 2 * index)
        size, stride = read(at), read(at + WORD_BYTES)
        if bool(size & LAST_DIM) != (index == count - 1):
            raise DecodeError(at, f"dimension {index} of {count} has the wrong end mark")
        if stride & 0x0F000000:
            raise DecodeError(at + WORD_BYTES, f"{stride:#010x} is no stride word")
        if not size & 0xFFFFFFF:
            raise DecodeError(at, f"dimension {index} has no steps")
        delta = stride & 0xFFFFFF
        dims.append(
            RawDim(
                count=size & 0xFFFFFFF,
                delta=delta - (1 << 24) if delta >> 23 else delta,
                code=size >> OPCODE_SHIFT & 7,
                pad=stride >> 28,
            )
        )
    return RawDescriptor(address=address, start=header & LINK_MASK, dims=tuple(dims))

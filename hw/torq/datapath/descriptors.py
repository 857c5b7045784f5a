"""Descriptors of memory agents, read from LRAM words (n-dimensional loops, delta coded)."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..faults import Misaligned, TorqFault
from ..lram import Lram

MAX_WORDS = 64
"""Words of one agent's list (the encoder's limit; longer lists are refused)."""
TAG_PLAIN, TAG_PIXEL, TAG_ROW, TAG_COLUMN = 0, 4, 2, 1
TAG_COLUMN_PARITY, TAG_ROW_PARITY = 5, 6
_TAGS = (TAG_PLAIN, TAG_PIXEL, TAG_ROW, TAG_COLUMN, TAG_COLUMN_PARITY, TAG_ROW_PARITY)
_ADDRESS_BITS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One loop of a descriptor: its count, by how much its tick moves the address, its tag."""

    count: int
    delta: int
    tag: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """One nest of loops, innermost first; `address` is where its header is, `base` the start."""

    address: int
    base: int
    loops: tuple[Loop, ...]


def strides(loops: tuple[Loop, ...]) -> tuple[int, ...]:
    """The loops' strides, undoing the delta code."""
    found, moved = [], 0
    for loop in loops:
        found.append(loop.delta + moved)
        moved += (loop.count - 1) * found[-1]
    return tuple(found)


def read_list(lram: Lram, address: int, agent: str) -> tuple[Descriptor, ...]:
    """An agent's descriptors. Raises TorqFault when the words are not a list of descriptors."""
    if address % 4:
        raise Misaligned(
            f"its descriptors start at {address:#x}, which is no multiple of 4",
            agent=agent,
            address=address,
        )
    return tuple(_descriptors(lram, address, agent))


def _descriptors(lram: Lram, start: int, agent: str) -> Iterator[Descriptor]:
    at = start
    while True:
        if at - start >= 4 * MAX_WORDS:
            raise TorqFault(
                f"the list of descriptors at {start:#x} has no last one within {MAX_WORDS} words",
                agent=agent,
                address=start,
            )
        header = lram.word(at, agent)
        count = header >> 24 & 0xF
        last = bool(header >> 31)
        if (header >> 28 & 7) != (2 if last else 0) or not count:
            raise TorqFault(
                f"the word at {at:#x} ({header:#010x}) is no header of a descriptor",
                agent=agent,
                address=at,
            )
        loops = tuple(_loop(lram, at + 4 + 8 * k, agent, k == count - 1) for k in range(count))
        yield Descriptor(address=at, base=header & (1 << _ADDRESS_BITS) - 1, loops=loops)
        if last:
            return
        at += 4 + 8 * count


def _loop(lram: Lram, at: int, agent: str, is_last: bool) -> Loop:
    size, stride = lram.word(at, agent), lram.word(at + 4, agent)
    if bool(size >> 31) != is_last:
        word = "lacks the mark of" if is_last else "is marked as"
        raise TorqFault(
            f"the loop at {at:#x} {word} the last of its descriptor", agent=agent, address=at
        )
    tag, count = size >> 28 & 7, size & (1 << 28) - 1
    if not count or tag not in _TAGS:
        raise TorqFault(
            f"the loop at {at:#x} has count {count} and tag {tag}; a count is at least 1 and a tag "
            f"one of {', '.join(str(known) for known in sorted(_TAGS))}",
            agent=agent,
            address=at,
        )
    if stride >> 28:
        raise TorqFault(
            f"the loop at {at:#x} has padding p={stride >> 28}, which is not modelled",
            agent=agent,
            address=at,
        )
    delta = stride & 0xFFFFFF
    return Loop(count=count, delta=delta - (1 << 24) if delta >> 23 else delta, tag=tag)

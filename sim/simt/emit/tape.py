"""What a taped run leaves behind: blocks that each simdgroup executed, memory it touched.

A tape is the input of timing models. It knows nothing of any machine but what the engine
knows: simdgroups of 32 lanes, lines of 128 bytes, 32 banks of 4 bytes.

The stream of one simdgroup is a sequence of 64-bit words. An event starts with a header:

* bits 0 to 1: its type, `BLOCK` or `ACCESS`;
* bits 2 to 31: the number of the block (in the order of `Function.blocks`), or the ordinal of the
  access among those of its block (`accesses` lists them);
* bits 32 to 63: the mask of the lanes.

A `BLOCK` event stands before the accesses of the block, each of which happens exactly once, in
order. An access without an event is made by the block's lanes, which then are all 32, and is
described in `Tape.known`: what can be known beforehand is not written down. Blocks
end at threadgroup barriers, which are the last instruction of theirs. Lanes may wait elsewhere
while others run, so the next event's block need not be a target of the last one's.

An `ACCESS` header is followed by one word that describes it (the shifts below), and, for memory
that is cached (all but threadgroup memory), by its lines: as many words in ascending order, or one
word, the first, if `CONSECUTIVE` is set. A line's number is the GPU address divided by
`LINE_BYTES`. How many rows of threadgroup memory a known access touches is said as if the first
began a row. Private memory has lines too: equal words of a simdgroup's lanes make one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..analysis.merge_accesses import merge_accesses
from ..analysis.promote import promote
from ..ir.cfg import analyse, split_at_barriers
from ..ir.nodes import Block, Function, Instruction, clone

TAPE = "tape"  # the observer of kernels that leave a tape
PLACES = "tape-places"  # beside it: accesses to threadgroup memory all have an event
TAPED_MARKS = frozenset({"math"})  # what is marked in them when they are imported

BLOCK = 0
ACCESS = 1
TYPE_MASK = 3
NUMBER_SHIFT = 2
NUMBER_MASK = (1 << 30) - 1
LANES_SHIFT = 32

LINE_BYTES = 128
BANKS = 32
BANK_BYTES = 4

# The word behind the header of an access, eight bits each, at most 255.
LINES_SHIFT = 0  # distinct lines of 128 bytes; of threadgroup memory, rows of as many
WORDS_SHIFT = 8  # distinct words of 4 bytes
WAYS_SHIFT = 16  # threadgroup memory: the most distinct words that fall into one bank; else 0
SHARING_SHIFT = 24  # the most lanes that name the same address
BYTES_SHIFT = 32  # bytes that one lane moves
# Of accesses to threadgroup memory that have an event: the first and last row of 128 bytes.
FIRST_ROW_SHIFT = 42
LAST_ROW_SHIFT = 50
CONSECUTIVE = 1 << 40  # the lines follow each other
CACHED = 1 << 41  # any memory but threadgroup memory: lines follow
FIELD_MASK = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Tape:
    """Streams of the simdgroups of some threadgroups of one dispatch.

    Attributes:
        function: what was executed; its blocks and accesses are what the streams number.
        threadgroups: positions (x, y, z) of those taped, in the order of the streams.
        simdgroups: streams per threadgroup; those that a threadgroup at the grid's edge does not
            have are empty.
        words: the streams, one after the other.
        starts: where each stream starts in `words`, and where the last ends;
            `len(threadgroups) * simdgroups + 1` numbers.
        known: words that describe accesses to threadgroup memory that have no event; 0 for those
            that always have one. By block and ordinal.
        known_starts: where each block starts in `known`, and where the last ends.
        grid: threadgroups of the whole dispatch in x, y, z.
        threadgroup_memory: bytes that one threadgroup takes, arguments included.
        truncated: whether streams end early because the tape grew too large.
    """

    function: Function
    threadgroups: tuple[tuple[int, int, int], ...]
    simdgroups: int
    words: NDArray[np.uint64]
    starts: NDArray[np.int64]
    known: NDArray[np.uint64]
    known_starts: NDArray[np.int64]
    grid: tuple[int, int, int]
    threadgroup_memory: int
    truncated: bool = False

    def stream(self, threadgroup: int, simdgroup: int) -> NDArray[np.uint64]:
        """The events of one simdgroup of the `threadgroup`-th taped threadgroup."""
        number = threadgroup * self.simdgroups + simdgroup
        return self.words[self.starts[number] : self.starts[number + 1]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event in plain form; the fields behind `lanes` are those of accesses."""

    type: int
    number: int
    lanes: int
    words: int = 0
    ways: int = 0
    sharing: int = 0
    bytes: int = 0
    cached: bool = False
    lines: tuple[int, ...] = ()
    rows: int = 0  # of threadgroup memory
    first_row: int = 0  # of threadgroup memory, if the event is in the stream
    last_row: int = 0


def events(tape: Tape, threadgroup: int, simdgroup: int) -> Iterator[Event]:
    """The events of one simdgroup in plain form, known accesses included.

    For people and tests; models read the words.
    """
    words = [int(word) for word in tape.stream(threadgroup, simdgroup)]
    at = 0
    while at < len(words):
        number, lanes = words[at] >> NUMBER_SHIFT & NUMBER_MASK, words[at] >> LANES_SHIFT
        yield Event(type=BLOCK, number=number, lanes=lanes)
        at += 1
        first, end = tape.known_starts[number : number + 2]
        for ordinal, known in enumerate(tape.known[first:end]):
            written = at < len(words) and words[at] & TYPE_MASK == ACCESS
            if written and words[at] >> NUMBER_SHIFT & NUMBER_MASK == ordinal:
                event, at = _written(words, at)
                yield event
            else:
                yield _access(ordinal, lanes, int(known), ())


def _written(words: list[int], at: int) -> tuple[Event, int]:
    """The access whose event starts at `at`, and where the next event does."""
    number, lanes = words[at] >> NUMBER_SHIFT & NUMBER_MASK, words[at] >> LANES_SHIFT
    about, at = words[at + 1], at + 2
    count = about >> LINES_SHIFT & FIELD_MASK
    lines: tuple[int, ...] = ()
    if about & CACHED and about & CONSECUTIVE:
        lines, at = tuple(range(words[at], words[at] + count)), at + 1
    elif about & CACHED:
        lines, at = tuple(words[at : at + count]), at + count
    return _access(number, lanes, about, lines), at


def _access(number: int, lanes: int, about: int, lines: tuple[int, ...]) -> Event:
    return Event(
        type=ACCESS,
        number=number,
        lanes=lanes,
        words=about >> WORDS_SHIFT & FIELD_MASK,
        ways=about >> WAYS_SHIFT & FIELD_MASK,
        sharing=about >> SHARING_SHIFT & FIELD_MASK,
        bytes=about >> BYTES_SHIFT & FIELD_MASK,
        cached=bool(about & CACHED),
        lines=lines,
        rows=0 if about & CACHED else about >> LINES_SHIFT & FIELD_MASK,
        first_row=about >> FIRST_ROW_SHIFT & FIELD_MASK,
        last_row=about >> LAST_ROW_SHIFT & FIELD_MASK,
    )


def prepare(function: Function) -> Function:
    """The kernel in the blocks that tapes count; the original stays unchanged."""
    prepared = clone(function)
    promote(prepared)
    merge_accesses(prepared)
    split_at_barriers(prepared)
    analyse(prepared)
    return prepared


def accesses(block: Block) -> list[Instruction]:
    """A block's accesses in the order of their ordinals."""
    return [instruction for instruction in block.body if instruction.operation.accesses_memory]

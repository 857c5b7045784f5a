"""Segments of XRAM: what of them is bytes, and how programs and blocks fill them."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from assay.compiler.torq.hw.attributes import Content
from assay.compiler.torq.hw.executable import SegmentOp
from assay.compiler.torq.hw.nss_program import NssProgramOp, block_words
from assay.compiler.torq.hw.slices import SliceProgramOp
from assay.compiler.torq.hw.symbols import Symbols
from assay.hw.torq.facts.registers import WORD_BYTES
from assay.hw.torq.words.encode.programs import encode, memory_image

from ..format import Segment


def segment_op(
    address: int, size: int, data: bytes | memoryview | None, covered: dict[int, int]
) -> SegmentOp:
    """A segment without the words that programs and blocks have there."""
    if data is None:
        return SegmentOp.made(address, size, None)
    rest = bytearray(data)
    places = range(-address % WORD_BYTES, len(rest) - WORD_BYTES + 1, WORD_BYTES)
    if covered.keys().isdisjoint(range(address + places.start, address + len(rest), WORD_BYTES)):
        places = range(0)
    for at in places:
        if address + at in covered:
            rest[at : at + WORD_BYTES] = bytes(WORD_BYTES)
    trimmed = bytes(rest).rstrip(b"\0")
    return SegmentOp.made(address, size, Content(trimmed, len(trimmed)))


class Memory:
    """Segments that are filled."""

    def __init__(self, ops: Sequence[SegmentOp]) -> None:
        self._places = [(op.place.data.offset, op.size.value.data) for op in ops]
        self._data: list[bytearray | None] = []
        self._sorted = sorted(range(len(ops)), key=lambda number: self._places[number])
        self._starts = [self._places[number][0] for number in self._sorted]
        for op in ops:
            if op.content is None:
                self._data.append(None)
                continue
            given = op.content.data
            if given.data is None:
                raise ValueError(f"the bytes of the segment at {op.place.data} were left out")
            self._data.append(bytearray(given.data.ljust(op.size.value.data, b"\0")))

    def slice_program(self, op: SliceProgramOp, symbols: Symbols) -> None:
        """Puts a program of a slice where it is kept."""
        program = op.program(symbols)
        if program.xram_address is None:
            raise ValueError("a program of an executable says where in XRAM it is kept")
        for at, word in memory_image(encode(program)).items():
            self._put(program.xram_address + at - program.address, word)

    def nss_program(self, op: NssProgramOp, symbols: Symbols) -> None:
        """Puts blocks where they are kept."""
        owned = False
        for block in op.blocks(symbols):
            if not block.tasks:
                continue  # Nothing of it could be read: its words are the segment's.
            if block.place is None:
                raise ValueError("its tasks are not in blocks yet: pass pack makes them")
            words, owned = block_words(block, owned)
            if block.kept is None:
                raise ValueError("a block of an executable says where in XRAM it is kept")
            for index, word in enumerate(words):
                self._put(block.kept + WORD_BYTES * index, word)

    def _put(self, address: int, word: int) -> None:
        number = bisect.bisect_right(self._starts, address) - 1
        if number >= 0:
            begin, size = self._places[self._sorted[number]]
            data = self._data[self._sorted[number]]
            if data is not None and address + WORD_BYTES <= begin + size:
                at = address - begin
                data[at : at + WORD_BYTES] = word.to_bytes(WORD_BYTES, "little")
                return
        raise ValueError(f"no segment has the word at xram[{address:#x}]")

    def segments(self) -> tuple[Segment, ...]:
        """All of them in their order."""
        return tuple(
            Segment(address=begin, size=size, data=None if data is None else bytes(data))
            for (begin, size), data in zip(self._places, self._data, strict=True)
        )

"""Addresses of the recorded device in what kernels read, made those of buffers here.

Programs write `gpuAddress` of buffers, and `gpuResourceID` of textures, into structs that kernels
follow. Where in a struct addresses
lie is known if its members have `[[id(n)]]`; else they may be in any of its words, as in memory
that is only reached through addresses. A word is an address if it lies within a recorded buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.hal.metal.emulated.commands.checking import kernel_of
from assay.hal.recordings import DispatchRecord

from ..launches.scalars import element_of
from .compared import Data
from .memories import Memories

if TYPE_CHECKING:
    from assay.compiler.msl import Argument
    from assay.hal.metal.emulated import MTLComputePipelineState

_WORD = 8
_ADDRESSED = ("buffer", "texture")
Words = NDArray[np.uint64]


class Relocation:
    """The addresses of one dispatch."""

    def __init__(
        self,
        record: DispatchRecord,
        pipeline: MTLComputePipelineState,
        contents: list[Data],
        places: Memories,
    ) -> None:
        self._record = record
        self._contents = contents
        self._arguments = {
            each.index: each for each in kernel_of(pipeline).arguments if _may_hold_addresses(each)
        }
        known = [number for number, each in enumerate(record.memories) if each.address]
        self._there = np.array([record.memories[each].address for each in known], np.uint64)
        self._here = np.array([places[each].address for each in known], np.uint64)
        self._lengths = np.array(
            [0 if record.memories[each].texture else contents[each].nbytes for each in known],
            np.uint64,
        )
        follows = bool(known) and pipeline.follows_pointers
        self._places = self._places_of_words() if follows else []

    def to_here(self) -> None:
        """Let recorded addresses be those of buffers here."""
        for words, places in self._places:
            words[places] = _moved(words[places], self._there, self._here, self._lengths)

    def back(self) -> None:
        """Let addresses of buffers here be the recorded ones."""
        for words, places in self._places:
            words[places] = _moved(words[places], self._here, self._there, self._lengths)

    def inline(self, index: int, data: bytearray) -> bytes:
        """Bytes that are passed by value, with the addresses of buffers here."""
        argument = self._arguments.get(index)
        if argument is not None:
            words = _words_of(np.frombuffer(data, np.uint8))
            places = _pointers(argument, 0, len(words))
            words[places] = _moved(words[places], self._there, self._here, self._lengths)
        return bytes(data)

    def _places_of_words(self) -> list[tuple[Words, NDArray[np.int64]]]:
        """Memories as words, each with where addresses may lie."""
        found = []
        bound = {each.memory: each for each in self._record.bound}
        encoded = {each.memory for each in self._record.encoded}
        for number, data in enumerate(self._contents):
            if number in encoded or self._record.memories[number].texture is not None:
                continue
            words = _words_of(data)
            if number not in bound:
                found.append((words, np.arange(len(words))))
                continue
            argument = self._arguments.get(bound[number].index)
            if argument is not None and bound[number].offset % _WORD == 0:
                found.append((words, _pointers(argument, bound[number].offset, len(words))))
        return found


def _may_hold_addresses(argument: Argument) -> bool:
    """Whether an argument is of structs, or of words."""
    if argument.kind != "buffer":
        return False
    element = element_of(argument.type_name)
    return element is None or element.itemsize == _WORD


def _words_of(data: Data) -> Words:
    """The whole words of memory; writing them writes the memory."""
    return data[: data.nbytes // _WORD * _WORD].view(np.uint64)


def _pointers(argument: Argument, start: int, words: int) -> NDArray[np.int64]:
    """Where, among so many words, structs that begin at byte `start` have addresses."""
    offsets = [each.offset for each in argument.members if each.kind in _ADDRESSED]
    if not argument.members:
        offsets = list(range(0, argument.size // _WORD * _WORD, _WORD))
    count = 1 if argument.is_reference else max(0, words * _WORD - start) // max(argument.size, 1)
    steps = np.arange(count, dtype=np.int64)[:, None] * argument.size
    places = (start + steps + np.array(offsets, np.int64)) // _WORD
    return np.asarray(places[places < words])


def _moved(words: Words, source: Words, target: Words, lengths: Words) -> Words:
    """Words that are addresses within `source`, as those within `target`; others as they are."""
    moved = words.copy()
    for begin, there, length in zip(source, target, lengths, strict=True):
        within = (words >= begin) & (words - begin <= length)
        moved[within] = words[within] - begin + there
    return moved

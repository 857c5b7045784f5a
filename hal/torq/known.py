"""Memory of which some bytes are known: XRAM as a file fills it, LRAM as its copies do."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.hw.torq.words.errors import DecodeError

from .format import Segment

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]
WORD = 4


class KnownLram:
    """LRAM: bytes, and whether each is known."""

    def __init__(self, size: int) -> None:
        self.bytes: Bytes = np.zeros(size, np.uint8)
        self.known: Mask = np.zeros(size, np.bool_)

    def write(self, address: int, data: Bytes, known: Mask) -> None:
        """Puts bytes at an address, as far as they are inside."""
        begin, end = max(address, 0), min(address + len(data), len(self.bytes))
        if begin < end:
            inside = slice(begin - address, end - address)
            self.bytes[begin:end] = data[inside]
            self.known[begin:end] = known[inside]

    def word(self, address: int) -> int:
        """The word at an address. Raises DecodeError when it is outside or not known."""
        if address % WORD or not 0 <= address <= len(self.bytes) - WORD:
            raise DecodeError(address, f"is outside of LRAM ({len(self.bytes):#x} bytes) or odd")
        if not self.known[address : address + WORD].all():
            raise DecodeError(address, "what is there is only known when the program runs")
        return int.from_bytes(self.bytes[address : address + WORD].tobytes(), "little")


class KnownXram:
    """XRAM: the segments of a file; everything else, and what the NPU writes, is not known."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        filled = sorted(
            (segment for segment in segments if segment.data), key=lambda segment: segment.address
        )
        self._starts = [segment.address for segment in filled]
        self._bytes = [np.frombuffer(segment.data or b"", np.uint8) for segment in filled]
        self._known: list[Mask] = [np.ones(len(data), np.bool_) for data in self._bytes]
        self._longest = max((len(data) for data in self._bytes), default=0)

    def read(self, address: int, size: int) -> tuple[Bytes, Mask]:
        """Bytes at an address, and which of them are known."""
        data, known = np.zeros(size, np.uint8), np.zeros(size, np.bool_)
        for index, begin, end in self._overlaps(address, size):
            at = self._starts[index]
            part = slice(begin - address, end - address)
            data[part] = self._bytes[index][begin - at : end - at]
            known[part] = self._known[index][begin - at : end - at]
        return data, known

    def forget(self, address: int, size: int) -> None:
        """Something unknown is written there."""
        for index, begin, end in self._overlaps(address, size):
            at = self._starts[index]
            self._known[index][begin - at : end - at] = False

    def _overlaps(self, address: int, size: int) -> list[tuple[int, int, int]]:
        """(segment, first address, last address + 1) of the parts of segments that are inside."""
        found = []
        index = bisect.bisect_left(self._starts, address + size) - 1
        while index >= 0:
            at = self._starts[index]
            begin, end = max(address, at), min(address + size, at + len(self._bytes[index]))
            if begin < end:
                found.append((index, begin, end))
            elif at + self._longest < address:
                break
            index -= 1
        return found[::-1]

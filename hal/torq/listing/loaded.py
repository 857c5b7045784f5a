"""Which bytes of XRAM are in LRAM, as far as transfers and the host's copies tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.hw.torq.facts.hardware import DEFAULT, HardwareError, hardware
from assay.hw.torq.facts.registers import WORD_BYTES
from assay.hw.torq.words.commands import NssTask
from assay.hw.torq.words.decode.stream import Read
from assay.hw.torq.words.errors import DecodeError

from ..format import Segment
from ..known import KnownXram

_NOT_KNOWN = -1


def _lram(made_for: str) -> int:
    """Bytes of LRAM of the NPU that a program says it is for, or of the usual one."""
    try:
        return hardware(made_for or DEFAULT).lram
    except HardwareError:
        return hardware().lram


class Loaded:
    """LRAM word by word: the XRAM address whose bytes are there.

    `made_for` describes the NPU, as notes do.
    """

    def __init__(self, segments: Sequence[Segment], made_for: str = "") -> None:
        self._xram = KnownXram(segments)
        words = _lram(made_for) // WORD_BYTES
        self._source: NDArray[np.int64] = np.full(words, _NOT_KNOWN, np.int64)

    def copy(self, source: int, target: int, size: int) -> None:
        """Bytes were brought from XRAM to LRAM, all behind one another."""
        if target % WORD_BYTES or source % WORD_BYTES:
            self.forget(target, size)
            return
        begin = target // WORD_BYTES
        count = max(min(size // WORD_BYTES, len(self._source) - begin), 0)
        self._source[begin : begin + count] = source + WORD_BYTES * np.arange(count)

    def forget(self, target: int, size: int) -> None:
        """Something that is not followed was put there."""
        end = -(-(target + size) // WORD_BYTES)
        self._source[target // WORD_BYTES : end] = _NOT_KNOWN

    def task(self, task: NssTask) -> None:
        """What a task loads."""
        if not task.dma_xr_start:
            return
        ndls = {ndl.agent: ndl for ndl in task.ndls}
        strided, linear = ndls["DIXR"], ndls["DILW"]
        size = linear.high[0].count
        if len(strided.high) == 1 and len(linear.low) == 1:
            size *= linear.low[0].count
            self.copy(strided.base_address, linear.base_address, size)
        else:
            self.forget(linear.base_address, size)

    def kept(self, address: int) -> int | None:
        """The XRAM address of the word at an LRAM address; None if it is not known."""
        index = address // WORD_BYTES
        if address % WORD_BYTES or not 0 <= index < len(self._source):
            return None
        found = int(self._source[index])
        return None if found == _NOT_KNOWN else found

    def reader(self, address: int) -> Read:
        """Reads the words that were loaded together with the one at an LRAM address."""
        source = self.kept(address)
        if source is None:
            raise DecodeError(address, "what is there is only known when the program runs")
        begin = address // WORD_BYTES
        rows = self._source[begin:]
        apart = np.flatnonzero(rows - WORD_BYTES * np.arange(len(rows)) != source)
        count = int(apart[0]) if len(apart) else len(rows)
        data, known = self._xram.read(source, WORD_BYTES * count)
        words = data.view(np.uint32).tolist()
        whole: list[bool] = np.all(known.reshape(-1, WORD_BYTES), axis=1).tolist()

        def read(at: int) -> int:
            index, odd = divmod(at - address, WORD_BYTES)
            if odd or not 0 <= index < count or not whole[index]:
                raise DecodeError(at, "no word is there that was loaded with the rest")
            return int(words[index])

        return read

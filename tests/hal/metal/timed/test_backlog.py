"""Tapes that wait for their turn are kept once, and not all in memory."""

from __future__ import annotations

import numpy as np

from assay.hal.metal.timed.backlog import Backlog, Taped
from assay.hw.apple.core.sampled import SampledDispatch
from assay.sim.simt.emit.tape import Tape


def test_tapes_that_wait_are_kept_once_and_on_disk_if_there_are_many() -> None:
    def taped(value: int) -> Taped:
        tape = Tape.__new__(Tape)
        words = np.full(100, value, np.uint64)
        for name in Tape.__slots__:
            object.__setattr__(tape, name, words if name == "words" else None)
        dispatch = SampledDispatch.__new__(SampledDispatch)
        return Taped(dispatch=dispatch, tape=tape, digest=bytes([value]))

    backlog = Backlog(most=1000)
    first = backlog.kept("key", taped(1))
    assert backlog.kept("key", taped(1)) is first
    second = backlog.kept("key", taped(2))
    assert not isinstance(first.tape.words, np.memmap)
    assert isinstance(second.tape.words, np.memmap)
    assert (second.tape.words == 2).all()
    del first
    assert not isinstance(backlog.kept("key", taped(3)).tape.words, np.memmap)

"""Recordings that wait for their turn are kept once, and not all in memory."""

from __future__ import annotations

import numpy as np

from assay.hal.metal.timed.backlog import Backlog, Recorded
from assay.sim.simt.emit.tape import Recording


def test_recordings_that_wait_are_kept_once_and_on_disk_if_there_are_many() -> None:
    def recorded(value: int) -> Recorded:
        recording = Recording.__new__(Recording)
        words = np.full(100, value, np.uint64)
        for name in Recording.__slots__:
            object.__setattr__(recording, name, words if name == "words" else None)
        return Recorded(recording=recording, digest=bytes([value]))

    backlog = Backlog(most=1000)
    first = backlog.kept("key", recorded(1))
    assert backlog.kept("key", recorded(1)) is first
    second = backlog.kept("key", recorded(2))
    assert not isinstance(first.recording.words, np.memmap)
    assert isinstance(second.recording.words, np.memmap)
    assert (second.recording.words == 2).all()
    del first
    assert not isinstance(backlog.kept("key", recorded(3)).recording.words, np.memmap)

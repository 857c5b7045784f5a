"""Damaged Torq executables run or are refused; they never crash, hang or leave the NPU's memory."""

import random
from dataclasses import replace

import numpy as np
import pytest

from assay.hal.status import StatusError
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.follow import follow
from assay.hal.torq.format import Executable, Segment
from tests.support.torq_executables import CODE, multiply

_USED = {CODE: 0x200}
"""Bytes of a segment that are command words or descriptors; of others the first 0x110."""


def damaged(executable: Executable, rng: random.Random) -> Executable:
    segments = []
    for segment in executable.segments:
        data = bytearray(segment.data or b"")
        for _ in range(rng.randint(0, 2)):
            at = rng.randrange(0, _USED.get(segment.address, 0x110), 4)
            old = int.from_bytes(data[at : at + 4], "little")
            new = rng.choice(
                [old ^ 1 << rng.randrange(32), old + rng.choice([-1, 1, 4]), rng.getrandbits(32), 0]
            )
            data[at : at + 4] = (new & 0xFFFFFFFF).to_bytes(4, "little")
        segments.append(Segment(address=segment.address, size=segment.size, data=bytes(data)))
    return replace(executable, segments=tuple(segments))


def run(executable: Executable) -> bool:
    """Whether it ran to its end; anything but a StatusError fails the test."""
    try:
        LoadedExecutable(executable).dispatch([np.zeros(136, np.uint8), np.zeros(64, np.uint8)])
    except StatusError as error:
        assert str(error)
        return False
    return True


def check_many(count: int, seed: int) -> None:
    rng = random.Random(seed)
    ended = 0
    for _ in range(count):
        executable = damaged(multiply(), rng)
        follow(executable, budget=2000)
        ended += run(executable)
    assert 0 < ended < count


def test_hundreds_of_damaged_executables_run_or_are_refused() -> None:
    check_many(250, 1)


@pytest.mark.slow
def test_thousands_of_damaged_executables_run_or_are_refused() -> None:
    check_many(5000, 2)

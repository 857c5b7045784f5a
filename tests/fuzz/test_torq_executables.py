"""Damaged Torq executables run or are refused; they never crash, hang or leave the NPU's memory."""

import random
from dataclasses import replace

import numpy as np
import pytest

from assay.compiler.torq.operators.products import Padding
from assay.compiler.torq.operators.quantisation import Rescale
from assay.compiler.torq.program import ProgramBuilder
from assay.hal.observe import checking
from assay.hal.status import StatusError
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.follow import follow
from assay.hal.torq.format import Executable, Segment
from assay.hal.torq.pack import pack
from assay.hw.torq.check.kinds import NPU_CHECKS, UNREAD
from assay.sim.check import Checker
from tests.compiler.torq import by_hand
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


def convolution() -> Executable:
    """A convolution and a limit, with what their compiler knows of them."""
    builder = ProgramBuilder.new()
    x, y, z = (builder.lram.planes(name, "int8", (1, 4, 8, 8)) for name in "xyz")
    weights, bias = np.ones((4, 4, 3, 3), np.int8), np.zeros(4, np.int32)
    rescale = Rescale(multipliers=(1 << 30,), shifts=(34,))
    padding = Padding(top=1, bottom=1, left=1, right=1)
    builder.load("x", x)
    builder.run(by_hand.conv2d(builder.lram, x, weights, bias, y, padding=padding, rescale=rescale))
    builder.run(by_hand.clamp(y, z, -20, 50))
    builder.store("z", z)
    return pack(builder.build(), "convolution")


def flipped(executable: Executable, rng: random.Random) -> Executable:
    """With one to three wrong bits anywhere."""
    segments = [bytearray(segment.data or b"") for segment in executable.segments]
    for _ in range(rng.randint(1, 3)):
        data = rng.choice(segments)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return replace(
        executable,
        segments=tuple(
            replace(segment, data=bytes(data))
            for segment, data in zip(executable.segments, segments, strict=True)
        ),
    )


def watch_many(count: int, seed: int) -> None:
    rng = random.Random(seed)
    found = 0
    for _ in range(count):
        executable = flipped(convolution(), rng)
        checker = Checker((*NPU_CHECKS, UNREAD))
        try:
            with checking(checker):
                LoadedExecutable(executable).dispatch([np.zeros(256, np.uint8)] * 2)
        except StatusError as error:
            assert str(error) and checker.findings
        found += bool(checker.findings)
    assert 0 < found < count


def test_damaged_executables_are_checked_to_the_end_or_refused() -> None:
    watch_many(60, 3)


@pytest.mark.slow
def test_thousands_of_damaged_executables_are_checked_to_the_end_or_refused() -> None:
    watch_many(3000, 4)

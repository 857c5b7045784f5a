"""Bitcode is read in another process, which may not survive it."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import sys
from collections.abc import Iterator

import pytest

from assay.compiler.air.container import AirFormatError
from assay.compiler.air.reading import Reader
from tests.support.metallib import Buffer, bitcode, kernel

GOOD = bitcode(
    kernel("k", "  store i32 1, ptr addrspace(1) %b0", (Buffer(name="x", element="i32"),))
)


@pytest.fixture
def reader() -> Iterator[Reader]:
    with contextlib.closing(Reader()) as reader:
        yield reader


def test_a_module_becomes_text_and_what_is_none_a_reason(reader: Reader) -> None:
    assert "define void @k(ptr addrspace(1) %b0" in reader.text(GOOD)
    with pytest.raises(AirFormatError, match="its bitcode does not load"):
        reader.text(b"BC\xc0\xde and no more")
    assert "@k" in reader.text(GOOD)


def test_a_module_that_loads_and_cannot_be_is_refused(reader: Reader) -> None:
    body = (
        "  %v = phi i32 [ 1, %nowhere ]\n  store i32 %v, ptr addrspace(1) %b0\n  ret void\nnowhere:"
    )
    broken = bitcode(kernel("k", body, (Buffer(name="x", element="i32"),)))
    with pytest.raises(AirFormatError, match="PHINode should have one entry for each predecessor"):
        reader.text(broken)
    assert "@k" in reader.text(GOOD)


def test_a_process_that_has_gone_is_replaced(reader: Reader) -> None:
    reader.text(GOOD)
    first = reader._process
    assert first is not None
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert "@k" in reader.text(GOOD)
    assert reader._process is not first


@pytest.mark.skipif(sys.platform != "linux", reason="limits of other processes are Linux's")
def test_a_module_has_its_time_of_the_processor_and_not_of_the_clock(reader: Reader) -> None:
    """On a busy machine sound modules waited for longer than their limit."""
    for _ in range(2):
        reader.text(GOOD)
        assert reader._process is not None
        most, _ = resource.prlimit(reader._process.pid, resource.RLIMIT_CPU)
        assert 30 <= most <= 60


def test_damaged_bitcode_is_refused_or_read_and_this_process_lives(reader: Reader) -> None:
    random_ = random.Random(11)
    refused = 0
    for _ in range(100):
        damaged = bytearray(GOOD)
        damaged[random_.randrange(20, len(GOOD))] ^= 1 << random_.randrange(8)
        try:
            reader.text(bytes(damaged))
        except AirFormatError:
            refused += 1
    assert refused > 20
    assert "@k" in reader.text(GOOD)

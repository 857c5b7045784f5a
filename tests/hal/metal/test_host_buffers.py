"""Buffers over memory that the host program already has."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from assay.hal.metal.emulated import MTLCreateSystemDefaultDevice
from assay.hal.metal.emulated.host import buffer_over, bytes_at


def test_a_buffer_is_the_memory_itself_at_any_address_and_length() -> None:
    device = MTLCreateSystemDefaultDevice()
    data = np.arange(14, dtype=np.uint8)[1:]
    before = device.currentAllocatedSize()
    buffer = buffer_over(device, data, "mine")
    assert (buffer.length(), buffer.label()) == (13, "mine")
    assert device.currentAllocatedSize() == before
    buffer.contents().as_buffer(13)[2:4] = b"ab"
    assert bytes(data[:5]) == b"\x01\x02ab\x05"


def test_a_buffer_keeps_the_memory_alive() -> None:
    data = np.zeros(64, np.uint8)
    gone = weakref.ref(data)
    buffer = buffer_over(MTLCreateSystemDefaultDevice(), data, "mine")
    del data
    gc.collect()
    assert gone() is not None
    del buffer
    gc.collect()
    assert gone() is None


def test_a_buffer_of_no_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="the buffer 'mine' would have no bytes"):
        buffer_over(MTLCreateSystemDefaultDevice(), np.zeros(0, np.uint8), "mine")


def test_memory_is_found_by_its_address() -> None:
    data = np.arange(8, dtype=np.uint8)
    view = bytes_at(data.ctypes.data + 2, 4)
    view[0] = 99
    assert data.tolist() == [0, 1, 99, 3, 4, 5, 6, 7]

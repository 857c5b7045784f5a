"""Buffers in memory that the host program already has: arrays and tensors, used where they lie."""

import ctypes

import numpy as np

from .constants import MTLResourceStorageModeShared
from .device import MTLDevice
from .resources.buffer import MTLBuffer
from .resources.memory import Bytes


def buffer_over(device: MTLDevice, data: Bytes, label: str) -> MTLBuffer:
    """A shared buffer whose contents are `data` itself, at least one byte. Not part of Metal.

    Unlike newBufferWithBytesNoCopy_length_options_deallocator_ it takes any address and length, and
    does not count as memory of the device. Kernels can write to it even if `data` is read-only for
    the host, as a GPU can. The buffer keeps `data` alive.
    """
    if not data.nbytes:
        raise ValueError(f"the buffer {label!r} would have no bytes")
    where = "buffer_over"
    allocation = device.memory.adopt(where, _as_bytes(data), label, counted=False)
    buffer = MTLBuffer(device, allocation, MTLResourceStorageModeShared)
    buffer.setLabel_(label)
    return buffer


def bytes_at(address: int, length: int) -> Bytes:
    """The memory of this process at `address`, which the caller keeps alive."""
    memory = (ctypes.c_uint8 * length).from_address(address)
    return np.frombuffer(memoryview(memory), np.uint8)


def _as_bytes(data: Bytes) -> Bytes:
    """One dimension of bytes over the same memory."""
    flat: Bytes = data.reshape(-1).view(np.uint8)
    return flat

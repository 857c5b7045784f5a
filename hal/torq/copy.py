"""The host's strided copies between XRAM and LRAM, as one run of an executable makes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.hw.torq.device.device import Device

from ..status import StatusError
from .check import extent
from .format import BufferType, HostCopy

_LARGEST = 1 << 28
Bytes = NDArray[np.uint8]


def host_copy(
    device: Device, copy: HostCopy, constants: Sequence[int], buffers: Sequence[Bytes], where: str
) -> None:
    """Copies. `constants` and `buffers` are the dispatch's, of which some copies read an index.

    Raises StatusError, and TorqFault for addresses outside of a memory.
    """
    total = copy.element_bytes
    for count in copy.shape:
        total *= count
    if total > _LARGEST:
        raise StatusError(
            "RESOURCE_EXHAUSTED", f"{where}: copies {total} bytes; {_LARGEST} at most"
        )
    if not total:
        return
    device.host("copy", _cycles(device, copy, total))
    moved = _moved(copy, constants, buffers, where)
    begin = copy.source_address + (0 if copy.direction else moved)
    end = copy.target_address + (moved if copy.direction else 0)
    spans = [
        extent(copy.shape, strides, copy.element_bytes)
        for strides in (copy.source_strides, copy.target_strides)
    ]
    source = _window(device, copy.source, begin, spans[0], where)
    target = _window(device, copy.target, end, spans[1], where)
    if device.watcher is not None:
        moves = (
            _pieces(copy.source, begin, copy, copy.source_strides),
            _pieces(copy.target, end, copy, copy.target_strides),
        )
        device.watcher.copy("HOST", ("copy", "copy"), 0, moves)
        device.watcher.copied(moves)
    elements = _strided(source, copy.shape, copy.source_strides, copy.element_bytes).copy()
    _strided(target, copy.shape, copy.target_strides, copy.element_bytes)[...] = elements


def _cycles(device: Device, copy: HostCopy, total: int) -> int:
    if copy.source == copy.target == BufferType.XRAM:
        elements = total // copy.element_bytes
        return device.machine.host_xram_cycles(elements, len(copy.shape), copy.element_bytes)
    return device.machine.host_window_cycles(total)


def _pieces(
    place: BufferType, address: int, copy: HostCopy, strides: Sequence[int]
) -> list[tuple[str, int, int]]:
    """(memory, start, stop) of what a side touches, in order; neighbouring elements as one."""
    starts = np.array([address], np.int64)
    size = copy.element_bytes
    for count, stride in reversed(list(zip(copy.shape, strides, strict=True))):
        if stride == size and len(starts) == 1:
            size *= count
        else:
            steps = np.arange(count, dtype=np.int64) * stride
            starts = (steps[:, None] + starts[None, :]).ravel()
    return [(place.name, int(start), int(start) + size) for start in starts]


def _moved(copy: HostCopy, constants: Sequence[int], buffers: Sequence[Bytes], where: str) -> int:
    """How far a run-time index moves the copy, in bytes."""
    if copy.constant_index >= 0 and copy.binding_index >= 0:
        raise StatusError("INVALID_ARGUMENT", f"{where}: moved by a constant and by a buffer")
    if copy.constant_index >= 0:
        if copy.constant_index >= len(constants):
            raise StatusError(
                "INVALID_ARGUMENT",
                f"{where}: needs constant {copy.constant_index}, and {len(constants)} were given",
            )
        return constants[copy.constant_index] * copy.index_bytes
    if copy.binding_index < 0:
        return 0
    if copy.binding_index >= len(buffers) or len(buffers[copy.binding_index]) < 4:
        raise StatusError(
            "INVALID_ARGUMENT",
            f"{where}: needs an index of 4 bytes in buffer {copy.binding_index}; there is none",
        )
    index = int(buffers[copy.binding_index][:4].view(np.int32)[0])
    return index * copy.index_bytes


def _window(device: Device, place: BufferType, address: int, size: int, where: str) -> Bytes:
    """The bytes of a memory themselves. Raises StatusError or TorqFault."""
    if place == BufferType.XRAM:
        return device.xram.window(address, size, "HOST")
    if place == BufferType.LRAM:
        device.lram.check(address, size, "HOST")
        return device.lram.bytes[address : address + size]
    raise StatusError(
        "UNIMPLEMENTED", f"{where}: the host copies between XRAM and LRAM, not {place.name}"
    )


def _strided(
    window: Bytes, shape: tuple[int, ...], strides: tuple[int, ...], element_bytes: int
) -> Bytes:
    """The elements inside a window that holds all of them: `extent` bytes."""
    return np.lib.stride_tricks.as_strided(
        window, shape=(*shape, element_bytes), strides=(*strides, 1)
    )

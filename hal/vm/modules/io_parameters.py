"""The `io_parameters` module: programs loading parameters from files into device memory."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

from ...buffer import Buffer, File
from ...device import BufferRef, Device
from ...semaphore import Fence
from ...status import StatusError, invalid_argument, out_of_range
from ..parameters import ParameterIndex
from ..values import VmBuffer, VmList, optional, require
from .registry import NativeModule, export

_SPAN = struct.Struct("<QQQ")  # parameter offset, buffer offset, length
_STRING = struct.Struct("<II")  # offset, length


class ParametersModule(NativeModule):
    """Parameters by scope; each scope is one index of keys."""

    name = "io_parameters"

    def __init__(self, scopes: Mapping[str, ParameterIndex]) -> None:
        self._scopes = dict(scopes)

    @export("load", "0rIrrrIiirrr_r")
    def _load(
        self,
        device: Any,
        _: int,
        wait: Any,
        signal: Any,
        scope: Any,
        __: int,
        memory_type: int,
        usage: int,
        key_table: Any,
        key_data: Any,
        spans: Any,
    ) -> VmList:
        target = require(Device, device)  # type: ignore[type-abstract]
        index = self._index(scope)
        before = optional(Fence, wait)
        loaded = VmList("!hal.buffer")
        for key, offset, _buffer_offset, length in _requests(key_table, key_data, spans):
            source = index.lookup(key).span(offset, length)
            buffer = target.queue_alloca(before, None, memory_type, usage, length)
            _read(target, before, source, BufferRef(buffer, 0, 0, length))
            loaded.items.append(buffer)
        _finish(target, before, optional(Fence, signal))
        return loaded

    @export("gather", "0rIrrrrrrr_v")
    def _gather(
        self,
        device: Any,
        _: int,
        wait: Any,
        signal: Any,
        scope: Any,
        buffer: Any,
        key_table: Any,
        key_data: Any,
        spans: Any,
    ) -> None:
        target = require(Device, device)  # type: ignore[type-abstract]
        index = self._index(scope)
        before = optional(Fence, wait)
        destination = require(Buffer, buffer)
        for key, offset, buffer_offset, length in _requests(key_table, key_data, spans):
            source = index.lookup(key).span(offset, length)
            _read(target, before, source, BufferRef(destination, 0, buffer_offset, length))
        _finish(target, before, optional(Fence, signal))

    @export("scatter", "0rIrrrrrrr_v")
    def _scatter(self, *_: Any) -> None:
        raise StatusError(
            "PERMISSION_DENIED",
            "parameter files are opened for reading only; a program cannot write parameters",
        )

    def _index(self, scope: Any) -> ParameterIndex:
        buffer = optional(VmBuffer, scope)
        name = buffer.text() if buffer is not None else ""
        index = self._scopes.get(name)
        if index is None:
            known = ", ".join(f"`{scope}`" for scope in sorted(self._scopes)) or "none"
            raise StatusError(
                "NOT_FOUND",
                f"no provider registered that can serve parameters with scope `{name}`; scopes "
                f"given: {known} (give a file with --parameters={name or 'SCOPE'}=FILE.irpa)",
            )
        return index


def _read(device: Device, wait: Fence | None, source: memoryview, target: BufferRef) -> None:
    fence = Fence(((device.create_semaphore(0), 1),))
    device.queue_read(wait, fence, File(source), 0, target)
    # One part after the other: a program's parameters may be larger than memory twice over.
    fence.wait()


def _finish(device: Device, wait: Fence | None, signal: Fence | None) -> None:
    device.queue_execute(wait, signal, None)


def _requests(key_table: Any, key_data: Any, spans: Any) -> Iterator[tuple[str, int, int, int]]:
    """(key, parameter offset, buffer offset, length) of each part asked for."""
    span_bytes = require(VmBuffer, spans).data
    names, texts = require(VmBuffer, key_table).data, require(VmBuffer, key_data).data
    if len(span_bytes) % _SPAN.size:
        raise invalid_argument(
            "buffer span storage must be aligned to iree_io_parameters_span_entry_t"
        )
    count = len(span_bytes) // _SPAN.size
    if len(names) < count * _STRING.size:
        raise invalid_argument(
            "key string table must have enough data to service all defined spans"
        )
    for number in range(count):
        start, size = _STRING.unpack_from(names, number * _STRING.size)
        if start + size > len(texts):
            raise out_of_range(
                "attempted to access an address outside of the valid buffer range "
                f"(offset={start}, length={size}, end(inc)={start + size - 1}, "
                f"data_capacity={len(texts)})"
            )
        key = str(texts[start : start + size], "utf-8", "replace")
        yield (key, *_SPAN.unpack_from(span_bytes, number * _SPAN.size))

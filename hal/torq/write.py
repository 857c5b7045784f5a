"""Writes Torq executables: in the current schema, or the 1.x form if they were read from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import flatbuffers

from assay.hw.torq.notes import NO_NOTES

from .format import (
    ACTIONS,
    IDENTIFIER,
    NOTES,
    Action,
    Alloc,
    Binding,
    BufferInfo,
    Dealloc,
    Executable,
    HostCopy,
    Segment,
    StartHost,
    StartNss,
    WaitHost,
    WaitNss,
)
from .notes_json import dumps

_ALIGNMENT = 16
"""Of segment data inside the file."""


def write_executable(executable: Executable) -> bytes:
    """The bytes of an executable; `read_executable` gives it back."""
    builder = flatbuffers.Builder(1024)
    code = _tables(builder, executable.segments, partial(_segment, old=executable.old_segments))
    bindings = _tables(builder, executable.bindings, _binding)
    actions = _tables(builder, executable.actions, _action)
    buffers = _tables(builder, executable.buffers, _buffer_info) if executable.buffers else 0
    host_code = 0 if executable.host_code is None else _bytes(builder, executable.host_code)
    name = builder.CreateString(executable.name)
    notes = 0 if executable.notes == NO_NOTES else _bytes(builder, dumps(executable.notes))
    fields = [name, code, bindings, actions, buffers, host_code]
    builder.StartObject(9)
    for slot, offset in enumerate(fields):
        if offset:
            builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
    builder.PrependUint32Slot(6, executable.runtime_version, 0)
    builder.PrependUint32Slot(7, executable.hw_id, 0)
    if notes:
        builder.PrependUOffsetTRelativeSlot(NOTES, notes, 0)
    builder.Finish(builder.EndObject(), file_identifier=IDENTIFIER)
    return bytes(builder.Output())


def _tables(builder: Any, items: Sequence[Any], write: Callable[[Any, Any], int]) -> int:
    offsets = [write(builder, item) for item in items]
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _bytes(builder: Any, data: bytes | memoryview) -> int:
    builder.StartVector(1, len(data), _ALIGNMENT)
    head = builder.Head() - len(data)
    builder.head = head
    builder.Bytes[head : head + len(data)] = bytes(data)
    return int(builder.EndVector())


def _numbers(builder: Any, items: Sequence[int], size: int) -> int:
    """A vector of numbers of `size` bytes; 0, no vector, for none."""
    if not items:
        return 0
    builder.StartVector(size, len(items), size)
    for item in reversed(items):
        (builder.PrependUint64 if size == 8 else builder.PrependUint32)(item)
    return int(builder.EndVector())


def _object(builder: Any, slots: Sequence[tuple[str, int, int]]) -> int:
    """A table from (kind, value, default) per slot; a `table` is an offset, absent when 0."""
    builder.StartObject(len(slots))
    for slot, (kind, value, default) in enumerate(slots):
        if kind == "table":
            if value:
                builder.PrependUOffsetTRelativeSlot(slot, value, 0)
        else:
            getattr(builder, f"Prepend{kind}Slot")(slot, value, default)
    return int(builder.EndObject())


def _segment(builder: Any, segment: Segment, *, old: bool) -> int:
    data = 0 if segment.data is None else _bytes(builder, segment.data)
    slots = [("Uint32", segment.address, 0), ("Uint32", segment.size, 0), ("table", data, 0)]
    if old:
        del slots[1]
    return _object(builder, slots)


def _binding(builder: Any, binding: Binding) -> int:
    numbers = (binding.number, binding.address, binding.offset, binding.size)
    flags = (binding.read_only, binding.write_only)
    slots = [("Uint32", value, 0) for value in numbers] + [("Bool", flag, 0) for flag in flags]
    return _object(builder, slots)


def _action(builder: Any, action: Action) -> int:
    if isinstance(action, HostCopy):
        params = _host_copy(builder, action)
    elif isinstance(action, StartHost):
        params = _start_host(builder, action)
    elif isinstance(action, WaitNss | WaitHost):
        params = _object(builder, [("table", _numbers(builder, action.returned_buffers, 8), 0)])
    else:
        params = _object(builder, _plain_slots(action))
    return _object(builder, [("Uint8", ACTIONS.index(type(action)) + 1, 0), ("table", params, 0)])


def _plain_slots(action: StartNss | Alloc | Dealloc) -> list[tuple[str, int, int]]:
    if isinstance(action, StartNss):
        flags = (action.slice0, action.slice1, action.dma_in, action.dma_out)
        return [("Uint32", action.address, 0), *(("Bool", flag, 0) for flag in flags)]
    if isinstance(action, Dealloc):
        return [("Uint64", action.number, 0)]
    numbers = (action.number, action.address, action.size)
    return [*(("Uint64", value, 0) for value in numbers), ("Uint32", action.buffer_type, 0)]


def _host_copy(builder: Any, copy: HostCopy) -> int:
    vectors = [
        _numbers(builder, items, 4)
        for items in (copy.source_strides, copy.target_strides, copy.shape)
    ]
    places = (copy.source, copy.target, copy.source_address, copy.target_address)
    slots = [("Uint32", int(value), 0) for value in places]
    slots += [("table", vector, 0) for vector in vectors]
    slots += [
        ("Uint32", copy.element_bytes, 0),
        ("Int32", copy.constant_index, -1),
        ("Int32", copy.binding_index, -1),
        ("Uint32", copy.index_bytes, 1),
        ("Int32", copy.direction, 0),
    ]
    return _object(builder, slots)


def _start_host(builder: Any, start: StartHost) -> int:
    vectors = [
        _numbers(builder, items, size)
        for items, size in (
            (start.arguments, 8),
            (start.sizes, 8),
            (start.strides, 4),
            (start.shapes, 4),
            (start.ranks, 4),
        )
    ]
    name = builder.CreateString(start.function)
    return _object(builder, [("table", offset, 0) for offset in (name, *vectors)])


def _buffer_info(builder: Any, info: BufferInfo) -> int:
    shape, strides = _numbers(builder, info.shape, 4), _numbers(builder, info.strides, 4)
    lifetime = (info.allocated, info.deallocated, info.last_use)
    slots = [("Uint64", info.number, 0), *(("Int64", value, 0) for value in lifetime)]
    slots += [("Uint32", int(v), 0) for v in (info.buffer_type, info.address, info.size)]
    slots += [("table", shape, 0), ("Uint32", int(info.element_type), 0), ("table", strides, 0)]
    return _object(builder, slots)

"""Writes Torq executables: in the current schema, or the 1.x form if they were read from it."""

from __future__ import annotations

from functools import partial
from typing import Any

import flatbuffers

from assay.hw.torq.notes import NO_NOTES

from ..flatbuffer_write import data_of, numbers, table, tables
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


def write_executable(executable: Executable) -> bytes:
    """The bytes of an executable; `read_executable` gives it back."""
    builder = flatbuffers.Builder(1024)
    code = tables(builder, executable.segments, partial(_segment, old=executable.old_segments))
    bindings = tables(builder, executable.bindings, _binding)
    actions = tables(builder, executable.actions, _action)
    buffers = tables(builder, executable.buffers, _buffer_info) if executable.buffers else 0
    host_code = 0 if executable.host_code is None else data_of(builder, executable.host_code)
    name = builder.CreateString(executable.name)
    notes = 0 if executable.notes == NO_NOTES else data_of(builder, dumps(executable.notes))
    offsets = (name, code, bindings, actions, buffers, host_code)
    slots = [("table", offset, 0) for offset in offsets]
    slots += [("Uint32", executable.runtime_version, 0), ("Uint32", executable.hw_id, 0)]
    assert len(slots) == NOTES
    builder.Finish(table(builder, [*slots, ("table", notes, 0)]), file_identifier=IDENTIFIER)
    return bytes(builder.Output())


def _segment(builder: Any, segment: Segment, *, old: bool) -> int:
    data = 0 if segment.data is None else data_of(builder, segment.data)
    slots = [("Uint32", segment.address, 0), ("Uint32", segment.size, 0), ("table", data, 0)]
    if old:
        del slots[1]
    return table(builder, slots)


def _binding(builder: Any, binding: Binding) -> int:
    places = (binding.number, binding.address, binding.offset, binding.size)
    flags = (binding.read_only, binding.write_only)
    slots = [("Uint32", value, 0) for value in places] + [("Bool", flag, 0) for flag in flags]
    return table(builder, slots)


def _action(builder: Any, action: Action) -> int:
    if isinstance(action, HostCopy):
        params = _host_copy(builder, action)
    elif isinstance(action, StartHost):
        params = _start_host(builder, action)
    elif isinstance(action, WaitNss | WaitHost):
        params = table(builder, [("table", numbers(builder, action.returned_buffers, 8), 0)])
    else:
        params = table(builder, _plain_slots(action))
    return table(builder, [("Uint8", ACTIONS.index(type(action)) + 1, 0), ("table", params, 0)])


def _plain_slots(action: StartNss | Alloc | Dealloc) -> list[tuple[str, int, int]]:
    if isinstance(action, StartNss):
        flags = (action.slice0, action.slice1, action.dma_in, action.dma_out)
        return [("Uint32", action.address, 0), *(("Bool", flag, 0) for flag in flags)]
    if isinstance(action, Dealloc):
        return [("Uint64", action.number, 0)]
    places = (action.number, action.address, action.size)
    return [*(("Uint64", value, 0) for value in places), ("Uint32", action.buffer_type, 0)]


def _host_copy(builder: Any, copy: HostCopy) -> int:
    vectors = [
        numbers(builder, items, 4)
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
    return table(builder, slots)


def _start_host(builder: Any, start: StartHost) -> int:
    vectors = [
        numbers(builder, items, size)
        for items, size in (
            (start.arguments, 8),
            (start.sizes, 8),
            (start.strides, 4),
            (start.shapes, 4),
            (start.ranks, 4),
        )
    ]
    name = builder.CreateString(start.function)
    return table(builder, [("table", offset, 0) for offset in (name, *vectors)])


def _buffer_info(builder: Any, info: BufferInfo) -> int:
    shape, strides = numbers(builder, info.shape, 4), numbers(builder, info.strides, 4)
    lifetime = (info.allocated, info.deallocated, info.last_use)
    slots = [("Uint64", info.number, 0), *(("Int64", value, 0) for value in lifetime)]
    slots += [("Uint32", int(v), 0) for v in (info.buffer_type, info.address, info.size)]
    slots += [("table", shape, 0), ("Uint32", int(info.element_type), 0), ("table", strides, 0)]
    return table(builder, slots)

"""Reads Torq executables, which nobody has checked before: every offset, count and value is.

The current schema and that of the 1.x compilers, whose segments are {address, data} only.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from assay.hw.torq.notes import NO_NOTES

from ..flatbuffer import FlatBuffer, Table
from .format import (
    IDENTIFIER,
    NOTES,
    Action,
    Alloc,
    Binding,
    BufferInfo,
    BufferType,
    Dealloc,
    ElementType,
    Executable,
    HostCopy,
    Segment,
    StartHost,
    StartNss,
    WaitHost,
    WaitNss,
)
from .notes_json import loads

_CODE, _BINDINGS, _ACTIONS = 1, 2, 3
_SMALLEST = 8


def read_executable(data: bytes | memoryview, name: str = "executable") -> Executable:
    """Parses an executable; `name` is what messages call it.

    Raises StatusError for damage. What it says is checked by `check.check`.
    """
    view = memoryview(data).cast("B").toreadonly()
    buffer = FlatBuffer(view, name)
    if len(view) < _SMALLEST:
        raise buffer.damaged(f"only {len(view)} bytes")
    return _Reader(buffer).executable(buffer.root(IDENTIFIER))


class _Reader:
    """Reads one file; `budget` bounds what vectors that are named many times add up to."""

    def __init__(self, buffer: FlatBuffer) -> None:
        self.buffer = buffer
        self.budget = 4 * len(buffer.data) + 64

    def executable(self, root: Table) -> Executable:
        for slot, what in ((_CODE, "code"), (_BINDINGS, "bindings"), (_ACTIONS, "actions")):
            if not root.field(slot):
                raise self.buffer.damaged(f"the executable has no {what}")
        version = root.number(6, "I")
        old = version == 0 and self._old_segments(root)
        notes = root.bytes(NOTES)
        return Executable(
            name=root.text(0) or "",
            segments=root.tables(_CODE, self._old_segment if old else self._segment),
            bindings=root.tables(_BINDINGS, _binding),
            actions=root.tables(_ACTIONS, self._action),
            buffers=root.tables(4, self._buffer_info),
            host_code=root.bytes(5),
            runtime_version=version,
            hw_id=root.number(7, "I"),
            old_segments=old,
            notes=NO_NOTES if notes is None else loads(notes, self.buffer.name),
        )

    def _old_segments(self, root: Table) -> bool:
        """Whether segments are of the old form: none has a third field, some has a second."""
        fields = root.tables(_CODE, lambda table: (table.field(2), table.field(1)))
        return any(second for _, second in fields) and not any(third for third, _ in fields)

    def _segment(self, table: Table) -> Segment:
        size, data = table.number(1, "I"), table.bytes(2)
        if data is not None and len(data) != size:
            raise self.buffer.damaged(
                f"the segment at XRAM {table.number(0, 'I'):#x} says {size} bytes and has "
                f"{len(data)}"
            )
        return Segment(address=table.number(0, "I"), size=size, data=data)

    def _old_segment(self, table: Table) -> Segment:
        data = table.bytes(1)
        found = memoryview(b"") if data is None else data
        return Segment(address=table.number(0, "I"), size=len(found), data=found)

    def _action(self, table: Table) -> Action:
        kind, params = table.number(0, "B"), table.table(1)
        if params is None:
            raise self.buffer.damaged("an action has no parameters")
        readers: Mapping[int, Callable[[Table], Action]] = {
            1: self._host_copy,
            2: _start_nss,
            3: self._wait_nss,
            4: self._start_host,
            5: self._wait_host,
            6: self._alloc,
            7: _dealloc,
        }
        if kind not in readers:
            raise self.buffer.damaged(f"action kind {kind}; there are 1 to {len(readers)}")
        return readers[kind](params)

    def _host_copy(self, table: Table) -> HostCopy:
        return HostCopy(
            source=self._buffer_type(table, 0),
            target=self._buffer_type(table, 1),
            source_address=table.number(2, "I"),
            target_address=table.number(3, "I"),
            source_strides=self._numbers(table, 4, "I"),
            target_strides=self._numbers(table, 5, "I"),
            shape=self._numbers(table, 6, "I"),
            element_bytes=table.number(7, "I"),
            constant_index=table.number(8, "i", -1),
            binding_index=table.number(9, "i", -1),
            index_bytes=table.number(10, "I", 1),
            direction=table.number(11, "i"),
        )

    def _wait_nss(self, table: Table) -> WaitNss:
        return WaitNss(returned_buffers=self._numbers(table, 0, "Q"))

    def _wait_host(self, table: Table) -> WaitHost:
        return WaitHost(returned_buffers=self._numbers(table, 0, "Q"))

    def _start_host(self, table: Table) -> StartHost:
        return StartHost(
            function=table.text(0) or "",
            arguments=self._numbers(table, 1, "Q"),
            sizes=self._numbers(table, 2, "Q"),
            strides=self._numbers(table, 3, "I"),
            shapes=self._numbers(table, 4, "I"),
            ranks=self._numbers(table, 5, "I"),
        )

    def _alloc(self, table: Table) -> Alloc:
        return Alloc(
            number=table.number(0, "Q"),
            address=table.number(1, "Q"),
            size=table.number(2, "Q"),
            buffer_type=self._buffer_type(table, 3),
        )

    def _buffer_info(self, table: Table) -> BufferInfo:
        element = table.number(8, "I")
        if element >= len(ElementType):
            raise self.buffer.damaged(f"element type {element}; 0 to {len(ElementType) - 1}")
        return BufferInfo(
            number=table.number(0, "Q"),
            allocated=table.number(1, "q"),
            deallocated=table.number(2, "q"),
            last_use=table.number(3, "q"),
            buffer_type=self._buffer_type(table, 4),
            address=table.number(5, "I"),
            size=table.number(6, "I"),
            shape=self._numbers(table, 7, "I"),
            element_type=ElementType(element),
            strides=self._numbers(table, 9, "I"),
        )

    def _buffer_type(self, table: Table, slot: int) -> BufferType:
        number = table.number(slot, "I")
        if number >= len(BufferType):
            raise self.buffer.damaged(f"buffer type {number}; 0 to {len(BufferType) - 1}")
        return BufferType(number)

    def _numbers(self, table: Table, slot: int, code: str) -> tuple[int, ...]:
        size = struct.calcsize("<" + code)
        self.budget -= size * table.vector(slot, size)[1]
        if self.budget < 0:
            raise self.buffer.damaged("its vectors refer to the same bytes again and again")
        return table.numbers(slot, code)


def _binding(table: Table) -> Binding:
    return Binding(
        number=table.number(0, "I"),
        address=table.number(1, "I"),
        offset=table.number(2, "I"),
        size=table.number(3, "I"),
        read_only=bool(table.number(4, "B")),
        write_only=bool(table.number(5, "B")),
    )


def _start_nss(table: Table) -> StartNss:
    return StartNss(
        address=table.number(0, "I"),
        slice0=bool(table.number(1, "B")),
        slice1=bool(table.number(2, "B")),
        dma_in=bool(table.number(3, "B")),
        dma_out=bool(table.number(4, "B")),
    )


def _dealloc(table: Table) -> Dealloc:
    return Dealloc(number=table.number(0, "Q"))

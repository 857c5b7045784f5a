"""Numbers of the capture's format, version 2.

Source: `runtime/src/iree/hal/replay/format.h` of iree-org/iree, of 2026.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

MAGIC: Final = 0x50525249
"""Little endian: "IRRP"."""
VERSION: Final = 2
OPTIONAL: Final = 1 << 0
"""The flag of records that may be left out by who does not know them."""
WITH_DATA: Final = 4
"""The kind of payload of a range of a buffer with its bytes."""


class RecordKind(IntEnum):
    """What a record is about."""

    SESSION = 1
    OBJECT = 2
    OPERATION = 3
    BLOB = 4
    UNSUPPORTED = 5


class FileKind(IntEnum):
    """Where the bytes of a file are."""

    NONE = 0
    PATH = 1
    INLINE = 2
    RANGES = 3


class Op(IntEnum):
    """What was called, as far as it does anything to memory."""

    CREATE_COMMAND_BUFFER = 7
    IMPORT_FILE = 10
    CREATE_SEMAPHORE = 11
    QUEUE_ALLOCA = 13
    QUEUE_DEALLOCA = 14
    QUEUE_FILL = 15
    QUEUE_UPDATE = 16
    QUEUE_COPY = 17
    QUEUE_READ = 18
    QUEUE_WRITE = 19
    QUEUE_HOST_CALL = 20
    QUEUE_DISPATCH = 21
    QUEUE_EXECUTE = 22
    ALLOCATE_BUFFER = 102
    IMPORT_BUFFER = 103
    MAP_RANGE = 200
    UNMAP_RANGE = 201
    FLUSH_RANGE = 203
    END = 301
    BEGIN_GROUP = 302
    END_GROUP = 303
    BARRIER = 304
    WAIT_EVENTS = 307
    FILL = 309
    UPDATE = 310
    COPY = 311
    COLLECTIVE = 312
    DISPATCH = 313
    PREPARE_EXECUTABLE = 402


_OF_DEVICES: Final = frozenset((1, 2, 3, 4, 5, 8, 9, 12, 23, 24, 25, 26, 27, 28))
_SCOPES: Final = frozenset((50, 51))
_OF_MEMORY: Final = frozenset((100, 101, 202))  # what the host sees is current in any case
_OF_COMMANDS: Final = frozenset((300, 305, 306, 308))
"""Command buffers are open when they are made; events order nothing but for who waits for them."""
_OF_EXECUTABLES: Final = frozenset((400, 401, 500, 501, 502, 503))
IGNORED: Final = _OF_DEVICES | _SCOPES | _OF_MEMORY | _OF_COMMANDS | _OF_EXECUTABLES
"""Operations that change nothing: questions, and what only an implementation needs."""

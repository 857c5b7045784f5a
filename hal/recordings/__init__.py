"""Files of what a Metal device did: programs, buffers before and after, grids, times."""

from .errors import RecordingError
from .read import Recording
from .records import (
    SUFFIX,
    Bound,
    Bytes,
    Constant,
    DeviceInfo,
    DispatchRecord,
    EncodedRecord,
    Inline,
    KernelRecord,
    LibraryRecord,
    MemoryRecord,
)
from .write import RecordingWriter

__all__ = [
    "SUFFIX",
    "Bound",
    "Bytes",
    "Constant",
    "DeviceInfo",
    "DispatchRecord",
    "EncodedRecord",
    "Inline",
    "KernelRecord",
    "LibraryRecord",
    "MemoryRecord",
    "Recording",
    "RecordingError",
    "RecordingWriter",
]

"""Files of what a Metal device did: programs, memory before and after, grids, times."""

from .errors import RecordingError
from .partial import partials_of
from .read import Recording
from .records import (
    INCOMPLETE,
    SUFFIX,
    Bound,
    BoundSampler,
    BoundTable,
    BoundTexture,
    Bytes,
    Constant,
    DeviceInfo,
    DispatchRecord,
    EncodedRecord,
    Inline,
    KernelRecord,
    LibraryRecord,
    MemoryRecord,
    TextureRecord,
)
from .write import RecordingWriter, check_target

__all__ = [
    "INCOMPLETE",
    "SUFFIX",
    "Bound",
    "BoundSampler",
    "BoundTable",
    "BoundTexture",
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
    "TextureRecord",
    "check_target",
    "partials_of",
]

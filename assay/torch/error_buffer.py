"""The buffer in which kernels leave messages with TORCH_REPORT_ERROR of <c10/metal/error.h>."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MESSAGES = 30
# struct c10::metal::ErrorMessages: how many there were, then the first of them.
_MESSAGE = np.dtype(
    [("file", "S128"), ("function", "S128"), ("message", "S250"), ("line", "<u4")], align=True
)
_BUFFER = np.dtype([("count", "<u4"), ("messages", _MESSAGE, (_MESSAGES,))], align=True)


def new_error_buffer() -> NDArray[np.uint8]:
    """A buffer without messages."""
    return np.zeros(_BUFFER.itemsize, np.uint8)


def first_error(buffer: NDArray[np.uint8]) -> str | None:
    """The first message in words, or None when there is none."""
    record = buffer.view(_BUFFER)[0]
    if not record["count"]:
        return None
    first = record["messages"][0]
    text, file, function = (
        first[field].decode("utf-8", "replace") for field in ("message", "file", "function")
    )
    return f"{text} ({function} at {file}:{first['line']})"

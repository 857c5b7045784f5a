"""What kernels say with os_log: records in a buffer, read and formatted after the dispatch.

The layout of records is that of compiler/msl/include/assay/logging.h.
"""

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

_HEAD: Final = 4  # words of the buffer: room, used, dropped, nothing
_RECORD_HEAD: Final = 10
_LONGEST_STRING: Final = 1 << 16
# %[flags][width][.precision][v count][length]conversion
_DIRECTIVE: Final = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>\.\d*)?(?:v(?P<count>[2348]|16))?"
    r"(?:hh|hl|h|ll|l|j|z|t|L)?(?P<conversion>[diouxXcsfFeEgGaAp%])"
)
Words = NDArray[np.uint32]
Number = int | float | str
# The text at a GPU address, up to its zero.
ReadText = Callable[[int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message: who said it (`thread` counts in the threadgroup), how severe, and the text."""

    threadgroup: int
    thread: int
    level: int
    subsystem: str
    category: str
    text: str


def new_buffer(size: int) -> NDArray[np.uint8]:
    """An empty buffer of `size` bytes for records."""
    data = np.zeros(size // 4 * 4, np.uint8)
    data.view("<u4")[0] = data.nbytes // 4 - _HEAD
    return data


def messages(data: NDArray[np.uint8], read_text: ReadText) -> tuple[list[Message], int]:
    """The messages by threadgroup, thread and time, and how many found no room."""
    words: Words = data.view("<u4")
    room, used, dropped = (int(word) for word in words[:3])
    found = list(_messages(words[_HEAD : _HEAD + min(room, used)], read_text))
    found.sort(key=lambda message: (message.threadgroup, message.thread))
    return found, dropped


def _messages(words: Words, read_text: ReadText) -> Iterator[Message]:
    at = 0
    while at + _RECORD_HEAD <= words.size:
        size = int(words[at])
        # A record that found no room leaves zeros.
        if size < _RECORD_HEAD or at + size > words.size:
            return
        yield _message(words[at : at + size], read_text)
        at += size


def _message(words: Words, read_text: ReadText) -> Message:
    addresses = words[4:_RECORD_HEAD].view("<u8")
    subsystem, category, text = (read_text(int(address)) for address in addresses)
    values = _arguments(words[_RECORD_HEAD:], int(words[3]) >> 8, read_text)
    return Message(
        threadgroup=int(words[1]),
        thread=int(words[2]),
        level=int(words[3]) & 0xFF,
        subsystem=subsystem,
        category=category,
        text=formatted(text, list(values)),
    )


def _arguments(words: Words, count: int, read_text: ReadText) -> Iterator[tuple[Number, ...]]:
    """Each argument's numbers: one, or those of a vector."""
    at = 0
    for _ in range(count):
        tag = int(words[at])
        kind, size, parts = tag & 0xFF, tag >> 8 & 0xFF, tag >> 16
        raw = words[at + 1 : at + 1 + 2 * parts].tobytes()
        yield tuple(
            _number(raw[8 * part : 8 * part + 8], kind, size, read_text) for part in range(parts)
        )
        at += 1 + 2 * parts


def _number(raw: bytes, kind: int, size: int, read_text: ReadText) -> Number:
    if kind == 0:
        return int.from_bytes(raw[:size], "little", signed=True)
    if kind == 1:
        return int.from_bytes(raw[:size], "little")
    if kind == 2:
        return float(struct.unpack("<f", raw[:4])[0])
    return read_text(int.from_bytes(raw, "little"))


def formatted(text: str, values: list[tuple[Number, ...]]) -> str:
    """`text` with its directives replaced, as printf does; %v4f prints a vector."""
    rest = iter(values)

    def replaced(found: re.Match[str]) -> str:
        if found["conversion"] == "%":
            return "%"
        parts = next(rest, None)
        if parts is None:
            return "<no argument>"
        count = int(found["count"]) if found["count"] else len(parts)
        return ",".join(_converted(found, part) for part in parts[:count])

    return _DIRECTIVE.sub(replaced, text)


def _converted(found: re.Match[str], value: Number) -> str:
    conversion = found["conversion"]
    layout = f"%{found['flags']}{found['width']}{found['precision'] or ''}"
    if isinstance(value, str):
        return f"{layout}s" % value if conversion == "s" else value
    if conversion in "fFeEgG":
        return f"{layout}{conversion}" % float(value)
    if conversion in "aA":
        return float(value).hex()
    if isinstance(value, float):
        # A number of the other kind than promised: shown as it is rather than as its bits.
        return f"{value:g}"
    if conversion == "c":
        return chr(value & 0xFF)
    if conversion == "p":
        return f"{value:#x}"
    if conversion in "ouxX" and value < 0:
        value += 1 << (32 if value >= -(1 << 31) else 64)
    return f"{layout}{'d' if conversion in 'diu' else conversion}" % value


def text_in(constants: bytes, offset: int) -> str:
    """The zero-terminated text in a kernel's constant data."""
    end = constants.find(b"\0", offset, offset + _LONGEST_STRING)
    return constants[offset : end if end >= 0 else offset].decode("utf-8", "replace")

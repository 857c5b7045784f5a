"""Messages of bytes between processes, each behind its length."""

from __future__ import annotations

from typing import IO

_LENGTH = 8  # bytes before each message


def send(stream: IO[bytes], data: bytes) -> None:
    """Write a message at once."""
    stream.write(len(data).to_bytes(_LENGTH, "little") + data)
    stream.flush()


def receive(stream: IO[bytes], most: int | None = None) -> bytes | None:
    """The next message of at most so many bytes; None at the end, or in the middle of one."""
    length = stream.read(_LENGTH)
    if len(length) < _LENGTH:
        return None
    size = int.from_bytes(length, "little")
    if most is not None and size > most:
        return None
    data = stream.read(size)
    return data if len(data) == size else None

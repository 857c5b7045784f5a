"""Payloads of records: what each call was given.

Source of the layouts: `runtime/src/iree/hal/replay/format.h` of iree-org/iree.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from struct import error as StructError
from typing import Any, Final

_ALLOCATION: Final = Struct("<QQQIIHHI")
_REFERENCE: Final = Struct("<QQQII")
_POINT: Final = Struct("<QQ")
_QUEUE: Final = Struct("<QQQQ")
_DISPATCH: Final = Struct("<QQII3I3I")
_INDIRECT: Final = 0b11
"""Flags of dispatches whose counts a buffer has, read when they run or before."""
_MOST: Final = 1 << 20
"""Entries that one list may have."""


class PayloadError(ValueError):
    """A payload that is shorter than what it says it has."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """A buffer that was asked for."""

    size: int
    usage: int
    memory_type: int


@dataclass(frozen=True, slots=True)
class Reference:
    """A range of a buffer, or of what the binding table has at `slot` if `buffer` is 0."""

    buffer: int
    offset: int
    length: int
    slot: int


Points = tuple[tuple[int, int], ...]
"""Semaphores and the values on their timelines."""


@dataclass(frozen=True, slots=True)
class Queued:
    """What a queue waits for, and what it signals then."""

    wait: Points
    signal: Points


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A kernel over workgroups, whose counts may be in a buffer."""

    executable: int
    function: int
    workgroups: tuple[int, int, int] | Reference
    constants: tuple[int, ...]
    bindings: tuple[Reference, ...]
    queued: Queued


class Payload:
    """A payload that is read from its front. Every method raises PayloadError at its end."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._at = 0

    def take(self, struct: Struct) -> tuple[Any, ...]:
        """The fields of a structure."""
        try:
            found = struct.unpack_from(self._data, self._at)
        except StructError:
            raise PayloadError("a payload is too short") from None
        self._at += struct.size
        return found

    def bytes(self, count: int) -> memoryview:
        """So many bytes."""
        if count > len(self._data) - self._at:
            raise PayloadError(f"a payload is to have {count} bytes more than it has")
        self._at += count
        return self._data[self._at - count : self._at]

    def words(self, count: int) -> tuple[int, ...]:
        """So many 32-bit numbers."""
        return tuple(int(word) for word in memoryview(bytes(self.bytes(4 * count))).cast("I"))

    def allocation(self) -> Allocation:
        """A buffer that was asked for."""
        size, _, _, usage, memory_type, _, _, _ = self.take(_ALLOCATION)
        return Allocation(size, usage, memory_type)

    def reference(self) -> Reference:
        """A range of a buffer."""
        buffer, offset, length, slot, _ = self.take(_REFERENCE)
        return Reference(buffer, offset, length, slot)

    def references(self, count: int) -> tuple[Reference, ...]:
        """So many ranges."""
        return tuple(self.reference() for _ in range(_checked(count)))

    def points(self, count: int) -> Points:
        """So many points of semaphores."""
        return tuple((point[0], point[1]) for point in map(self._point, range(_checked(count))))

    def queued(self, waits: int, signals: int) -> Queued:
        """The lists of a call of a queue."""
        return Queued(self.points(waits), self.points(signals))

    def queue_fields(self) -> tuple[int, int]:
        """How many semaphores a queue waits for and signals, behind affinity and flags."""
        _, _, waits, signals = self.take(_QUEUE)
        return waits, signals

    def dispatch(self) -> Dispatch:
        """A dispatch, with the lists behind it."""
        executable, _, function, flags, *counts = self.take(_DISPATCH)
        at_run = self.reference()
        self.take(Struct("<II"))
        waits, signals, constants, bindings = self.take(_QUEUE)
        queued = self.queued(waits, signals)
        x, y, z = counts[3:]
        return Dispatch(
            executable=executable,
            function=function,
            workgroups=at_run if flags & _INDIRECT else (x, y, z),
            constants=self.words(constants // 4),
            bindings=self.references(bindings),
            queued=queued,
        )

    def _point(self, _: int) -> tuple[Any, ...]:
        return self.take(_POINT)


def _checked(count: int) -> int:
    if count > _MOST:
        raise PayloadError(f"a list is to have {count} entries")
    return count

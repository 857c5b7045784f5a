"""Machine code for the board's own processor: what runs it, and what stands for it if not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, prod

import numpy as np
from numpy.typing import NDArray

from ..status import StatusError
from .check import extent
from .format import Executable, StartHost
from .host.image import PAGE
from .host.processor import HostProcessor
from .host_calls import HostCall, HostFunction

_DENSE = 1 << 40
"""Where the processor finds dense copies of arguments that have gaps."""


class HostCode:
    """An executable's machine code on an emulated processor.

    Arguments are XRAM itself, as for the vendor's older runtime, whose sizes cannot be relied on;
    those with gaps are copied to dense memory before, and back after, as its newer one does.

    Raises StatusError if the code cannot be run, or lacks a function of `wanted`.
    """

    def __init__(self, code: bytes | memoryview, wanted: Iterable[str], name: str) -> None:
        self._name = name
        self._processor = HostProcessor(code, name)
        for function in wanted:
            if not self._processor.has(function):
                raise StatusError(
                    "INVALID_ARGUMENT", f"{name}: its host code has no function {function!r}"
                )

    def run(self, call: HostCall) -> None:
        """Runs a function; it takes the processor's time. Raises StatusError and TorqFault."""
        device = call.device
        dense = [each for each in _with_gaps(call) if each.has_gaps]
        places = {each.number: each for each in dense}
        addresses = [
            places[number].address if number in places else address
            for number, address in enumerate(call.arguments)
        ]
        memory = [*zip(device.xram.space.starts, device.xram.space.regions, strict=True)]
        memory += [(each.address, each.gathered(call)) for each in dense]
        ran = self._processor.call(
            call.function, addresses, memory, marks=device.watcher is not None
        )
        for each in dense:
            each.scatter(call)
        device.host("code", ceil(ran.instructions * device.machine.host_instruction))
        if device.watcher is not None:
            for writes, touched in ((False, ran.read), (True, ran.written)):
                for start, stop in touched:
                    for piece in _in_xram(start, stop, dense):
                        device.watcher.host("XRAM", *piece, writes)


class _Argument:
    """An argument whose elements lie apart in XRAM, and its dense copy."""

    def __init__(self, number: int, address: int, shape: Sequence[int], strides: Sequence[int]):
        self.number = number
        self.address = 0
        self._start = address
        self._shape, self._strides = tuple(shape), tuple(strides)
        self._element = strides[-1]
        self._data: NDArray[np.uint8] = np.zeros(0, np.uint8)

    @property
    def has_gaps(self) -> bool:
        """Whether its elements are not one behind the other; the last stride is their size."""
        dense = self._element
        for count, stride in zip(reversed(self._shape), reversed(self._strides), strict=True):
            if count != 1 and stride != dense:
                return True
            dense *= count
        return False

    @property
    def size(self) -> int:
        """Bytes of the dense copy."""
        return self._element * prod(self._shape)

    def gathered(self, call: HostCall) -> NDArray[np.uint8]:
        """The dense copy, in whole pages."""
        self._data = np.zeros(-(-self.size // PAGE) * PAGE, np.uint8)
        self._data[: self.size] = self._elements(call).reshape(-1)
        return self._data

    def scatter(self, call: HostCall) -> None:
        """Puts elements back."""
        elements = self._elements(call)
        elements[...] = self._data[: self.size].reshape(elements.shape)

    def in_xram(self, start: int, stop: int) -> Iterable[tuple[int, int]]:
        """Where elements lie of which bytes `start` to `stop` of the dense copy are."""
        first, last = start // self._element, ceil(min(stop, self.size) / self._element)
        indices = np.unravel_index(np.arange(first, last), self._shape)
        places = self._start + sum(
            index.astype(np.int64) * stride
            for index, stride in zip(indices, self._strides, strict=True)
        )
        breaks = np.flatnonzero(np.diff(places) != self._element) + 1
        for piece in np.split(places, breaks):
            yield int(piece[0]), int(piece[-1]) + self._element

    def _elements(self, call: HostCall) -> NDArray[np.uint8]:
        size = extent(self._shape, self._strides, self._element)
        window = call.device.xram.window(self._start, size, "HOST")
        return np.lib.stride_tricks.as_strided(
            window, (*self._shape, self._element), (*self._strides, 1)
        )


def _with_gaps(call: HostCall) -> list[_Argument]:
    """The arguments of which shapes and strides are stated, each with a place for its copy."""
    action, at, free = call.action, 0, _DENSE
    found = []
    for number, (address, rank) in enumerate(zip(action.arguments, action.ranks, strict=False)):
        shape, strides = action.shapes[at : at + rank], action.strides[at : at + rank]
        at += rank
        if rank and strides[-1] and 0 not in shape:
            argument = _Argument(number, address, shape, strides)
            argument.address = free
            free += -(-argument.size // PAGE) * PAGE + PAGE
            found.append(argument)
    return found


def _in_xram(start: int, stop: int, dense: Sequence[_Argument]) -> Iterable[tuple[int, int]]:
    """The XRAM behind memory that the processor touched."""
    for each in dense:
        if each.address <= start < each.address + each.size:
            return each.in_xram(start - each.address, stop - each.address)
    return ((start, stop),) if start < _DENSE else ()


def left_out(executable: Executable) -> dict[str, HostFunction]:
    """Functions that do nothing for all of the host code.

    A check takes their arguments for written: which of them are results, the file does not say.
    """
    return {a.function: _nothing for a in executable.actions if isinstance(a, StartHost)}


def _nothing(call: HostCall) -> None:
    watcher = call.device.watcher
    if watcher is not None:
        for start, size in zip(call.arguments, call.sizes, strict=False):
            watcher.assume_written("XRAM", start, start + size)

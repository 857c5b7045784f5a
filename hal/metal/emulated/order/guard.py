"""Memory that the host sees through pages of its own, which can be closed to it for a while.

Device and host have a mapping each of the same bytes. While the device may use them, the host's is
closed; what it does there nevertheless is noted, and then done. So NumPy's accesses are seen too.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import mmap
import os
import platform
import signal
import sys
import threading
import time
from dataclasses import dataclass

import numpy as np

from assay.sim.site import Site

from ..resources.memory import Bytes
from . import guard_layout as k
from .where import site_of

_SIGACTION_BYTES = 152  # of the C library on Linux x86-64: handler, mask, flags, restorer
_FLAGS_AT = 136
# While a fault is noted Python runs, and may itself come upon closed memory.
_SA_SIGINFO, _SA_RESTART, _SA_NODEFER = 4, 0x10000000, 0x40000000
_SA_FLAGS = _SA_SIGINFO | _SA_RESTART | _SA_NODEFER
_RIGHTS = {
    k.OPEN: mmap.PROT_READ | mmap.PROT_WRITE,
    k.READ_ONLY: mmap.PROT_READ,
    k.CLOSED: 0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the host did at one line: addresses of the device's mapping."""

    site: Site
    reads: tuple[int, ...]
    writes: tuple[int, ...]


class Guarded:
    """Bytes with two mappings: `device` and `host`."""

    def __init__(self, length: int) -> None:
        file = os.memfd_create("assay")
        try:
            whole = -(-length // k.PAGE) * k.PAGE
            os.truncate(file, whole)
            self.device: Bytes = np.frombuffer(mmap.mmap(file, whole), np.uint8)[:length]
            self.host: Bytes = np.frombuffer(mmap.mmap(file, whole), np.uint8)[:length]
        finally:
            os.close(file)
        self.size = whole
        self.host_start = int(self.host.ctypes.data)
        self.device_start = int(self.device.ctypes.data)
        self.slot = -1  # in the handler's table while it is closed

    def has(self, address: int) -> bool:
        """Whether an address of the device's mapping lies in it."""
        return 0 <= address - self.device_start < self.size


class Guard:
    """The one handler of the process. Thread-safe."""

    def __init__(self) -> None:
        self._state = k.Guard()
        self._lock = threading.RLock()
        self._closed: dict[int, Guarded] = {}
        self._looked = 0  # faults that were looked at
        self._seen: list[tuple[Site, list[tuple[int, bool]]]] = []
        self._library = ctypes.CDLL(None)
        self._code = k.UNIT.load()
        self._site: Site | None = None  # of the first fault that was not yet looked at
        self._answer = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(self._look)
        self._locating = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(self._locate)
        self._start()

    def _start(self) -> None:
        state, library = self._state, self._library
        state.protect = _address(library.mprotect)
        state.set_handler = _address(library.sigaction)
        state.thread_id = _address(library.gettid)
        state.ask = _address(ctypes.pythonapi.Py_AddPendingCall)
        state.answer = _address(self._answer)
        state.holds_python = _address(ctypes.pythonapi.PyGILState_Check)
        state.locate = _address(self._locating)
        state.stop_collecting = _address(ctypes.pythonapi.PyGC_Disable)
        state.collect = _address(ctypes.pythonapi.PyGC_Enable)
        start = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._code.address("assay_guard_start"))
        start(ctypes.addressof(state))
        self._before = [ctypes.create_string_buffer(_SIGACTION_BYTES) for _ in range(2)]
        state.before_fault, state.before_trap = map(ctypes.addressof, self._before)
        self._handle_signals()

    def _handle_signals(self) -> None:
        """Handle faults and traps; others may have taken them over, as `faulthandler` does."""
        numbers = signal.SIGSEGV, signal.SIGTRAP
        names = "assay_guard_fault", "assay_guard_trap"
        for number, name, before in zip(numbers, names, self._before, strict=True):
            now = ctypes.create_string_buffer(_SIGACTION_BYTES)
            self._library.sigaction(int(number), None, now)
            ours = self._code.address(name)
            if ctypes.c_uint64.from_buffer(now).value == ours:
                continue
            ctypes.memmove(before, now, _SIGACTION_BYTES)
            action = ctypes.create_string_buffer(_SIGACTION_BYTES)
            ctypes.c_uint64.from_buffer(action).value = ours
            ctypes.c_int.from_buffer(action, _FLAGS_AT).value = _SA_FLAGS
            self._library.sigaction(int(number), action, None)

    def close(self, memory: Guarded, level: int) -> None:
        """Let the host's accesses be seen, those that level READ_ONLY forbids or all."""
        with self._lock:
            self._handle_signals()
            self._state.stray_count = 0
            if memory.slot < 0:
                free = next((n for n in range(k.REGIONS) if n not in self._closed), None)
                if free is None:
                    return  # not seen, that is
                memory.slot = free
                self._closed[free] = memory
            region = self._state.regions[memory.slot]
            region.start, region.size = memory.host_start, memory.size
            region.fault_count, region.level = 0, level
            self._protect(memory, level)

    def open(self, memory: Guarded) -> None:
        """Let the host do what it likes."""
        with self._lock:
            if memory.slot < 0:
                return
            self._collect(Site())
            self._forget(memory)
            region = self._state.regions[memory.slot]
            region.level = k.OPEN
            while self._is_open_elsewhere(memory):
                time.sleep(0)
            self._protect(memory, k.OPEN)
            region.level = k.FREE
            del self._closed[memory.slot]
            memory.slot = -1

    def seen(self) -> list[Seen]:
        """What the host did since this was asked last."""
        with self._lock:
            self._collect(Site())
            seen, self._seen = self._seen, []
        return [
            Seen(
                site=site,
                reads=tuple(address for address, is_write in faults if not is_write),
                writes=tuple(address for address, is_write in faults if is_write),
            )
            for site, faults in seen
        ]

    def _forget(self, memory: Guarded) -> None:
        """Drop what was seen of memory whose addresses may soon be those of other memory."""
        kept = [
            (site, [each for each in faults if not memory.has(each[0])])
            for site, faults in self._seen
        ]
        self._seen = [(site, faults) for site, faults in kept if faults]

    def _protect(self, memory: Guarded, level: int) -> None:
        start, size = ctypes.c_void_p(memory.host_start), ctypes.c_size_t(memory.size)
        self._library.mprotect(start, size, _RIGHTS[level])

    def _is_open_elsewhere(self, memory: Guarded) -> bool:
        return any(
            each.thread and 0 <= each.page - memory.host_start < memory.size
            for each in self._state.opened
        )

    def _locate(self, _nothing: object) -> int:
        """Called in the middle of a step of the program, by the fault itself."""
        if threading.get_native_id() == threading.main_thread().native_id:
            self._site = site_of(sys._getframe(1))
        return 0

    def _look(self, _nothing: object) -> int:
        """Called by Python between two steps of the program's main thread, after a fault."""
        if self._lock.acquire(blocking=False):
            try:
                self._collect(site_of(sys._getframe(1)))
                for memory in self._closed.values():
                    self._protect(memory, self._state.regions[memory.slot].level)
            finally:
                self._lock.release()
        else:
            self._state.is_asked = 0  # the holder of the lock looks; ask again next time
        return 0

    def _collect(self, site: Site) -> None:
        site, self._site = self._site or site, None
        self._state.is_asked = 0
        end = self._state.fault_count
        first = max(self._looked, end - k.FAULTS)
        self._looked = end
        here: list[tuple[int, bool]] = []
        elsewhere: list[tuple[int, bool]] = []
        main = threading.main_thread().native_id
        for at in range(first, end):
            fault = self._state.faults[at % k.FAULTS]
            address = self._on_device(fault.address)
            if address is not None:
                by_main = fault.thread == main
                (here if by_main else elsewhere).append((address, bool(fault.is_write)))
        self._seen += [(site, here)] if here else []
        self._seen += [(Site(), elsewhere)] if elsewhere else []

    def _on_device(self, address: int) -> int | None:
        for memory in self._closed.values():
            if 0 <= address - memory.host_start < memory.size:
                return address - memory.host_start + memory.device_start
        return None


@functools.cache
def guard() -> Guard | None:
    """The guard of this process; None where its host is not one that it knows."""
    known = sys.platform == "linux" and platform.machine() == "x86_64"
    if not known or sys.implementation.name != "cpython" or not hasattr(os, "memfd_create"):
        return None
    return Guard()


def guarded(length: int) -> Guarded | None:
    """Bytes whose use by the host can be seen; None where it cannot."""
    if guard() is None:
        return None
    with contextlib.suppress(OSError, ValueError):
        return Guarded(length)
    return None


def _address(function: object) -> int:
    """Where a function of C begins."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]

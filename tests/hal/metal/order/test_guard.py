"""Memory that is closed to the host: what is seen, and that all else stays as it was."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from assay.hal.metal.emulated.order import guard_layout
from assay.hal.metal.emulated.order.guard import Guard, Guarded, Seen, guard, guarded

pytestmark = pytest.mark.skipif(
    guard() is None, reason="this host does not show what programs do to memory"
)
CRASH = """
import ctypes
from assay.hal.metal.emulated.order import guard_layout
from assay.hal.metal.emulated.order.guard import guard, guarded
memory = guarded(4096)
guard().close(memory, guard_layout.CLOSED)
print(memory.host[7], flush=True)
ctypes.string_at(8)
"""

TAKEN_OVER = """
import signal, ctypes
from assay.hal.metal.emulated.order import guard_layout
from assay.hal.metal.emulated.order.guard import guard, guarded
guard()
ctypes.CDLL(None).signal(int(signal.SIGSEGV), None)
memory = guarded(4096)
guard().close(memory, guard_layout.CLOSED)
print(memory.host[7], len(guard().seen()), flush=True)
"""


@pytest.fixture
def watching() -> Guard:
    found = guard()
    assert found is not None
    found.seen()
    return found


def closed(watching: Guard, level: int) -> tuple[Guarded, np.ndarray]:
    memory = guarded(8192)
    assert memory is not None
    values = memory.host.view(np.int32)
    values[:] = np.arange(values.size)
    watching.close(memory, level)
    return memory, values


def offsets(memory: Guarded, seen: list[Seen], *, writes: bool) -> set[int]:
    found = (each.writes if writes else each.reads for each in seen)
    return {address - memory.device_start for addresses in found for address in addresses}


def test_every_access_is_seen_and_done(watching: Guard) -> None:
    memory, values = closed(watching, guard_layout.CLOSED)
    assert values[5] == 5
    values[1025] = 77
    assert values[5] == 5
    seen = watching.seen()
    assert offsets(memory, seen, writes=False) == {20}
    assert offsets(memory, seen, writes=True) == {4100}
    assert memory.device.view(np.int32)[1025] == 77
    assert all(each.site.file.endswith("test_guard.py") for each in seen)
    watching.open(memory)


def test_reads_of_memory_that_is_only_read_are_not_seen(watching: Guard) -> None:
    memory, values = closed(watching, guard_layout.READ_ONLY)
    assert values[9] == 9
    values[9] = 1
    seen = watching.seen()
    assert not offsets(memory, seen, writes=False)
    assert offsets(memory, seen, writes=True) == {36}
    watching.open(memory)


def test_nothing_is_seen_of_memory_that_is_open_again(watching: Guard) -> None:
    memory, values = closed(watching, guard_layout.CLOSED)
    watching.open(memory)
    values[:] = 3
    assert watching.seen() == []


def test_threads_may_use_one_page_at_once(watching: Guard) -> None:
    memory, values = closed(watching, guard_layout.CLOSED)

    def count(place: int) -> None:
        for _ in range(200):
            values[place] += 1

    threads = [threading.Thread(target=count, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    watching.open(memory)
    assert values[:4].tolist() == [200, 201, 202, 203]


def test_accesses_are_seen_though_others_took_over_the_signal() -> None:
    done = subprocess.run([sys.executable, "-c", TAKEN_OVER], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "0 1\n"), done.stderr


def test_what_was_seen_of_memory_is_forgotten_with_it(watching: Guard) -> None:
    memory, values = closed(watching, guard_layout.CLOSED)
    values[0] = 1
    watching.open(memory)
    assert watching.seen() == []


def test_threads_may_use_memory_that_is_opened_and_closed(watching: Guard) -> None:
    memory, values = closed(watching, guard_layout.CLOSED)
    ended = threading.Event()

    def write() -> None:
        while not ended.is_set():
            values[3] += 1

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        watching.open(memory)
        watching.close(memory, guard_layout.CLOSED)
    ended.set()
    for thread in threads:
        thread.join()
    watching.open(memory)
    assert watching.seen() == []


def test_a_crash_elsewhere_is_still_a_crash() -> None:
    done = subprocess.run([sys.executable, "-c", CRASH], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "0\n")

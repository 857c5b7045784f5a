"""What has run of a kernel is told of all its workers, each of which notes it for itself."""

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.check import Checker
from assay.sim.simt import Memory, dispatch
from assay.sim.simt.run.boxes import Box, boxes_of
from assay.sim.simt.run.executable import Executable
from assay.sim.simt.run.worker import Launch, Worker

GROUPS = 1 << 10
SOURCE = """
kernel void two(device float* first [[buffer(0)]], device float* last [[buffer(1)]],
                constant uint& rounds [[buffer(2)]],
                uint group [[threadgroup_position_in_grid]],
                uint i [[thread_position_in_grid]]) {
  if (group == 0) for (uint k = 0; k < rounds; k++) first[i] += last[i + k];
  if (group == 1023) for (uint k = 0; k < rounds; k++) last[i] += first[k];
}
"""
LINES = (6, 7)


def _executable() -> Executable:
    program = compile_library(SOURCE).function("two").program()
    return program.specialise((32, 1, 1), Checker(frozenset({"bounds"})).observers)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("rounds", [0, 2])
def test_loops_count_as_entered_whichever_worker_entered_them(workers: int, rounds: int) -> None:
    executable = _executable()
    executable.forget_coverage()
    memory = Memory()
    arrays = [np.zeros(GROUPS * 40, np.float32), np.zeros(GROUPS * 40, np.float32)]
    count = np.array([rounds], np.uint32)
    addresses = [memory.register(a.view(np.uint8), name="b") for a in (*arrays, count)]
    dispatch(
        executable,
        memory,
        addresses,
        threadgroups=(GROUPS, 1, 1),
        workers=workers,
        checker=Checker(frozenset({"bounds"})),
    )
    entered = {site.line for site, was in executable.coverage().loops if was}
    assert entered == (set(LINES) if rounds else set())


def test_workers_note_what_ran_in_memory_that_no_other_worker_writes() -> None:
    executable = _executable()
    (box,) = [box for box in boxes_of(executable, None, (4, 1, 1))[0] if box.count]
    one, other = (_worker(box) for _ in range(2))
    assert abs(one.at["reached"] - other.at["reached"]) >= 64, "a line of the cache for each"
    assert executable.blocks > 0


def _worker(box: Box) -> Worker:
    memory = Memory()
    arrays = [np.zeros(64, np.float32) for _ in range(3)]
    addresses = [memory.register(each.view(np.uint8), name="b") for each in arrays]
    return Worker(Launch(memory, addresses, (4, 1, 1), (128, 1, 1), 1 << 20), box)

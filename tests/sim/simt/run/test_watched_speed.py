"""What checks cost, by the processor time of one thread, with room for busy machines."""

import time

import numpy as np

from assay.compiler.msl import compile_library
from assay.sim.check import Checker
from assay.sim.simt import Memory, dispatch

COUNT = 1 << 20
SOURCE = """
kernel void add(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                device float* c [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  c[i] = a[i] + b[i];
}
"""


def test_a_stream_under_all_default_checks_takes_a_few_times_as_long() -> None:
    executable = compile_library(SOURCE).function("add").program().specialise((256, 1, 1))
    memory = Memory()
    arrays = [np.ones(COUNT, np.float32) for _ in range(3)]
    addresses = [memory.register(array.view(np.uint8), name="b") for array in arrays]

    def seconds(checker: Checker | None) -> float:
        start = time.process_time()
        dispatch(executable, memory, addresses, threads=(COUNT, 1, 1), workers=1, checker=checker)
        return time.process_time() - start

    checker = Checker(frozenset({"race", "init", "bounds"}))
    seconds(None), seconds(checker)
    plain = min(seconds(None) for _ in range(7))
    checked = min(seconds(checker) for _ in range(7))
    assert not checker.findings
    assert checked < 9 * plain, "some 3 times; where all lanes are gone through it is 19"

"""What simdgroups save at barriers: what they need behind them and cannot compute again."""

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.check import Checker
from tests.support.msl import PRELUDE, run_kernel

LINE = 64  # bytes: a state begins with one, and each value that is saved takes whole ones
CHECKS = Checker(frozenset({"race", "init", "bounds"})).observers
TREE = """
kernel void tree(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                 uint row [[threadgroup_position_in_grid]],
                 uint local [[thread_position_in_threadgroup]]) {
  threadgroup float part[256];
  part[local] = in[row * 256 + local];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 128; step > 0; step /= 2) {
    if (local < step) part[local] += part[local + step];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  float sum = part[0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  part[local] = sum * local;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 128; step > 0; step /= 2) {
    if (local < step) part[local] = fmax(part[local], part[local + step]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (local == 0) out[row] = part[0];
}
"""
# Lanes leave this loop by turns, and wait behind it with what they have while others meet.
LEAVING = """
kernel void leaving(device uint* out [[buffer(0)]], uint t [[thread_position_in_threadgroup]]) {
  uint sum = 1, i = 0;
  for (;; i++) {
    if (i == t % 7) break;
    sum += i * t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[t] = sum * 8 + i;
}
"""
# The same, and the barrier is in a branch: others wait behind it.
PARTED = """
kernel void parted(device uint* out [[buffer(0)]], uint t [[thread_position_in_threadgroup]]) {
  uint sum = t;
  for (uint i = 0; i < 5; i++) {
    if (((t >> i) & 1) == 0) {
      sum = sum * 3 + i;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      sum += t;
    } else {
      sum ^= i << 4;
    }
  }
  out[t] = sum;
}
"""


@pytest.mark.parametrize("observers", [frozenset(), CHECKS])
def test_a_reduction_saves_its_result_at_most(observers: frozenset[str]) -> None:
    function = compile_library(PRELUDE + TREE).function("tree")
    executable = function.program().specialise((256, 1, 1), observers)
    assert executable.state_size <= 3 * LINE, "with what is known of its origin"


def test_a_reduction_is_right() -> None:
    numbers = np.arange(512, dtype=np.float32)
    found = np.zeros(2, np.float32)
    run_kernel(TREE, numbers, found, threads=512, group=256)
    assert found.tolist() == [255 * each for each in numbers.reshape(2, 256).sum(axis=1)]


def test_lanes_that_wait_behind_a_loop_keep_what_they_have_over_its_barriers() -> None:
    found = np.zeros(64, np.uint32)
    run_kernel(LEAVING, found, threads=64, group=64)
    t = np.arange(64)
    rounds = t % 7
    assert found.tolist() == ((1 + t * (rounds * (rounds - 1) // 2)) * 8 + rounds).tolist()


def test_lanes_that_wait_behind_a_branch_keep_what_they_have_over_its_barriers() -> None:
    found = np.zeros(64, np.uint32)
    run_kernel(PARTED, found, threads=64, group=64)
    expected = np.arange(64)
    for i in range(5):
        clear = np.arange(64) >> i & 1 == 0
        expected = np.where(clear, expected * 3 + i + np.arange(64), expected ^ i << 4)
    assert found.tolist() == expected.tolist()

"""Grids that are run together have the results, and the fault, that they have one after another."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.compiler.msl import compile_library
from assay.sim.simt import DispatchError, KernelFault, Memory, Request, dispatch_together
from assay.sim.simt.run.grid import Grid
from assay.sim.simt.run.hazards import Uses

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void blend(device const uint* a [[buffer(0)]], device const uint* b [[buffer(1)]],
                  device uint* c [[buffer(2)]], uint i [[thread_position_in_grid]],
                  uint n [[threads_per_grid]]) {
    uint x = a[i] + 1;
    for (uint k = 0; k < 200; k++) {
        x = x * 1664525u + b[n - 1 - (i + k) % n];
    }
    c[i] = x;
}
kernel void turn(device uint* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    for (uint k = 0; k < 200; k++) {
        a[i] = a[i] * 22695477u + k;
    }
}
kernel void fault(device uint* a [[buffer(0)]], uint g [[threadgroup_position_in_grid]]) {
    if (g == 3) {
        a[1 << 20] = 1;
    }
    a[0] += 1;
}
kernel void late(device uint* a [[buffer(0)]], uint g [[threadgroup_position_in_grid]]) {
    if (g == 60) {
        for (uint k = 0; k < 100000; k++) {
            a[1 + k % 8] += k;
        }
        a[1 << 21] = 1;
    }
}
kernel void forever(device volatile uint* a [[buffer(0)]]) {
    while (a[0] == 0) {
        a[1] += 1;
    }
}
kernel void sum(device atomic_float* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(a, 1.0f / (1 + i), memory_order_relaxed);
}
"""
ELEMENTS = 4096
BUFFERS = 5
NAMES = ("blend", "turn", "sum")
LIBRARY = compile_library(SOURCE)
PROGRAMS = {name: LIBRARY.function(name).program() for name in (*NAMES, "fault", "late", "forever")}
Step = tuple[str, tuple[int, ...], int, int]
"""A kernel, the numbers of its buffers, threads in its grid, threads in a threadgroup."""


class Bench:
    """Buffers with the same contents each time."""

    def __init__(self, count: int = BUFFERS) -> None:
        self.memory = Memory()
        random = np.random.default_rng(1)
        self.arrays = random.integers(0, 1 << 30, (count, ELEMENTS), np.uint32)
        self.addresses = [
            self.memory.register(each.view(np.uint8), name=f"b{number}")
            for number, each in enumerate(self.arrays)
        ]

    def request(self, step: Step) -> Request:
        name, buffers, threads, size = step
        executable = PROGRAMS[name].specialise((size, 1, 1))
        return Request(
            executable,
            self.memory,
            [self.addresses[number] for number in buffers],
            (threads, 1, 1),
            None,
        )

    def run(self, steps: Sequence[Step], workers: int) -> bytes:
        """What is in all buffers afterwards."""
        dispatch_together([self.request(step) for step in steps], workers=workers)
        return self.arrays.tobytes()


@st.composite
def _steps(draw: st.DrawFn) -> Step:
    name = draw(st.sampled_from(NAMES))
    count = 3 if name == "blend" else 1
    some = st.permutations(range(BUFFERS))
    buffers = tuple(draw(some)[:count])
    if name == "blend" and draw(st.booleans()):
        buffers = (buffers[0], buffers[0], buffers[2])
    return name, buffers, draw(st.integers(1, 2000)), draw(st.sampled_from((8, 32, 64)))


@given(steps=st.lists(_steps(), min_size=2, max_size=20))
@settings(max_examples=60, deadline=None)
def test_results_do_not_depend_on_workers(steps: list[Step]) -> None:
    expected = Bench()
    for step in steps:
        expected.run([step], workers=1)
    for workers in (1, 2, 4):
        assert Bench().run(steps, workers) == expected.arrays.tobytes()


def _admitted(bench: Bench, *steps: Step) -> list[bool]:
    """Whether each of the steps may run at the same time as those before that may."""
    uses = []
    for step in steps:
        each = bench.request(step)
        grid = Grid.of(each.executable, bench.memory, each.arguments, each.threads, None, None)
        uses.append(Uses(grid))
    return [uses[0].admit(each) for each in uses[1:]]


def _blend(a: int, b: int, c: int) -> Step:
    return "blend", (a, b, c), 64, 32


def test_grids_that_share_what_they_read_run_at_the_same_time() -> None:
    assert _admitted(Bench(), _blend(0, 1, 2), _blend(0, 1, 3), _blend(1, 0, 4)) == [True] * 2


@pytest.mark.parametrize(
    "second", [_blend(2, 1, 3), _blend(0, 1, 2), _blend(3, 4, 1), ("turn", (0,), 64, 32)]
)
def test_a_grid_that_meets_what_another_one_writes_waits(second: Step) -> None:
    assert _admitted(Bench(), _blend(0, 1, 2), second) == [False]


def test_two_buffers_in_the_same_memory_are_one() -> None:
    bench = Bench()
    half = bench.arrays[2].view(np.uint8)[ELEMENTS * 2 :]
    bench.addresses.append(bench.memory.register(half, name="half"))
    assert _admitted(bench, _blend(0, 1, 2), _blend(BUFFERS, 1, 3)) == [False]


def test_a_grid_whose_threadgroups_run_in_order_stays_alone() -> None:
    bench = Bench()
    assert _admitted(bench, _blend(0, 1, 2), ("sum", (3,), 64, 32)) == [False]
    assert _admitted(bench, ("sum", (3,), 64, 32), _blend(0, 1, 2)) == [False]


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize(
    ("steps", "kernel", "group"),
    [
        ([("late", (0,)), ("fault", (1,))], "late", 60),
        ([("fault", (1,)), ("late", (0,))], "fault", 3),
        ([("turn", (2,)), ("late", (0,)), ("fault", (1,)), ("turn", (3,))], "late", 60),
        ([("turn", (2,)), ("turn", (3,)), ("fault", (1,)), ("fault", (0,))], "fault", 3),
    ],
)
def test_the_fault_is_the_first_in_the_order_of_grids(
    steps: list[tuple[str, tuple[int, ...]]], kernel: str, group: int, workers: int
) -> None:
    bench = Bench()
    with pytest.raises(KernelFault) as caught:
        bench.run([(*step, 64 * 64, 64) for step in steps], workers)
    assert caught.value.kernel == kernel
    assert caught.value.place.threadgroup_position_in_grid == (group, 0, 0)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_all_before_a_fault_has_run(workers: int) -> None:
    bench, expected = Bench(), Bench()
    steps: list[Step] = [("turn", (2,), 4096, 64), ("turn", (3,), 4096, 64)]
    for step in steps:
        expected.run([step], workers=1)
    with pytest.raises(KernelFault):
        bench.run([*steps, ("fault", (1,), 4096, 64)], workers)
    assert np.array_equal(bench.arrays[2:4], expected.arrays[2:4])


@pytest.mark.parametrize("size", [8, 64])  # of the smaller ones several run side by side
def test_a_fault_ends_a_grid_behind_it_that_never_would(size: int) -> None:
    bench = Bench()
    bench.arrays[4] = 0
    steps: list[Step] = [("fault", (1,), 64 * size, size), ("forever", (4,), 64, 64)]
    with pytest.raises(KernelFault, match="fault"):
        dispatch_together([bench.request(step) for step in steps], workers=2, fuel=1 << 50)


def test_a_grid_that_cannot_be_made_hides_no_fault_before_it() -> None:
    bench = Bench()
    wrong = Request(PROGRAMS["turn"].specialise((64, 1, 1)), bench.memory, [], (64, 1, 1), None)
    fault = bench.request(("fault", (1,), 4096, 64))
    with pytest.raises(KernelFault):
        dispatch_together([fault, wrong], workers=2)
    turn: Step = ("turn", (2,), 4096, 64)
    with pytest.raises(DispatchError, match="takes 1 arguments"):
        dispatch_together([bench.request(turn), wrong], workers=2)
    expected = Bench()
    expected.run([turn], workers=1)
    assert np.array_equal(bench.arrays[2], expected.arrays[2])

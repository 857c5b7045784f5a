"""What checks find does not depend on how many threads run a dispatch, or who else runs one."""

import threading

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.check import Checker
from assay.sim.simt import Memory, dispatch
from assay.sim.simt.run.observation import shadows_of

COUNT = (1 << 18) + 7  # more than are run in order
CHECKS = frozenset({"race", "init", "bounds", "barrier"})
SIZE = (64, 1, 1)

# What `into[place]` is, and whether threadgroups race there.
PLACES = {
    "i": False,  # of its own
    "i ^ 32u": False,  # another simdgroup's
    "i % 4096u": True,  # whole runs that other threadgroups write too
    "i / 2u": True,  # two lanes each; of the same threadgroup
    "i < 64u ? 64u + i : i": True,  # one run of all
}


def _source(place: str) -> str:
    return f"""
kernel void put(device const uint *x [[buffer(0)]], device uint *into [[buffer(1)]],
                uint i [[thread_position_in_grid]]) {{
    into[{place}] = x[i] + 1u;
}}
"""


def _kinds(place: str, workers: int) -> set[str]:
    executable = compile_library(_source(place)).function("put").program().specialise(SIZE)
    memory = Memory()
    x, into = np.arange(COUNT, dtype=np.uint32), np.zeros(COUNT + 64, np.uint32)
    arguments = [memory.register(each.view(np.uint8), name="b") for each in (x, into)]
    checker = Checker(CHECKS)
    for _ in range(2):
        dispatch(
            executable, memory, arguments, threads=(COUNT, 1, 1), workers=workers, checker=checker
        )
    return {each.kind for each in checker.findings}


@pytest.mark.parametrize("place", PLACES)
def test_one_worker_and_three_find_the_same(place: str) -> None:
    alone, several = _kinds(place, 1), _kinds(place, 3)
    assert alone == several
    assert bool(alone) is PLACES[place]


def test_dispatches_of_one_checker_are_watched_one_after_another() -> None:
    executable = compile_library(_source("i")).function("put").program().specialise(SIZE)
    memory = Memory()
    x, into = np.ones(COUNT, np.uint32), np.zeros(COUNT, np.uint32)
    arguments = [memory.register(each.view(np.uint8), name="b") for each in (x, into)]
    checker = Checker(CHECKS)

    def run() -> None:
        dispatch(executable, memory, arguments, threads=(COUNT, 1, 1), workers=1, checker=checker)

    thread = threading.Thread(target=run)
    with shadows_of(checker, memory).turn:
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        assert not into.any()
    thread.join()
    assert into.all()
    run()  # nobody keeps the turn
    assert not checker.findings

"""Leaving out lanes by their positions changes no bit of what random kernels leave behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from assay.sim.simt.analysis.kept_lanes import ALL_LANES
from assay.sim.simt.emit import values
from assay.sim.simt.ir.faults import KernelFault
from tests.support import kernels
from tests.support.kernels import compile_cpp, on_engine, on_reference

from .live_lane_kernels import COUNTERS, INPUTS, LIMITS, PARAMETERS, PLACES, Size, live_lane_kernels

_GROUPS = 9
_quick = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# `python -m tests.campaigns lanes` draws 2,000.
_many = settings(_quick, max_examples=int(os.environ.get("ASSAY_LANE_CASES", "150")))


@pytest.fixture(scope="module")
def other_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wide")


@contextmanager
def _all_lanes(cache: Path) -> Iterator[None]:
    """Kernels are compiled as if each lane had to run."""
    kernels._executable.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_CACHE_DIR", str(cache))
        patch.setattr(values, "find_needed_lanes", lambda *_: ALL_LANES)
        yield
    kernels._executable.cache_clear()


def _outcome(run: kernels.Runner, kernel: tuple[str, Size], seed: int) -> list[object]:
    """What a run leaves in the buffers, or the fault that it ends in."""
    source, size = kernel
    random = np.random.default_rng(seed)
    limits = np.full(LIMITS, seed % 5, np.uint32)
    arguments = [
        random.integers(0, 2**32, INPUTS, np.uint32),
        np.zeros(PLACES * _GROUPS, np.uint32),
        np.zeros(COUNTERS, np.uint32),
        limits,
    ]
    try:
        left = run(
            compile_cpp(source, PARAMETERS),
            arguments,
            threadgroup_size=size,
            threadgroups=(_GROUPS, 1, 1),
        )
    except KernelFault as fault:
        return [str(fault)]
    return [array.tolist() for array in left]


def _tame_agree(kernel: tuple[str, Size], seed: int) -> None:
    assert _outcome(on_engine, kernel, seed) == _outcome(on_reference, kernel, seed)


def _wild_agree(kernel: tuple[str, Size], seed: int, cache: Path) -> None:
    found = _outcome(on_engine, kernel, seed)
    with _all_lanes(cache):
        assert found == _outcome(on_engine, kernel, seed)


@_quick
@given(kernel=live_lane_kernels(tame=True), seed=st.integers(0, 9))
def test_what_the_lanes_that_run_leave_is_what_all_threads_leave(
    kernel: tuple[str, Size], seed: int
) -> None:
    _tame_agree(kernel, seed)


@_quick
@given(kernel=live_lane_kernels(tame=False), seed=st.integers(0, 9))
def test_lanes_that_write_to_one_place_leave_what_they_leave_when_all_run(
    kernel: tuple[str, Size], seed: int, other_cache: Path
) -> None:
    _wild_agree(kernel, seed, other_cache)


@pytest.mark.slow
@_many
@given(kernel=live_lane_kernels(tame=True), seed=st.integers(0, 9))
def test_the_lanes_that_run_leave_what_all_threads_leave_in_many_kernels(
    kernel: tuple[str, Size], seed: int
) -> None:
    _tame_agree(kernel, seed)


@pytest.mark.slow
@_many
@given(kernel=live_lane_kernels(tame=False), seed=st.integers(0, 9))
def test_lanes_that_write_to_one_place_agree_with_all_lanes_in_many_kernels(
    kernel: tuple[str, Size], seed: int, other_cache: Path
) -> None:
    _wild_agree(kernel, seed, other_cache)

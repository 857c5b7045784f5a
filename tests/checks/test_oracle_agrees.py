"""What is planted is really wrong, and near misses are right: an oracle without checks says so."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from assay.checks import Inputs, read_annotations
from assay.compiler.msl import Library, compile_library
from assay.launches.constants import compiled_kernel
from assay.launches.plan import Plan, make_plan
from tests.checks.mutation.oracle import depends_on_schedule, run_once

from .cases import Case, bugs, near_misses

pytestmark = pytest.mark.slow
RACES = ("race_threadgroup", "race_device")
# Wrong, but not by the order of accesses or the contents of fresh memory alone.
_UNSEEN = {
    "race_device/bugs/one_threadgroup/last_threadgroup_without_fence": "needs weak memory",
    "race_threadgroup/bugs/copies/*": "copies are done at once",
    "race_device/bugs/textures/*": "threads see what they write",
    "race_device/clean/textures/*": "the reference engine is given no textures here",
    "race_device/clean/narrow/rows_of_odd_bytes_in_place": "every thread accesses device bytes of "
    "its own, which the barrier need not order, though the oracle thinks so",
    "init/clean/structures/entries_for_others": "copies bytes between fields, which nobody sets",
    "barrier/bugs/branches/simdgroup_barrier_for_some_lanes": "holds nobody up here",
    "init/bugs/threadgroup_arrays/branch_on_a_flag_nobody_set": "any bytes but zero go one way",
    "init/bugs/private_values/*": "variables without a value have one in the reference engine",
}
# Right, though tickets are handed out in the order of arrival.
_ORDERED = "race_device/clean/order/append"


def _parameters(cases: list[Case], *folders: str) -> list[object]:
    chosen = [case for case in cases if case.folder in folders]
    return [pytest.param(case, id=case.name) for case in chosen if not _is_unseen(case)]


def _is_unseen(case: Case) -> bool:
    return any(Path(case.name).match(pattern) for pattern in _UNSEEN) or case.name == _ORDERED


@functools.lru_cache(maxsize=2)
def _compiled(path: Path) -> tuple[Library, Inputs]:
    source = path.read_text()
    return compile_library(source), read_annotations(source, str(path))


def _plan(case: Case) -> Plan:
    library, inputs = _compiled(case.path)
    (setup,) = inputs.setups[case.kernel]
    kernel, _ = compiled_kernel(library, case.kernel, setup.constants)
    return make_plan(kernel, setup)


@pytest.mark.parametrize("case", _parameters(bugs(), *RACES, "init"))
def test_a_planted_bug_changes_results_under_some_schedule(case: Case) -> None:
    assert depends_on_schedule(_plan(case), range(60)) is not None


@pytest.mark.parametrize("case", _parameters(near_misses(), *RACES, "init", "lanes", "barrier"))
def test_a_near_miss_gives_the_same_bits_under_any_schedule(case: Case) -> None:
    assert depends_on_schedule(_plan(case), range(6)) is None


@pytest.mark.parametrize("case", _parameters(bugs(), "barrier"))
def test_a_planted_barrier_is_not_reached_by_all(case: Case) -> None:
    assert "barrier" in {run_once(_plan(case), seed).failure for seed in range(4)}

"""Public kernels: what is one unit, what hosts see to, and that the page says what was counted."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.proving.launches import HostLaunch, launch_of, launches_of
from benchmarks.proving.limited import done
from benchmarks.proving.page import BEGIN, END, PAGE, STORED, results_text, with_results
from benchmarks.proving.proofs import Task, proved
from benchmarks.proving.rows import Row, row_of, store, stored
from benchmarks.proving.units import PROJECTS, family_of, units_of

KERNELS = """\
#include <metal_stdlib>
using namespace metal;
template <typename T> kernel void twice(device const T* x, device T* y,
                                        uint i [[thread_position_in_grid]]) { y[i] = x[i] + x[i]; }
template [[host_name("twice_float32")]] kernel decltype(twice<float>) twice<float>;
template [[host_name("twice_int32")]] kernel decltype(twice<int>) twice<int>;
kernel void racing(device uint* y, uint i [[thread_position_in_grid]]) { y[0] = i; }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / PROJECTS[0].folder
    folder.mkdir(parents=True)
    (folder / "some.metal").write_text(KERNELS)
    return tmp_path


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("vv_Addfloat32", "vv_Addint8"),
        ("kernel_mul_mv_q4_K_f32", "kernel_mul_mv_iq2_xxs_f32"),
        ("gemv_bfloat16_bm4_bn1", "gemv_float32_bm8_bn2"),
    ],
)
def test_kernels_that_differ_in_types_and_numbers_are_one_unit(one: str, other: str) -> None:
    assert family_of(one) == family_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("vv_Addfloat32", "vs_Addfloat32"), ("vv_Addfloat32", "vv_Subtractfloat32")],
)
def test_other_ways_and_operations_are_other_units(one: str, other: str) -> None:
    assert family_of(one) != family_of(other)


def test_a_seed_chooses_an_instantiation_of_each_unit(project: Path) -> None:
    units, refused = units_of(PROJECTS[0], project, seed=7)
    assert not refused
    assert [(each.family, each.instances) for each in units] == [("racing", 1), ("twice_T", 2)]
    assert units_of(PROJECTS[0], project, seed=7) == (units, refused)


def test_units_are_proved_or_refuted_and_results_kept(project: Path, tmp_path: Path) -> None:
    racing, twice = units_of(PROJECTS[0], project, seed=7)[0]
    for unit in (racing, twice):
        parts = list(proved(Task(unit=unit, root=project)))
        store(row_of(unit, parts, ""), tmp_path / "rows.jsonl")
    rows = stored(tmp_path / "rows.jsonl")
    assert [row.verdict for row in rows] == ["refuted", "proved"]
    assert "race-write-write" in rows[0].reasons["buffer races"][0]
    assert rows[1].verdicts["initialised"] == "proved"


def busy(seconds: float) -> Iterator[str]:
    """A task that takes so much of the processor, and gives something before."""
    yield "begun"
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    yield "ended"


def test_a_task_ends_when_it_has_taken_its_time_and_what_it_gave_stays() -> None:
    found = {task: (parts, why) for task, parts, why in done([60.0, 0.0], busy, limit=1)}
    assert found[0.0] == (["begun", "ended"], "")
    assert found[60.0] == (["begun"], "it takes more than 1 s of the processor")


def test_all_launches_are_read_and_say_where_they_stand() -> None:
    for project in PROJECTS:
        for launch in launches_of(project.name):
            assert launch.kernels and launch.host


def test_threadgroups_are_as_kernels_names_say() -> None:
    assert launch_of("mlx", "steel_gemm_fused_nn_float32_bm64_wm2_wn4").size_for(
        "steel_gemm_fused_nn_float32_bm64_wm2_wn4"
    ) == (32, 4, 2)
    assert HostLaunch(kernels=("*",)).size_for("any") is None


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(STORED.read_text())
    return found


def test_the_page_has_the_stored_results(results: dict[str, Any]) -> None:
    page = PAGE.read_text()
    assert with_results(page, results) == page


def test_every_refuted_kernel_is_named_on_the_page(results: dict[str, Any]) -> None:
    page = PAGE.read_text()
    shown = page[page.index(BEGIN) : page.index(END)]
    refuted = [Row(**each) for each in results["rows"] if Row(**each).verdict == "refuted"]
    assert all(f"`{row.kernel}`" in shown for row in refuted)
    assert results_text(results) in shown

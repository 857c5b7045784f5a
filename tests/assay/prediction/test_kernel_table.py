"""What one sees of memory: rates by level, accesses to threadgroup memory, kernels side by side."""

from io import StringIO

import pytest
from rich.console import Console

import assay
from assay.prediction import TimeResult
from assay.prediction.kernel_table import kernel_table, kernels_json
from tests.support.transposes import transposes


def timed(name: str, chip: str = "m1") -> TimeResult:
    found = assay.time(transposes(256), name, chip=chip)
    assert isinstance(found, TimeResult)
    return found


@pytest.fixture(scope="module")
def tiled() -> TimeResult:
    return timed("tiled")


@pytest.fixture(scope="module")
def padded() -> TimeResult:
    return timed("padded")


def test_a_copy_has_rates_and_a_bound() -> None:
    result = timed("copy")
    text = str(result)
    for level in ("L1", "L2", "DRAM"):
        assert f"\n{level} " in text
    assert "no bound" not in text and "0 FLOP/s" not in text
    roofline = result.dispatches[0].time.roofline
    assert roofline.bound == "l2"  # Which holds both matrices.
    assert 0.3 < roofline.fraction <= 1


def test_bank_conflicts_are_counted(tiled: TimeResult, padded: TimeResult) -> None:
    conflict, none = tiled.dispatches[0].time.banks, padded.dispatches[0].time.banks
    assert conflict is not None and none is not None
    # A load of a column finds all its words in one bank; a store of a row has one each.
    assert (conflict.worst, conflict.ways) == (32, (32 + 1) / 2)
    assert (none.worst, none.ways) == (1, 1)
    assert conflict.cycles > 1.5 * none.cycles
    # Each simdgroup stores and loads once for each of the 32 rows that 8 have between them.
    assert conflict.accesses == none.accesses == 2 * 4 * 8 * 64


def test_conflicts_are_said(tiled: TimeResult, padded: TimeResult) -> None:
    assert "bank conflicts of 16.5 ways, 32 at worst" in str(tiled)
    assert "no bank conflicts" in str(padded)


def test_no_access_to_threadgroup_memory_is_none() -> None:
    result = timed("copy")
    assert result.dispatches[0].time.banks is None
    assert "tg accesses" not in str(result)


def test_no_level_gives_more_than_it_can(tiled: TimeResult) -> None:
    time = tiled.dispatches[0].time
    for level, rate in time.achieved_bytes.items():
        assert rate <= 1.01 * time.peak_bytes[level], level


def test_no_dispatch_is_faster_than_its_roofline_allows() -> None:
    # 30 of the 32 threadgroups of a core are executed; the last two seemed to cost nothing.
    for name in ("tiled", "padded"):
        result = assay.time(transposes(512), name, chip="m1")
        roofline = result.dispatches[0].time.roofline
        assert roofline.bound == "slc" and 0.9 < roofline.fraction <= 1
        assert result.seconds >= roofline.seconds


def test_kernels_by_chips_are_one_table(tiled: TimeResult, padded: TimeResult) -> None:
    console = Console(file=StringIO(), width=120)
    console.print(kernel_table([[tiled, timed("tiled", "m2")], [padded, timed("padded", "m2")]]))
    assert isinstance(console.file, StringIO)
    lines = console.file.getvalue().splitlines()
    rows = [line.split() for line in lines if " us " in line]
    assert [row[0] for row in rows] == ["tiled", "m2", "padded", "m2"]
    assert any("16.5 (32)" in line for line in lines)
    assert any(line.startswith("Caches are warm: they hold what an equal run") for line in lines)
    assert any(line.startswith("assumed for tiled, padded: x: 65536 x float") for line in lines)


@pytest.mark.parametrize("chip", ["m1", "m4-pro", "m5-max"])
def test_padding_does_not_help_a_transpose(chip: str) -> None:
    one, other, naive = (
        assay.time(transposes(1024), name, chip=chip).seconds
        for name in ("tiled", "padded", "naive")
    )
    assert one == pytest.approx(other, rel=0.1)
    assert naive > 2.5 * one


def test_the_json_has_each_kernel_on_each_chip(tiled: TimeResult, padded: TimeResult) -> None:
    found = kernels_json([[tiled], [padded]])
    assert [each["dispatches"][0]["kernel"] for each in found["results"]] == ["tiled", "padded"]
    dispatch = found["results"][0]["dispatches"][0]
    assert dispatch["threadgroup_accesses"]["worst"] == 32
    assert dispatch["peak_bytes"]["l2"] > dispatch["achieved_bytes"]["l2"] > 0


def test_the_picture_says_which_kernels_have_no_place_on_it(tiled: TimeResult) -> None:
    assert "not here: tiled computes nothing" in tiled.plot().svg
    source = "kernel void halve(device float* x, uint i [[thread_position_in_grid]]) { x[i] /= 2; }"
    warm = assay.time(source, threads=4096)
    assert "not here: halve needs nothing from DRAM" in warm.plot().svg
    assert "not here" not in assay.time(source, threads=4096, warm=False).plot().svg

"""What `assay time` says of caches, of cycles without work, and of what bounds the time."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Done

Assay = Callable[..., Done]
SOURCE = """static float twice(float x) { return x * 2; }
kernel void scale(device float* x, uint i [[thread_position_in_grid]]) { x[i] = twice(x[i]); }
"""
GRID = ("--grid", "256", "--threadgroup", "256")


@pytest.fixture
def scale(tmp_path: Path) -> Path:
    path = tmp_path / "scale.metal"
    path.write_text(SOURCE)
    return path


def test_warm_and_cold_are_told_apart_where_dram_does(assay: Assay, scale: Path) -> None:
    warm = assay("time", scale, *GRID).out
    cold = assay("time", scale, *GRID, "--cold").out
    opposite = r"\d\S* [nu]s, DRAM \d+%"
    assert re.search(
        rf"^caches +warm: they hold what an equal run left; cold: {opposite}", warm, re.M
    )
    assert re.search(rf"^caches +cold: they hold nothing; warm: {opposite}", cold, re.M)
    # Each says of the other what that says of itself.
    taken = [re.search(r"^time +(\S+ [nu]s)", text, re.M) for text in (warm, cold)]
    assert taken[0] and taken[1]
    assert f"cold: {taken[1][1]}, DRAM" in warm and f"warm: {taken[0][1]}, DRAM" in cold


def test_without_memory_only_one_of_warm_and_cold_is_said(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "nothing.metal").write_text("kernel void nothing() {}")
    out = assay("time", tmp_path / "nothing.metal", "--grid", "64", "--threadgroup", "32").out
    assert re.search(r"^caches +warm: they hold what an equal run left *$", out, re.M)


def test_what_is_idle_and_what_is_elsewhere_are_explained(assay: Assay, scale: Path) -> None:
    # One simdgroup on the whole GPU: its core has three further partitions.
    out = assay("time", scale, "--grid", "8", "--threadgroup", "32").out
    assert re.search(r"^idle +\d.*% .*partitions without a simdgroup \([123]\S* of 4\)", out, re.M)
    assert re.search(r"^elsewhere +\S+ +\d+%", out, re.M)
    assert "\nelsewhere: cycles of no function: starting threadgroups, and partitions" in out


def test_a_copy_on_several_chips_has_the_rates_of_memory_and_none_of_arithmetic(
    assay: Assay, tmp_path: Path
) -> None:
    path = tmp_path / "copy.metal"
    path.write_text(
        "kernel void copy(device float* x, device float* y, uint i [[thread_position_in_grid]])"
        " { y[i] = x[i]; }"
    )
    out = assay("time", path, *GRID, "--compare", "m4-max").out
    assert "FLOP/s" not in out and "no bound" not in out
    [head] = [line.split() for line in out.splitlines() if line.startswith("chip ")]
    assert head[4:8] == ["L1", "L2", "SLC", "DRAM"]
    rows = [line.split() for line in out.splitlines() if re.match(r"m\d\S* +\d", line)]
    assert [row[0] for row in rows] == ["m1", "m4-max"]
    assert all(float(row[5].replace(",", "")) > 0 for row in rows)
    assert "\nL1 to DRAM: GB/s achieved." in out


ROWS = """struct rows_args { int columns; int blocks; };
kernel void rows(constant rows_args& args, device const float* x, device float* y,
                 uint i [[thread_position_in_grid]]) {
    float sum = 0;
    for (int b = 0; b < args.blocks / 32; ++b) sum += x[i * args.columns + b];
    y[i] = sum;
}
"""
SECOND = "kernel void second(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }"
STATED = "//! [kernel.rows]\n//! arguments.args = { columns = 64, blocks = %d }\n"


def test_a_loop_that_assumed_values_leave_empty_is_told(assay: Assay, tmp_path: Path) -> None:
    path = tmp_path / "rows.metal"
    path.write_text(ROWS)
    said = "warning: of kernel 'rows' not all is timed: never entered: the loop at "
    out = " ".join(assay("time", path).out.split())
    assert said in out and "rows.metal:5; never touched: 'x': state args" in out
    path.write_text(ROWS + SECOND)
    assert said in " ".join(assay("time", path).out.split())


@pytest.mark.parametrize("blocks", [64, 0])
def test_a_loop_that_stated_values_leave_empty_is_meant(
    assay: Assay, tmp_path: Path, blocks: int
) -> None:
    path = tmp_path / "rows.metal"
    path.write_text(STATED % blocks + ROWS)
    assert "warning" not in assay("time", path).out


def test_mostly_is_the_roofline_s_bound_where_that_is_most_of_the_time(
    assay: Assay, scale: Path
) -> None:
    out = assay("time", scale, *GRID, "--compare", "m1-max,m4-max").out
    rows = re.findall(r"^m\S+ .* (\d+)% (\w+) .* (\S+) *$", out, re.M)
    assert len(rows) == 3
    bounded = [(bound, mostly) for share, bound, mostly in rows if int(share) > 50]
    assert bounded and all(bound == mostly for bound, mostly in bounded)
    assert [mostly for share, _, mostly in rows if int(share) < 50] != [
        bound for share, bound, _ in rows if int(share) < 50
    ]

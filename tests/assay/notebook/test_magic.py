"""Cells of notebooks: kernels on the notebook's own arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("IPython")

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import RichOutput, capture_output

DOUBLE = """
kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }
"""
RACE = """
kernel void shift(device float* x, uint i [[thread_position_in_grid]]) { x[i] = x[i + 1]; }
"""


class Shown:
    """What a cell printed and displayed."""

    def __init__(self, text: str, outputs: list[RichOutput]) -> None:
        self.text = text
        self.html = [output.data.get("text/html", "") for output in outputs]


@pytest.fixture(scope="module")
def shell() -> Iterator[Any]:
    made = InteractiveShell.instance(warn_venv=False)  # type: ignore[no-untyped-call]
    made.run_line_magic("load_ext", "assay")
    yield made
    InteractiveShell.clear_instance()


@pytest.fixture
def cell(shell: Any) -> Callable[..., Shown]:
    def run(line: str, text: str, **variables: Any) -> Shown:
        shell.user_ns.update(variables)
        with capture_output() as captured:
            shell.run_cell_magic("assay", line, text)
        return Shown(captured.stdout, captured.outputs)

    return run


def test_a_cell_runs_its_kernel_on_the_notebooks_array(cell: Callable[..., Shown]) -> None:
    x = np.arange(6, dtype=np.float32)
    shown = cell("x --threads 6 --threadgroup 2", DOUBLE, x=x)
    assert np.array_equal(x, 2 * np.arange(6))
    assert "no findings" in shown.html[0]


def test_a_cell_takes_tensors_where_they_lie(cell: Callable[..., Shown]) -> None:
    torch = pytest.importorskip("torch")
    x = torch.ones(8)
    cell("x --threads 8", DOUBLE, x=x)
    assert x.tolist() == [2.0] * 8


def test_findings_are_shown_at_the_cells_line(cell: Callable[..., Shown]) -> None:
    shown = cell("x --threads 64 --threadgroup 32", RACE, x=np.arange(65, dtype=np.float32))
    assert "x[i] = x[i + 1]" in shown.html[0] and "#d1242f" in shown.html[0]
    assert "<script" not in shown.html[0]


def test_a_cell_is_timed_with_picture_and_timeline(cell: Callable[..., Shown]) -> None:
    x = np.zeros(4096, np.float32)
    shown = cell("x --threads 4096 --threadgroup 256 --time m4-max --timeline", DOUBLE, x=x)
    assert "twice" in shown.text
    findings, picture, page = shown.html
    assert "no findings" in findings
    assert "<svg" in picture and page.startswith("<iframe srcdoc=")


def test_a_timed_cell_is_checked_and_fills_its_arrays_once(cell: Callable[..., Shown]) -> None:
    x = np.ones(64, np.float32)
    cell("x --threads 64 --time m1", DOUBLE, x=x)
    assert np.array_equal(x, np.full(64, 2))
    shown = cell(
        "x --threads 64 --threadgroup 32 --time m1", RACE, x=np.arange(65, dtype=np.float32)
    )
    assert "race-read-write" in shown.html[0]


def test_the_time_is_that_of_what_arrays_held_before(cell: Callable[..., Shown]) -> None:
    source = """
kernel void count(device int* x, uint i [[thread_position_in_grid]]) {
    float sum = 1;
    for (int k = 0; k < x[i]; k++) sum = metal::fma(sum, sum, 0.5f);
    x[i] = sum;
}
"""
    long, short = (
        cell("x --threads 64 --time m1", source, x=np.full(64, rounds, np.int32)).text
        for rounds in (2000, 0)
    )
    cycles = [
        int(re.findall(r"([\d,]+) cycles", text)[0].replace(",", "")) for text in (long, short)
    ]
    assert cycles[0] > 5 * cycles[1]


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        ("nothing", DOUBLE, "error: there is no variable nothing in this notebook"),
        ("x", DOUBLE + DOUBLE.replace("twice", "again"), "--kernel chooses one of twice, again"),
        ("x", "int helper() { return 1; }", "the cell has no kernel"),
        ("x --threads many", DOUBLE, "--threads: 'many': expected numbers such as 64,64"),
        ("x --timeline", DOUBLE, "--timeline is of a predicted time: add --time CHIP"),
        ("x 'open", DOUBLE, "No closing quotation"),
        ("x", "kernel void twice(device float* x) { x[0] = y; }", "use of undeclared"),
        ("x --time m9", DOUBLE, "m9"),
    ],
)
def test_what_cannot_run_is_told_in_a_line(
    cell: Callable[..., Shown], line: str, text: str, message: str
) -> None:
    shown = cell(line, text, x=np.zeros(4, np.float32))
    assert shown.text.startswith("error: ") and message in shown.text
    assert "Traceback" not in shown.text and not shown.html


def test_help_says_what_the_line_takes(cell: Callable[..., Shown]) -> None:
    assert "--timeline" in cell("--help", "\n").text


def test_an_error_in_a_cell_ends_in_the_cell(shell: Any) -> None:
    with capture_output() as captured:
        shell.run_cell("import assay\nassay.check_kernel('kernel void one() {}', 'two')")
    assert "there is no kernel 'two'" in captured.stdout
    assert "tracebacks.py" not in captured.stdout

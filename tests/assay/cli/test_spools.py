"""Runs that are killed: what they leave, and who says where it is."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli.spools import spool_beside, spools_of
from assay.traces.files import read_trace

from .conftest import Done

Assay = Callable[..., Done]
LOOP = """
func.func @main(%x: tensor<64xf32>, %n: i32) -> tensor<64xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end:2 = scf.while (%i = %zero, %v = %x) : (i32, tensor<64xf32>) -> (i32, tensor<64xf32>) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i, %v : i32, tensor<64xf32>
  } do {
  ^bb0(%i: i32, %v: tensor<64xf32>):
    %sum = arith.addf %v, %x : tensor<64xf32>
    %next = arith.addi %i, %one : i32
    scf.yield %next, %sum : i32, tensor<64xf32>
  }
  return %end#1 : tensor<64xf32>
}
"""


@pytest.mark.parametrize("command", ["run", pytest.param("time", marks=pytest.mark.slow)])
def test_a_run_that_is_killed_leaves_what_it_did_and_is_told_of(
    assay: Assay, tmp_path: Path, command: str
) -> None:
    pytest.importorskip("iree.compiler")
    model, trace = tmp_path / "loop.mlir", tmp_path / "run.html"
    model.write_text(LOOP)
    assert assay("compile", model, "-o", tmp_path / "loop.vmfb").code == 0
    words = [command, tmp_path / "loop.vmfb", "--input", "64xf32=1", "--trace", trace, "--input"]
    process = subprocess.Popen(
        [sys.executable, "-m", "assay", *map(str, words), "1000000"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        spool = _filled(trace)
    finally:
        process.kill()
        process.wait()
    done = assay("trace", "summary", spool)
    assert "the run did not finish" in done.err.replace("\n", " ")
    assert "main_dispatch_0" in done.out
    done = assay("view", trace, "--no-open")
    assert done.code == 1 and f"{spool.name} shows a run" in done.err.replace("\n", "")
    done = assay(*words, "2")
    assert done.code == 0 and "shows a run that was killed" in done.err.replace("\n", " ")
    assert trace.is_file() and spools_of(trace) == [spool]


def _filled(trace: Path) -> Path:
    """Where a run that is to write `trace` has put some dispatches."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for spool in spools_of(trace):
            if spool.stat().st_size > 50_000:
                assert read_trace(spool).events > 100
                return spool
        time.sleep(0.05)
    raise AssertionError("nothing was written")


def test_what_is_there_already_is_kept(tmp_path: Path) -> None:
    trace = tmp_path / "run.html"
    with spool_beside(trace) as first:
        first.write_text("first")
        with spool_beside(trace) as second:
            assert second != first
            assert spools_of(trace) == [first, second]
        assert first.read_text() == "first"
    assert spools_of(trace) == []

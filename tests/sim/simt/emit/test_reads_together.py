"""Reads that are checked in one go are checked as if each were checked by itself."""

from pathlib import Path

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.check import Checker
from assay.sim.simt import Memory, dispatch
from assay.sim.simt.emit.watched import ranges
from assay.sim.simt.run import generation

CHECKS = frozenset({"race", "init", "bounds"})
TILED = """
#include <metal_stdlib>
using namespace metal;
kernel void {name}(device const float* a [[buffer(0)]], device float* c [[buffer(1)]],
                  uint2 at [[thread_position_in_threadgroup]]) {{
  threadgroup float rows[{rows}][16], columns[16][16];
  float sum = 0;
  for (uint k = 0; k < 64; k += 16) {{
    rows[at.y][at.x] = a[at.y * 64 + k + at.x];
    columns[at.y][at.x] = a[(k + at.y) * 16 + at.x];
    {before}
    for (uint i = 0; i < 16; i++) {{
      sum += rows[at.y{row}][i] * columns[i][at.x];
      {between}
    }}
    {after}
  }}
  c[at.y * 16 + at.x] = sum;
}}
"""
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
RIGHT = {"rows": "16", "before": BARRIER, "between": "", "after": BARRIER, "row": ""}
FAULTY = {
    "no barrier before": {"before": ""},
    "rows that nobody wrote": {"rows": "20", "row": " + 4"},
    "writes in between": {"between": "columns[i][at.x] = sum;"},
}
FAULTLESS = {
    "right": {},
    "barriers and writes in between": {"between": f"{BARRIER} if (at.y == i) rows[i][at.x] = 1;"},
    "barriers of a simdgroup in between": {"between": "simdgroup_barrier(mem_flags::mem_none);"},
}


def _findings(changes: dict[str, str], name: str) -> list[str]:
    """What is found in a kernel; one of a new name is compiled anew."""
    source = TILED.format(**RIGHT | changes, name=name)
    executable = compile_library(source).function(name).program().specialise((16, 16, 1))
    memory = Memory()
    arrays = [np.ones(64 * 16, np.float32), np.zeros(256, np.float32)]
    addresses = [memory.register(each.view(np.uint8), name="b") for each in arrays]
    checker = Checker(CHECKS)
    dispatch(executable, memory, addresses, threadgroups=(2, 1, 1), checker=checker)
    return [repr(finding).replace(name, "tiled") for finding in checker.findings]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", [*FAULTY, *FAULTLESS])
def test_findings_are_those_of_reads_checked_one_by_one(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = FAULTY.get(case, {}) | FAULTLESS.get(case, {})
    together = _findings(changes, "tiled_a")
    monkeypatch.setattr(ranges, "reads_together", lambda block, form_of: {})
    assert together == _findings(changes, "tiled_b")
    assert bool(together) == (case in FAULTY)


def _calls(
    changes: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> int:
    """How many reads and writes of ranges a kernel reports."""
    texts: list[str] = []
    compile_object = generation.compile_object

    def noting(text: str, **how: bool) -> bytes:
        texts.append(text)
        return compile_object(text, **how)

    monkeypatch.setattr(generation, "compile_object", noting)
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path))
    _findings(changes, name)
    calls = ("call i32 @assay_watch_range", "call i32 @assay_watch_two_reads")
    return max(sum(text.count(call) for call in calls) for text in texts)


def test_what_an_unrolled_loop_reads_takes_a_call_for_each_row(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plain = _calls({}, "plain", monkeypatch, tmp_path)
    writes = FAULTY["writes in between"]
    apart = _calls(writes, "apart", monkeypatch, tmp_path)
    assert plain < 12, "two rows of one array, all of the other, and what is written"
    assert apart > 32, "nothing is read together across a write"

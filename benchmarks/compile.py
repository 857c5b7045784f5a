"""Compiling a 100-line kernel: the first time and from the cache, by stage, in fresh processes."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .measure import Row

FIRST_BAR, CACHED_BAR = 0.4, 0.03  # seconds
LOADED_LATE = (
    "assay.compiler.msl.reflection",
    "assay.compiler.msl.rewrite.rewrite",
    "assay.sim.simt.run.program",
    "assay.sim.simt.run.generation",
)
"""What the first kernel of a process imports."""
# What is made once per machine, by the folders of the cache that it is in.
_ONCE = ("msl-headers", "helpers", "drivers")
_STEPS = 8
_LEAST_SHOWN = 0.001  # seconds


def source() -> str:
    """A kernel of about 100 lines: helper functions, a loop, branches, threadgroup memory."""
    helpers = [
        f"""static float step_{n}(float x, threadgroup const float* shared, uint at) {{
    float y = x * {n + 1}.5f + shared[(at + {n}) & 63];
    for (uint i = 0; i < {n + 2}; i++) {{
        if (y > {n + 3}.0f) y = sqrt(y);
        else y = fma(y, 1.25f, float(i));
    }}
    return exp(-y * y) + {n}.0f;
}}
"""
        for n in range(_STEPS)
    ]
    calls = "".join(
        f"""        if ((round & {n}) == 0) {{
            value = step_{n}(value, shared, local + round);
        }}
"""
        for n in range(_STEPS)
    )
    return f"""#include <metal_stdlib>
using namespace metal;

{"".join(helpers)}
kernel void hundred_lines(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                          constant uint& rounds [[buffer(2)]],
                          uint position [[thread_position_in_grid]],
                          uint local [[thread_position_in_threadgroup]]) {{
    threadgroup float shared[64];
    float value = in[position];
    for (uint round = 0; round < rounds; round++) {{
        shared[local & 63] = value;
        threadgroup_barrier(mem_flags::mem_threadgroup);
{calls}        threadgroup_barrier(mem_flags::mem_threadgroup);
    }}
    out[position] = value;
}}
"""


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure all in as many fresh processes as `repetitions` says."""
    lines = len(source().splitlines())
    first, further, cached = [], [], []
    for _ in range(min(repetitions, 5)):
        with tempfile.TemporaryDirectory(prefix="assay-benchmark-") as folder:
            first.append(_fresh_process(folder))
            cached.append(_fresh_process(folder))
            for kind in Path(folder).iterdir():
                if kind.is_dir() and kind.name not in _ONCE:
                    shutil.rmtree(kind)
            further.append(_fresh_process(folder))
    kernel = f"{lines}-line kernel"
    return [
        _row(f"{kernel}, first time", first, FIRST_BAR),
        *_stage_rows(first),
        _row(f"{kernel}, with the headers at hand", further),
        *_stage_rows(further),
        _row(f"{kernel}, cached", cached, CACHED_BAR),
    ]


_Runs = list[dict[str, Any]]


def _row(what: str, runs: _Runs, bar: float | None = None) -> Row:
    seconds = statistics.median(run["seconds"] for run in runs)
    processor = statistics.median(run["processor"] for run in runs)
    return Row(
        what=what,
        who="assay",
        seconds=seconds,
        rate=f"{processor:.3f} s of processor time",
        bar="" if bar is None else f"< {bar:g} s",
        passed=None if bar is None else seconds < bar,
    )


def _stage_rows(runs: _Runs) -> list[Row]:
    """Processor time of each stage, the medians of all runs; those that take none are left out."""
    stages = {
        stage: statistics.median(run["stages"][stage] for run in runs)
        for stage in runs[0]["stages"]
    }
    return [
        Row(what=f"  {stage}", who="", rate=f"{seconds:.3f} s of processor time")
        for stage, seconds in sorted(stages.items(), key=lambda item: -item[1])
        if seconds >= _LEAST_SHOWN
    ]


def _fresh_process(cache: str) -> dict[str, Any]:
    environment = {**os.environ, "ASSAY_CACHE_DIR": cache}
    # As most users have it: Python keeps what it compiles.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.stages"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found

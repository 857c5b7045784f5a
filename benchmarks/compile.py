"""Compiling a 100-line kernel: the first time, and from the cache, each in a fresh process."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import import_module

from .measure import Row

FIRST_BAR, CACHED_BAR = 0.6, 0.03  # seconds
_LOADED_LATE = (
    "assay.compiler.msl.reflection",
    "assay.compiler.msl.rewrite.rewrite",
    "assay.sim.simt.run.program",
)
"""What the first kernel of a process imports."""
_STEPS = 8


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
    """Measure both in as many fresh processes as `repetitions` says."""
    lines = len(source().splitlines())
    first, cached = [], []
    for _ in range(min(repetitions, 5)):
        with tempfile.TemporaryDirectory(prefix="assay-benchmark-") as folder:
            first.append(_fresh_process(folder))
            cached.append(_fresh_process(folder))
    return [
        _row(f"{lines}-line kernel, first time", statistics.median(first), FIRST_BAR),
        _row(f"{lines}-line kernel, cached", statistics.median(cached), CACHED_BAR),
    ]


def _row(what: str, seconds: float, bar: float) -> Row:
    return Row(
        what=what, who="assay", seconds=seconds, bar=f"< {bar:g} s", passed=bool(seconds < bar)
    )


def _fresh_process(cache: str) -> float:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.compile"],
        env={**os.environ, "ASSAY_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(json.loads(done.stdout)["seconds"])


def main() -> None:
    """Compile once, source to machine code, and print the seconds; imports are not counted."""
    from assay.compiler.msl import compile_library

    for module in _LOADED_LATE:
        import_module(module)
    text = source()
    start = time.perf_counter()
    compile_library(text).function("hundred_lines").program().specialise((64, 1, 1))
    print(json.dumps({"seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()

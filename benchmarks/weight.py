"""Kernels that weigh a lot: processor time and memory until `assay check` answers or refuses.

Each in a fresh process, with a cache of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from .measure import Row

_SECONDS, _BYTES = 20.0, 1_500_000_000
_ENOUGH = 170.0  # seconds after which a case is stopped
_HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
_THREAD = "uint i [[thread_position_in_grid]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A source, what it is run with, and how many seconds it may take."""

    what: str
    source: str
    arguments: str = ""
    bar: float = _SECONDS


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure each case once."""
    return [_measured(case, threads) for case in _cases()]


def _measured(case: Case, threads: int) -> Row:
    with tempfile.TemporaryDirectory(prefix="assay-benchmark-") as folder:
        file = Path(folder) / "weight.metal"
        file.write_text(_HEAD + case.source)
        command = [sys.executable, "-m", "assay", "check", str(file)]
        if case.arguments:
            (Path(folder) / "weight.toml").write_text(case.arguments)
            command += ["--args", str(Path(folder) / "weight.toml")]
        environment = {**os.environ, "ASSAY_CACHE_DIR": folder, "ASSAY_WORKERS": str(threads)}
        seconds, peak = _used(command, environment)
    return Row(
        what=case.what,
        who="assay check",
        seconds=seconds,
        rate=f"{peak / 1e9:.2f} GB",
        bar=f"< {case.bar:g} s, {_BYTES / 1e9:g} GB",
        passed=seconds < case.bar and peak < _BYTES,
    )


def _used(command: list[str], environment: dict[str, str]) -> tuple[float, int]:
    """Run a command to its end: its processor time in seconds, and the most memory, in bytes.

    Both count the processes that it starts.
    """
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    stop = threading.Timer(_ENOUGH, process.kill)
    stop.start()
    _, _, used = os.wait4(process.pid, 0)
    stop.cancel()
    unit = 1 if sys.platform == "darwin" else 1 << 10
    return used.ru_utime + used.ru_stime, used.ru_maxrss * unit


def _sines(count: int) -> str:
    sums = "".join(f"    r += sin(a[i + {n}]);\n" for n in range(count))
    return (
        "kernel void k(device const float* a [[buffer(0)]], device float* o [[buffer(1)]], "
        f"{_THREAD}) {{\n    float r = 0;\n{sums}    o[i] = r;\n}}\n"
    )


def _switch(count: int, case: str) -> str:
    cases = "".join(f"    case {n}: r = {case.format(n=n)}; break;\n" for n in range(count))
    return (
        "kernel void k(device const uint* a [[buffer(0)]], device uint* o [[buffer(1)]], "
        f"{_THREAD}) {{\n    uint r = i;\n    switch (a[i]) {{\n{cases}    }}\n    o[i] = r;\n}}\n"
    )


def _table(count: int) -> str:
    numbers = ", ".join(f"{n}.5f" for n in range(count))
    return (
        f"constant float t[{count}] = {{ {numbers} }};\n"
        f"kernel void k(device float* o [[buffer(0)]], {_THREAD}) {{ o[i] = t[i]; }}\n"
    )


def _many(count: int) -> str:
    return "".join(
        f"kernel void k{n}(device float* o [[buffer(0)]], {_THREAD}) {{ o[i] = o[i] * {n}.5f; }}\n"
        for n in range(count)
    )


_SPIN = """kernel void k(device atomic_uint* l [[buffer(0)]]) {
    while (atomic_exchange_explicit(l, 1u, memory_order_relaxed) == 1u) {}
}
"""
_BARRIERS = """kernel void k(device uint* o [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
    threadgroup uint s[256];
    uint n = 0;
    while (n != 999u) {
        s[t] = n;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        n = s[(t + 1) & 255] & 15u;
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    o[t] = n;
}
"""
_TEMPLATES = """template <int N, int M> struct G {
    static int f() { return G<N - 1, 2 * M>::f() + G<N - 1, 2 * M + 1>::f(); }
};
template <int M> struct G<0, M> { static int f() { return M; } };
kernel void k(device int* o [[buffer(0)]]) { o[0] = G<24, 0>::f(); }
"""
_LARGE = f"kernel void k(device uint* a [[buffer(0)]], {_THREAD}) {{ a[i] += 1; }}\n"


def _cases() -> list[Case]:
    terms = " + x" * 500_000
    return [
        *[
            Case(what=f"{count} calls of sin", source=_sines(count), bar=max(3.0, count / 20))
            for count in (2, 16, 60, 128)
        ],
        Case(what="endless exchange", source=_SPIN),
        Case(what="endless barriers", source=_BARRIERS),
        Case(what="switch of 200 cases", source=_switch(200, "(r * {n}u) ^ {n}u")),
        Case(what="switch of 5,000 cases", source=_switch(5_000, "{n}u")),
        Case(what="table of 1,000,000", source=_table(1_000_000)),
        Case(what="exponential templates", source=_TEMPLATES),
        Case(
            what="a million tokens",
            source=f"kernel void k(device int* o) {{ int x = o[0]; o[0] = x{terms}; }}\n",
        ),
        Case(what="200 kernels", source=_many(200)),
        Case(
            what="a buffer of 2 GiB",
            source=_LARGE,
            arguments="[kernel.k]\nthreads = 1024\narguments.a = { bytes = 2147483648 }\n",
        ),
    ]

"""What it costs to record a kernel's threadgroups, against running the same ones plainly.

All threadgroups of a small grid are run both ways by one thread, so that both do the same work; the
time is the processor's, not the clock's, for others may use the machine too.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable

from assay.sim.simt import Recording, record

from .contenders import OnAssay
from .measure import Row
from .workloads import Workload, matrix_gemm, softmax, tiled_gemm, vector_add

COST_BAR = 10.0  # times the processor time of a plain run


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure everything; always by one thread."""
    workloads = (matrix_gemm(256), tiled_gemm(256), softmax(256), vector_add(1 << 19))
    return [_row(workload, repetitions) for workload in workloads]


def _row(workload: Workload, repetitions: int) -> Row:
    prepared = OnAssay(workload, workers=1)
    plain = _processor_seconds(prepared.run, repetitions)
    prepared.check()
    recorded = _processor_seconds(lambda: _record_all(prepared), repetitions)
    prepared.check()
    words = len(_record_all(prepared).words)
    return Row(
        what=workload.title,
        who="assay, recorded",
        seconds=recorded,
        rate=f"{words * 8 / 1e6:.1f} MB recorded",
        ratio=f"{recorded / plain:.2f} x plain",
        bar=f"<= {COST_BAR:g} x",
        passed=recorded <= COST_BAR * plain,
    )


def _record_all(prepared: OnAssay) -> Recording:
    workload = prepared.workload
    counts = (-(-n // s) for n, s in zip(workload.threads, workload.threadgroup, strict=True))
    x, y, z = (range(count) for count in counts)
    return record(
        prepared.executable,
        prepared.memory,
        prepared.addresses,
        threads=workload.threads,
        sample=[(i, j, k) for k, j, i in itertools.product(z, y, x)],
    )


def _processor_seconds(run: Callable[[], object], repetitions: int) -> float:
    run()
    times = []
    for _ in range(repetitions):
        start = time.thread_time()
        run()
        times.append(time.thread_time() - start)
    return statistics.median(times)

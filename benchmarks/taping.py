"""What timing costs, against running the same threadgroups plainly.

By one thread, and in the processor's time, not the clock's, for others may use the machine too.
First all threadgroups of a small grid are taped; then what a chip's sample of a larger one costs
to tape and to simulate, against a plain dispatch of as many threadgroups.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Sequence

from assay.hw.apple.core.sample import Position
from assay.hw.apple.core.sampled import sampled_dispatch, time_sampled
from assay.hw.apple.facts.chips import chip
from assay.sim.simt import Tape, tape_dispatch

from .contenders import OnAssay
from .measure import Row
from .workloads import Workload, matrix_gemm, softmax, tiled_gemm, vector_add

COST_BAR = 10.0  # times the processor time of a plain run
CHIP = "m4-max"


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure everything; always by one thread."""
    small = (matrix_gemm(256), tiled_gemm(256), softmax(256), vector_add(1 << 19))
    large = (matrix_gemm(1024), tiled_gemm(1024), softmax(1024), vector_add(1 << 21))
    return [
        *(_taped(workload, repetitions) for workload in small),
        *(_predicted(workload, repetitions) for workload in large),
    ]


def _taped(workload: Workload, repetitions: int) -> Row:
    prepared = OnAssay(workload, workers=1)
    plain = _processor_seconds(prepared.run, repetitions)
    prepared.check()
    x, y, z = (range(count) for count in _grid(workload))
    everything = [(i, j, k) for k, j, i in itertools.product(z, y, x)]
    taped = _processor_seconds(lambda: _tape(prepared, everything), repetitions)
    prepared.check()
    words = len(_tape(prepared, everything).words)
    rate = f"{words * 8 / 1e6:.1f} MB taped"
    return _row(workload, "assay, taped", taped, plain, rate)


def _predicted(workload: Workload, repetitions: int) -> Row:
    prepared = OnAssay(workload, workers=1)
    dispatch = sampled_dispatch(chip(CHIP), prepared.executable, _grid(workload))
    count = len(dispatch.sample.positions)

    def predict() -> float:
        return time_sampled(dispatch, lambda sample: _tape(prepared, sample)).extrapolated

    x, y, z = workload.threadgroup
    first = (count * x, y, z)  # as many threadgroups of the first row
    plain = _processor_seconds(lambda: prepared.run(threads=first), repetitions)
    predicted = _processor_seconds(predict, repetitions)
    rate = f"{count} threadgroups, {predict():.0%} extrapolated"
    return _row(workload, f"assay, timed on {CHIP}", predicted, plain, rate)


def _row(workload: Workload, who: str, seconds: float, plain: float, rate: str) -> Row:
    return Row(
        what=workload.title,
        who=who,
        seconds=seconds,
        rate=rate,
        ratio=f"{seconds / plain:.2f} x plain",
        bar=f"<= {COST_BAR:g} x",
        passed=seconds <= COST_BAR * plain,
    )


def _grid(workload: Workload) -> Position:
    x, y, z = (-(-n // s) for n, s in zip(workload.threads, workload.threadgroup, strict=True))
    return x, y, z


def _tape(prepared: OnAssay, positions: Sequence[Position]) -> Tape:
    return tape_dispatch(
        prepared.executable,
        prepared.memory,
        prepared.addresses,
        threads=prepared.workload.threads,
        sample=positions,
    )


def _processor_seconds(run: Callable[[], object], repetitions: int) -> float:
    run()
    times = []
    for _ in range(repetitions):
        start = time.thread_time()
        run()
        times.append(time.thread_time() - start)
    return statistics.median(times)

"""Kernels that `assay.foundry` makes, against those of this folder that are written by hand."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count

import numpy as np

from assay.compiler.foundry.formats import format_of
from assay.compiler.foundry.kernels import SILU, Compound, Declared, Epilogue
from assay.compiler.foundry.library import gemm, gemv, matmul
from assay.compiler.foundry.library.gemm import PLAIN, MatmulParams
from assay.compiler.foundry.pipelines import Pipeline
from assay.compiler.foundry.structs import pack
from assay.compiler.foundry.structs.names import FLOAT, HALF

from .contenders import OnAssay
from .measure import Row
from .workloads import Workload, matrix_gemm

SHARE = 0.9
"""Of the speed of the kernel written by hand."""
COMPILE_BAR = 0.3
"""Seconds from a declaration to a library, when its process has compiled before."""
PIPELINES: Mapping[str, Pipeline] = {
    "one buffer": replace(PLAIN, buffers=1),
    "two buffers": PLAIN,
    "three buffers": replace(PLAIN, buffers=3),
}


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure both."""
    return [*_products(threads, repetitions), *_compiled(repetitions)]


def _products(threads: int, repetitions: int) -> Iterator[Row]:
    """One run of each in turn, so that what else the machine does strikes all alike."""
    by_hand = matrix_gemm()
    made = {name: generated(by_hand, pipeline) for name, pipeline in PIPELINES.items()}
    contenders = {
        name: OnAssay(workload, workers=threads)
        for name, workload in {"by hand": by_hand, **made}.items()
    }
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(repetitions + 1):
        for name, contender in contenders.items():
            start = time.perf_counter()
            contender.run()
            if turn:  # the first one warms up
                times[name].append(time.perf_counter() - start)
    for name, contender in contenders.items():
        contender.check(name)
    seconds = {name: statistics.median(each) for name, each in times.items()}
    hand = seconds.pop("by hand")
    shares = {
        name: statistics.median(a / b for a, b in zip(times["by hand"], times[name], strict=True))
        for name in seconds
    }
    best = max(shares, key=lambda name: shares[name])
    yield Row(what=by_hand.title, who="by hand", seconds=hand, rate=by_hand.rate(hand))
    for name, found in seconds.items():
        is_best = name == best
        yield Row(
            what="",
            who=f"generated, {name}",
            seconds=found,
            rate=by_hand.rate(found),
            ratio=f"{shares[name]:.2f} of it",
            bar=f">= {SHARE:g}" if is_best else "",
            passed=shares[name] >= SHARE if is_best else None,
        )


def generated(by_hand: Workload, pipeline: Pipeline) -> Workload:
    """The same product by a kernel that a pipeline is declared for."""
    kernel, grid = matmul(HALF, pipeline=pipeline, output=FLOAT)
    a, b, c, _ = by_hand.buffers
    size = a.shape[0]
    params = MatmulParams(m=size, n=size, k=size, a_stride=0, b_stride=0)
    found = grid({"a": a, "b": b})
    x, y, z = (one * other for one, other in zip(found.threadgroups, found.threads, strict=True))
    return replace(
        by_hand,
        kernel=kernel.function,
        source=kernel.source,
        buffers=[a, b, c, np.frombuffer(pack(params), np.uint8)],
        threads=(x, y, z),
        threadgroup=found.threads,
    )


def _compiled(repetitions: int) -> Iterator[Row]:
    """Each is another text: what is kept of the others does not help it."""
    numbers = count(int(time.time() * 1000) % 1_000_000_000)

    def scale() -> Epilogue:
        return Epilogue("scale", f"value * {next(numbers)}.0f")

    def vector() -> Declared:
        return gemv(format_of("q4_k"), 64, HALF, epilogue=[SILU, scale()])[0]

    def matrix() -> Declared:
        return gemm(format_of("q4_k"), 64, HALF, epilogue=[SILU, scale()])[0]

    for what, make in (("GEMV", vector), ("GEMM", matrix)):
        assert isinstance(make(), Compound)
        times = []
        for turn in range(repetitions + 1):
            start = time.perf_counter()
            _ = make().library
            if turn:
                times.append(time.perf_counter() - start)
        seconds = statistics.median(times)
        yield Row(
            what=f"{what} of Q4_K and two epilogues, composed and compiled",
            who="assay",
            seconds=seconds,
            bar=f"< {COMPILE_BAR:g} s",
            passed=seconds < COMPILE_BAR,
        )

"""Kernels in MSL on Assay against the same in OpenCL C on PoCL, and against OpenBLAS."""

from __future__ import annotations

import statistics

from .contenders import OnAssay, Timing, against_pocl, plain_rows, pocl
from .measure import Row
from .openblas import openblas
from .turns import Rounds, by_turns, shares
from .workloads import BY_KERNEL, SIZES, Workload, matrix_gemm

# How many times as fast as the best PoCL a kernel has to be, and the share of OpenBLAS's speed.
POCL_BARS = {"tiled_gemm": 2.0, "softmax_rows": 1.0, "vector_add": 1.0}
OPENBLAS_SHARE = 0.60
# Rounds of products for each of the repetitions, and how many of each are in one.
_ROUNDS, _IN_A_ROUND = 5, 2


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure everything."""
    found: list[Row] = []
    with pocl(threads) as peers:
        for kernel, size in SIZES.items():
            workload = BY_KERNEL[kernel](size)
            prepared = OnAssay(workload, workers=threads)
            row, others = against_pocl(
                workload,
                prepared.run,
                peers(kernel, size),
                who="assay",
                bar=POCL_BARS[kernel],
                repetitions=repetitions,
            )
            prepared.check()
            found += [row, *plain_rows(workload, others)]
    return found + _against_openblas(threads, repetitions)


def _against_openblas(threads: int, repetitions: int) -> list[Row]:
    prepared = [
        OnAssay(each, workers=threads) for each in (matrix_gemm(), matrix_gemm(unrolled=True))
    ]
    ours = {each.workload.title: each for each in prepared}
    size = prepared[0].workload.buffers[0].shape[0]
    with openblas(size, threads=threads) as peers:
        runs = {title: each.run for title, each in ours.items()}
        found = by_turns(runs, peers, rounds=_ROUNDS * repetitions, repetitions=_IN_A_ROUND)
    for each in prepared:
        each.check()
    workload = prepared[0].workload
    medians = [Timing(who=who, seconds=statistics.median(found[who])) for who in peers]
    return [
        *(_of_openblas(each.workload, found, list(peers)) for each in prepared),
        *plain_rows(workload, medians),
    ]


def _of_openblas(workload: Workload, found: Rounds, peers: list[str]) -> Row:
    """A row with the share of OpenBLAS's speed: the median of all rounds, and their range."""
    seconds = statistics.median(found[workload.title])
    all_shares = shares(found, workload.title, peers)
    share = statistics.median(all_shares)
    return Row(
        what=workload.title,
        who="assay",
        seconds=seconds,
        rate=workload.rate(seconds),
        ratio=f"{share:.1%} of OpenBLAS ({min(all_shares):.0%} to {max(all_shares):.0%})",
        bar=f">= {OPENBLAS_SHARE:.0%}",
        passed=share >= OPENBLAS_SHARE,
    )

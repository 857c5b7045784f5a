"""Kernels in MSL on Assay against the same in OpenCL C on PoCL, and against OpenBLAS."""

from __future__ import annotations

from .contenders import Timing, on_assay, openblas_timings, pocl_timings
from .measure import Row
from .workloads import Workload, matrix_gemm, softmax, tiled_gemm, vector_add

# How many times as fast as the best PoCL a kernel has to be, and the share of OpenBLAS's speed.
POCL_BARS = {"tiled_gemm": 2.0, "softmax_rows": 1.0, "vector_add": 1.0}
OPENBLAS_SHARE = 0.60


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure everything."""
    peers = pocl_timings(threads=threads, repetitions=repetitions)
    found: list[Row] = []
    for workload in (tiled_gemm(), softmax(), vector_add()):
        ours = on_assay(workload, workers=threads, repetitions=repetitions)
        found += _against_pocl(workload, ours, peers.get(workload.kernel, []))
    return found + _against_openblas(threads, repetitions)


def _against_pocl(workload: Workload, ours: Timing, peers: list[Timing]) -> list[Row]:
    bar = POCL_BARS[workload.kernel]
    best = min(peers, key=lambda peer: peer.seconds, default=None)
    ratio = best.seconds / ours.seconds if best else 0.0
    first = Row(
        what=workload.title,
        who=ours.who,
        seconds=ours.seconds,
        rate=workload.rate(ours.seconds),
        ratio=f"{ratio:.2f} x {best.who}" if best else "no PoCL here",
        bar=f">= {bar:g} x",
        passed=ratio >= bar if best else None,
    )
    return [first, *_others(workload, peers)]


def _others(workload: Workload, peers: list[Timing]) -> list[Row]:
    return [
        Row(what="", who=p.who, seconds=p.seconds, rate=workload.rate(p.seconds)) for p in peers
    ]


def _against_openblas(threads: int, repetitions: int) -> list[Row]:
    workloads = [matrix_gemm(), matrix_gemm(unrolled=True)]
    times = [on_assay(each, workers=threads, repetitions=repetitions) for each in workloads]
    size = workloads[0].buffers[0].shape[0]
    peers = openblas_timings(size, threads=threads, repetitions=max(repetitions, 5))
    best = min(peer.seconds for peer in peers)
    found = []
    for workload, ours in zip(workloads, times, strict=True):
        share = best / ours.seconds
        found.append(
            Row(
                what=workload.title,
                who=ours.who,
                seconds=ours.seconds,
                rate=workload.rate(ours.seconds),
                ratio=f"{share:.1%} of OpenBLAS",
                bar=f">= {OPENBLAS_SHARE:.0%}",
                passed=share >= OPENBLAS_SHARE,
            )
        )
    return [*found, *_others(workloads[0], peers)]

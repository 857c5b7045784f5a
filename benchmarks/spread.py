"""How much a kernel's time differs from one process to the next, where nothing but chance does.

Each process has its stack, heap and code somewhere else; what lies before the stack, the variables
of the environment, is of another length each time.
"""

from __future__ import annotations

import json
import random
import sys
import time

from .contenders import OnAssay, peer
from .measure import Row
from .workloads import SIZES, tiled_gemm

PROCESSES = 12
SPREAD_BAR = 1.15  # the slowest process's time, as a multiple of the fastest one's
_SEED = 11
_MOST_BYTES = 4096


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure a tiled GEMM in fresh processes, on one thread each: processor time."""
    del threads
    chance = random.Random(_SEED)
    found = []
    for _ in range(PROCESSES):
        padding = {"ASSAY_BENCHMARK_PADDING": "x" * chance.randrange(_MOST_BYTES)}
        measured = peer(["benchmarks.spread", str(repetitions)], padding)
        if measured is not None:
            found.append(measured["seconds"])
    return [spread_row(found)]


def spread_row(seconds: list[float]) -> Row:
    """The row about the fastest and the slowest process."""
    work = tiled_gemm(SIZES["tiled_gemm"])
    fastest, slowest = min(seconds), max(seconds)
    return Row(
        what=f"{work.title}, {len(seconds)} processes",
        who="assay, slowest",
        seconds=slowest,
        rate=work.rate(slowest),
        ratio=f"{slowest / fastest:.2f} x the fastest",
        bar=f"<= {SPREAD_BAR:g} x",
        passed=slowest <= SPREAD_BAR * fastest,
    )


def main() -> None:
    """Print the median processor time of one dispatch, as JSON."""
    prepared = OnAssay(tiled_gemm(SIZES["tiled_gemm"]), workers=1)
    prepared.run()
    taken = []
    for _ in range(max(int(sys.argv[1]), 3)):
        start = time.process_time()
        prepared.run()
        taken.append(time.process_time() - start)
    print(json.dumps({"seconds": sorted(taken)[len(taken) // 2]}))


if __name__ == "__main__":
    main()

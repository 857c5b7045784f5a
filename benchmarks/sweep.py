"""A sweep of 500 points: in processes, and by a Dask cluster with as many workers here."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.sweeps.declaration import space
from assay.sweeps.running import sweep

from .measure import Row

POINTS = 500
MOST_SECONDS = 600
WORKERS = 2
"""Both bars are stated for two cores."""
REPETITIONS = 3  # at most
MOST_TIMES = 1.05
"""What Dask may take against processes: not more, but for what repetitions differ by."""
SPACE: dict[str, Any] = {
    "name": "500 points",
    "caches": "cold",
    "axes": {
        "chip": ["m1", "m2-max", "m4-max", "m5"],
        "sizes": [
            [1, 4096, 4096],
            [16, 4096, 4096],
            [64, 4096, 4096],
            [128, 2048, 4096],
            [512, 1024, 1024],
        ],
        "variant": [
            "single",
            "two_stages",
            "three_stages",
            "divergent",
            "three_stages_divergent",
            "fused",
            "hybrid",
            "decode",
            "decode_hybrid",
        ],
    },
    "variants": {
        "gemm": {"tile": ["64x64x32", "64x64x16", "32x64x32", "32x32x32"], "stages": [2, 3]},
        "gemv_columns": {"rows_per_lane": [2, 4], "simdgroups": [8, 16], "unroll": [2, 4]},
    },
}


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Both take turns; the fastest of three runs counts, and all rows are to be the same."""
    declared = space(SPACE)
    if len(declared.points) != POINTS:
        raise AssertionError(f"the space has {len(declared.points)} points")
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        tempfile.TemporaryDirectory() as folder,
    ):
        ways: dict[str, dict[str, Any]] = {
            "processes": {"workers": WORKERS},
            "Dask": {"scheduler": cluster.scheduler_address},
        }
        seconds = dict.fromkeys(ways, float("inf"))
        tables = set()
        for number in range(min(repetitions, REPETITIONS)):
            for who, how in ways.items():
                # A cluster that has run this before has its kernels compiled: it starts anew.
                if who == "Dask":
                    cluster.get_client().restart()
                place = Path(folder, f"{who}{number}")
                took = _timed(lambda how=how, place=place: sweep(declared, place, **how))  # type: ignore[misc]
                seconds[who] = min(seconds[who], took)
                tables.add((place / "sweep.parquet").read_bytes())
    if len(tables) != 1:
        raise AssertionError("rows differ")
    return list(_rows(seconds))


def _rows(seconds: dict[str, float]) -> list[Row]:
    times = seconds["Dask"] / seconds["processes"]
    return [
        Row(
            what=f"{POINTS} points",
            who=f"{WORKERS} processes",
            seconds=seconds["processes"],
            rate=f"{POINTS / seconds['processes']:.1f} points/s",
            bar=f"< {MOST_SECONDS} s",
            passed=seconds["processes"] < MOST_SECONDS,
        ),
        Row(
            what="",
            who=f"Dask, {WORKERS} workers",
            seconds=seconds["Dask"],
            rate=f"{POINTS / seconds['Dask']:.1f} points/s",
            ratio=f"{times:.2f} x processes",
            bar=f"<= {MOST_TIMES:g} x",
            passed=times <= MOST_TIMES,
        ),
    ]


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start

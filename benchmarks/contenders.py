"""Runs workloads on Assay, and on PoCL and OpenBLAS in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np

from assay.compiler.msl import compile_library
from assay.hal.metal.emulated.memory import zeroed
from assay.sim.simt import Memory, dispatch

from .measure import median_seconds
from .sources import MATRIX_MSL, MSL
from .workloads import Array, Workload

_TIMEOUT = 600  # seconds for one peer


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Who ran a workload, and how long it took: the median, in seconds."""

    who: str
    seconds: float


def on_assay(workload: Workload, *, workers: int, repetitions: int) -> Timing:
    """The workload's MSL kernel by this package's compiler and engine."""
    source = MATRIX_MSL if workload.kernel == "matrix_gemm" else MSL
    program = compile_library(source).function(workload.kernel).program()
    executable = program.specialise(workload.threadgroup)
    memory = Memory()
    arrays = [_in_device_memory(buffer) for buffer in workload.buffers]
    addresses = [
        memory.register(array.reshape(-1).view(np.uint8), name=f"buffer {number}")
        for number, array in enumerate(arrays)
    ]

    def run() -> None:
        dispatch(executable, memory, addresses, threads=workload.threads, workers=workers)

    seconds = median_seconds(run, repetitions)
    workload.check(arrays[workload.result], "assay")
    return Timing(who="assay", seconds=seconds)


def _in_device_memory(array: Array) -> Array:
    """A copy where the emulated device puts its buffers; PoCL copies to its own likewise."""
    room = zeroed("benchmark", array.nbytes, array.nbytes, 0)
    copy = room.view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _peer(arguments: list[str], environment: dict[str, str]) -> dict[str, float] | None:
    """What a peer process reports as JSON on its last line; None, with its words, if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
    )
    if done.returncode:
        lines = (done.stderr.strip() or "no message").splitlines()
        print(f"{' '.join(arguments)}: does not run here: {lines[-1]}", file=sys.stderr)
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def openblas_seconds(size: int, *, threads: int, repetitions: int) -> float:
    """Median seconds of NumPy's f32 matrix product on so many threads."""
    environment = {name: str(threads) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    found = _peer(["benchmarks.peer_blas", str(size), str(repetitions)], environment)
    if found is None:
        raise SystemExit("NumPy's matrix product could not be measured; the reason is above")
    return found["seconds"]


def pocl_timings(*, threads: int, repetitions: int) -> dict[str, list[Timing]]:
    """Timings by kernel for every installed PoCL and method; empty if there is none."""
    platforms = _peer(["benchmarks.peer_pocl", "list"], {}) or {}
    timings: dict[str, list[Timing]] = {}
    for platform in platforms:
        for method in ("default", "cbs"):
            environment = {
                "POCL_MAX_PTHREAD_COUNT": str(threads),
                "POCL_CPU_MAX_CU_COUNT": str(threads),
            }
            if method != "default":
                environment["POCL_WORK_GROUP_METHOD"] = method
            arguments = ["benchmarks.peer_pocl", "run", platform, str(repetitions)]
            for kernel, seconds in (_peer(arguments, environment) or {}).items():
                who = f"{platform}, {method}"
                timings.setdefault(kernel, []).append(Timing(who=who, seconds=seconds))
    return timings

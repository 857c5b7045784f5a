"""Runs workloads on Assay, and on PoCL in processes of their own."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import numpy as np

from assay.compiler.msl import compile_library
from assay.hal.metal.emulated.resources.memory import zeroed
from assay.sim.check import Checker
from assay.sim.simt import Memory, dispatch

from .measure import Row, median_seconds
from .sources import MATRIX_MSL, MSL
from .turns import Measure, asked, by_turns, fastest, shares
from .workloads import Array, Size, Workload

_TIMEOUT = 600  # seconds for one peer
_TRIAL = "vector_add 1024 1"
_PAUSE = 0.05  # seconds: threads of a peer may wait for more at full speed for a while
_ROUNDS = 2  # for each of the repetitions
_ROUND = 0.08  # seconds of each in one, at least: a processor that was idle is slow at first
_LEAST_RUNS, _MOST_RUNS = 3, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Who ran a workload, and how long it took: the median, in seconds."""

    who: str
    seconds: float


class OnAssay:
    """A workload's MSL kernel, compiled by this package and with its buffers in device memory."""

    def __init__(self, workload: Workload, *, workers: int) -> None:
        own = MATRIX_MSL if workload.kernel == "matrix_gemm" else MSL
        source = own if workload.source is None else workload.source
        program = compile_library(source).function(workload.kernel).program()
        self.workload = workload
        self._workers = workers
        self.executable = program.specialise(workload.threadgroup)
        self.memory = Memory()
        self._arrays = [_in_device_memory(buffer) for buffer in workload.buffers]
        self.addresses = [
            self.memory.register(array.reshape(-1).view(np.uint8), name=f"buffer {number}")
            for number, array in enumerate(self._arrays)
        ]

    def run(self, checker: Checker | None = None, threads: Size | None = None) -> None:
        """Run the kernel once; with a checker, under its checks; on fewer threads, if so told."""
        dispatch(
            self.executable,
            self.memory,
            self.addresses,
            threads=threads or self.workload.threads,
            workers=self._workers,
            checker=checker,
        )

    def check(self, who: str = "assay") -> None:
        """Compare the result with NumPy's; see `Workload.check`."""
        self.workload.check(self._arrays[self.workload.result], who)


def on_assay(workload: Workload, *, workers: int, repetitions: int) -> Timing:
    """The workload by this package's compiler and engine."""
    prepared = OnAssay(workload, workers=workers)
    seconds = median_seconds(prepared.run, repetitions)
    prepared.check()
    return Timing(who="assay", seconds=seconds)


def _in_device_memory(array: Array) -> Array:
    """A copy where the emulated device puts its buffers; PoCL copies to its own likewise."""
    room = zeroed("benchmark", array.nbytes, array.nbytes, 0)
    copy = room.view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def peer(
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    launcher: Sequence[str] = (),
    timeout: float = _TIMEOUT,
) -> dict[str, float] | None:
    """What a Python module in a process of its own reports as JSON on its last line.

    None, and its words are printed, if it fails or takes more than `timeout` seconds. `launcher`
    is a command that starts the process.
    """
    what = " ".join([*launcher[:1], *arguments])
    try:
        done = subprocess.run(
            [*launcher, sys.executable, "-m", *arguments],
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        print(f"{what}: not done after {timeout:g} s", file=sys.stderr)
        return None
    if done.returncode:
        lines = (done.stderr.strip() or "no message").splitlines()
        print(f"{what}: does not run here: {lines[-1]}", file=sys.stderr)
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@contextmanager
def pocl(threads: int) -> Iterator[Callable[[str, int], dict[str, Measure]]]:
    """How each installed PoCL, by each of its methods, measures a kernel of a size.

    Each runs in a process of its own, which sleeps while others are measured.
    """
    platforms = peer(["benchmarks.peer_pocl", "list"]) or {}
    environment = {"POCL_MAX_PTHREAD_COUNT": str(threads), "POCL_CPU_MAX_CU_COUNT": str(threads)}
    found: dict[str, Callable[[str], float]] = {}
    with ExitStack() as processes:
        for platform in platforms:
            for method in ("default", "cbs"):
                chosen = {} if method == "default" else {"POCL_WORK_GROUP_METHOD": method}
                arguments = ["-m", "benchmarks.peer_pocl", "run", platform]
                process = asked(arguments, environment | chosen, trial=_TRIAL, pause=_PAUSE)
                ask = processes.enter_context(process)
                if ask is not None:
                    found[f"{platform}, {method}"] = ask
        yield lambda kernel, size: {
            who: _measuring(ask, f"{kernel} {size}") for who, ask in found.items()
        }


def runs_for(run: Callable[[], object]) -> int:
    """How often to run something so that it takes a while."""
    one = median_seconds(run, 1)
    return max(_LEAST_RUNS, min(math.ceil(_ROUND / max(one, 1e-9)), _MOST_RUNS))


def _measuring(ask: Callable[[str], float], what: str) -> Measure:
    return lambda repetitions: ask(f"{what} {repetitions}")


def against_pocl(
    workload: Workload,
    ours: Callable[[], object],
    peers: Mapping[str, Measure],
    *,
    who: str,
    bar: float,
    repetitions: int,
) -> tuple[Row, list[Timing]]:
    """A row with how fast we are beside the fastest PoCL, by turns; and what each of these takes.

    The ratio is the median of all rounds', with their range.
    """
    runs = runs_for(ours)
    rounds = by_turns({who: ours}, peers, rounds=_ROUNDS * repetitions, repetitions=runs)
    seconds = statistics.median(rounds[who])
    others = [Timing(who=each, seconds=statistics.median(rounds[each])) for each in peers]
    row = Row(
        what=workload.title,
        who=who,
        seconds=seconds,
        rate=workload.rate(seconds),
        ratio="no PoCL here",
        bar=f">= {bar:g} x",
    )
    if peers:
        ratios = shares(rounds, who, list(peers))
        ratio, best = statistics.median(ratios), fastest(rounds, list(peers))
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        row = replace(row, ratio=f"{ratio:.2f} x {best} ({spread})", passed=ratio >= bar)
    return row, others


def plain_rows(workload: Workload, timings: Sequence[Timing]) -> list[Row]:
    """Rows that are held against no bar."""
    return [
        Row(what="", who=t.who, seconds=t.seconds, rate=workload.rate(t.seconds)) for t in timings
    ]

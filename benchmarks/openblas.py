"""OpenBLAS's product of matrices, by turns with ours.

Processors change their speed within seconds, with what else runs on the machine and with what their
widest instructions cost: what is measured in one stretch and compared with what was measured in the
next is a measure of that, too. So each round measures all, and a share is that of a round.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from threading import Timer

from assay.sim.native.llvm_host import has_wide_registers

from .measure import median_seconds

Measure = Callable[[int], float]
"""The median seconds of so many runs, after one that is not counted."""
Rounds = dict[str, list[float]]
_PAUSE = 0.2  # seconds: the threads of OpenBLAS wait for the next product at full speed for a while
_MOST = 120.0  # seconds that one answer may take: an OpenBLAS that knows no such processor may hang


@contextmanager
def openblas(size: int, *, threads: int) -> Iterator[dict[str, Measure]]:
    """NumPy's f32 matrix product on so many threads, by each kernel that may be the fastest here.

    OpenBLAS chooses one by the processor, unless `OPENBLAS_CORETYPE` names it. A setting may be for
    a smaller processor, and an OpenBLAS may not know a newer one, so neither alone is fair.

    Raises:
        SystemExit: if none runs here.
    """
    chosen = ["", os.environ.get("OPENBLAS_CORETYPE", "")]
    if has_wide_registers():
        chosen.append("SkylakeX")
    with ExitStack() as processes:
        found = {
            f"OpenBLAS sgemm, {core or 'its own choice'}": measure
            for core in dict.fromkeys(chosen)
            if (measure := processes.enter_context(_asked(size, threads, core))) is not None
        }
        if not found:
            raise SystemExit("NumPy's matrix product could not be measured; the reason is above")
        yield found


@contextmanager
def _asked(size: int, threads: int, core: str) -> Iterator[Measure | None]:
    """A process that multiplies when it is asked to; None if it does not."""
    environment = {name: str(threads) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.peer_blas", str(size)],
        env={**os.environ, **environment, "OPENBLAS_CORETYPE": core},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    ask, answer = process.stdin, process.stdout

    def measure(repetitions: int) -> float:
        late = Timer(_MOST, process.kill)  # whose answer then is none
        late.start()
        try:
            ask.write(f"{repetitions}\n")
            ask.flush()
            seconds: float = json.loads(answer.readline())["seconds"]
        finally:
            late.cancel()
        time.sleep(_PAUSE)
        return seconds

    try:
        measure(1)
    except (OSError, ValueError):
        print(f"OpenBLAS {core}: does not run here", file=sys.stderr)
        yield None
    else:
        yield measure
    finally:
        process.kill()
        process.communicate()


def by_turns(
    ours: Mapping[str, Callable[[], object]],
    peers: Mapping[str, Measure],
    *,
    rounds: int,
    repetitions: int,
) -> Rounds:
    """Seconds of each in each round: the median of some runs, after one that is not counted."""
    found: Rounds = {who: [] for who in (*ours, *peers)}
    for _ in range(rounds):
        for who, run in ours.items():
            found[who].append(median_seconds(run, repetitions))
        for who, measure in peers.items():
            found[who].append(measure(repetitions))
    return found


def shares(seconds: Rounds, who: str, peers: Sequence[str]) -> list[float]:
    """Which part of the speed of the fastest peer somebody has, round by round."""
    best = min(peers, key=lambda each: statistics.median(seconds[each]))
    return [of / mine for of, mine in zip(seconds[best], seconds[who], strict=True)]

"""OpenBLAS's product of matrices, by turns with ours."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from assay.sim.native.llvm_host import has_wide_registers

from .avx2 import is_limited
from .turns import Measure, asked

_PAUSE = 0.2  # seconds: the threads of OpenBLAS wait for the next product at full speed for a while


@contextmanager
def openblas(size: int, *, threads: int) -> Iterator[dict[str, Measure]]:
    """NumPy's f32 matrix product on so many threads, by each kernel that may be the fastest here.

    OpenBLAS chooses one by the processor, unless `OPENBLAS_CORETYPE` names it. A setting may be for
    a smaller processor, and an OpenBLAS may not know a newer one, so neither alone is fair.

    Raises:
        SystemExit: if none runs here.
    """
    chosen = ["", os.environ.get("OPENBLAS_CORETYPE", "")]
    if is_limited():
        chosen = chosen[1:]
    elif has_wide_registers():
        chosen.append("SkylakeX")
    with ExitStack() as processes:
        found = {
            f"OpenBLAS sgemm, {core or 'its own choice'}": measure
            for core in dict.fromkeys(chosen)
            if (measure := processes.enter_context(_multiplying(size, threads, core))) is not None
        }
        if not found:
            raise SystemExit("NumPy's matrix product could not be measured; the reason is above")
        yield found


@contextmanager
def _multiplying(size: int, threads: int, core: str) -> Iterator[Measure | None]:
    """A process that multiplies when it is asked to; None if it does not."""
    environment = {name: str(threads) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    environment["OPENBLAS_CORETYPE"] = core
    arguments = ["-m", "benchmarks.peer_blas", str(size)]
    with asked(arguments, environment, trial="1", pause=_PAUSE) as ask:
        if ask is None:
            print(f"OpenBLAS {core}: does not run here", file=sys.stderr)
            yield None
        else:
            yield lambda repetitions: ask(str(repetitions))

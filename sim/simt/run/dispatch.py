"""Runs a specialised kernel over a grid, on all cores, with results that do not depend on them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...check.checker import Checker
from .accesses import AccessLog
from .boxes import Size
from .executable import Executable
from .grid import Grid
from .memory import Memory
from .observation import Observation, shadows_of
from .settings import default_workers
from .watch_report import report_findings

# Watched dispatches up to this size run in order, so that their findings have the same examples.
_ORDERED_SIMDGROUPS = 1 << 12


def dispatch(
    executable: Executable,
    memory: Memory,
    arguments: Sequence[int],
    threads: Size | None = None,
    threadgroups: Size | None = None,
    *,
    workers: int | None = None,
    fuel: int | None = None,
    checker: Checker | None = None,
    accesses: AccessLog | None = None,
) -> None:
    """Run a kernel to its end.

    Args:
        executable: the kernel for its threadgroup size.
        memory: the device's buffers.
        arguments: for each parameter the GPU address of a buffer (0: none bound), or the byte
            length of a threadgroup argument.
        threads: grid in threads; threadgroups at the edges are smaller if it is no multiple.
        threadgroups: grid in threadgroups. Exactly one of the two is given.
        workers: threads to use; `ASSAY_WORKERS` or the number of cores if None.
        fuel: IR instructions that a simdgroup may run; `ASSAY_FUEL` or 2**34 if None.
        checker: what the kernel is checked for while it runs; findings are reported to it.
        accesses: takes which bytes of buffers the kernel touched, if races are checked.

    Raises:
        KernelFault: if the kernel accessed memory that is not there, or did not end.
        DispatchError: if the arguments or sizes do not fit.
    """
    grid = Grid.of(executable, memory, arguments, threads, threadgroups, fuel, checker)
    if workers is None:
        workers = default_workers()
    if checker is None or not checker.observers:
        grid.run(workers)
        return
    total = math.prod(grid.launch.groups) * grid.executable.shape.simdgroups
    if total <= _ORDERED_SIMDGROUPS or checker.seed is not None:
        workers = 1
    # Another dispatch may be watched at the same time by the same checker, from another thread.
    with shadows_of(checker, memory).turn:
        watched = Observation(
            checker, memory, arguments, grid.executable, accesses, has_locks=workers > 1
        )
        grid.launch.observation = watched
        try:
            grid.run(workers)
        finally:
            report_findings(watched, grid.boxes, grid.launch.groups)
            if accesses is not None:
                accesses.take(watched, grid.executable)

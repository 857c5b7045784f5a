"""Which lines of a kernel write which bytes, found by running a dispatch once more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.sim.check import Checker

from ..resources.residency import within
from ..worker import at_work, running
from .timing import kept, threadgroups_in

if TYPE_CHECKING:
    from assay.sim.simt.run.accesses import Accesses

    from ..device import MTLDevice
    from .commands import DispatchCommand


def accesses_of(device: MTLDevice, command: DispatchCommand) -> Sequence[Accesses]:
    """What the dispatch reads and writes, where in the source. Buffers are left as they were.

    Raises KernelFault like the dispatch itself.
    """
    from assay.sim.simt.run.accesses import AccessLog

    checker = Checker({"race"})
    groups = math.prod(threadgroups_in(command))
    executable = command.pipeline.watched_executable(
        command.threads_per_threadgroup, checker.observers, groups
    )
    log = AccessLog(lambda handle: True)
    with at_work(running), within(command.reach, device) as memory, kept(command, memory):
        command.run_on_engine(device, memory, executable, checker, log)
    return log.found

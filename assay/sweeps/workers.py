"""Who measures points: processes of this machine, or the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable

from assay.sim.simt.run.settings import default_workers

from .cluster import Cluster
from .errors import SweepError
from .processes import Processes

Progress = Callable[[int, int], None]
"""Told how many there are, and how many there will be."""
Workers = Processes | Cluster


def workers_of(count: int | None, scheduler: str | None) -> Workers:
    """Processes, or the workers of a scheduler. Raises SweepError."""
    if scheduler is not None:
        if count is not None:
            raise SweepError("workers are those of the scheduler; give one of both")
        return Cluster(scheduler)
    if count is not None and count < 1:
        raise SweepError(f"{count} workers: expected 1 or more")
    return Processes(count or default_workers())

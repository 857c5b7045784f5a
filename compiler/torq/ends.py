"""Where a program of the NSS ends before the last task, and the host starts the next one.

At an end nothing is under way: the host waits for the NSS, not for DMA or slices. What LRAM holds
stays there, the first commands of the next program among it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.hw.torq.words.commands import NssTask

_Units = frozenset[str]
_NONE: _Units = frozenset()


def with_ends(groups: Sequence[Sequence[NssTask]], count: int) -> list[list[NssTask]]:
    """Tasks by block, of which every `count`th waits at its end for all that is under way.

    A wait that comes later for what an end has waited for is taken away: nothing would end it.
    """
    made: list[list[NssTask]] = []
    busy, idle = _NONE, _NONE
    for number, group in enumerate(groups):
        tasks = list[NssTask]()
        for task in group:
            starts, waits = _started(task), _waited(task)
            idle -= starts
            left = waits - idle
            idle -= waits
            busy = (busy | starts) - left
            tasks.append(_waiting(task, left))
        if (number + 1) % count == 0 and number + 1 < len(groups):
            tasks[-1] = _waiting(tasks[-1], _waited(tasks[-1]) | busy)
            busy, idle = _NONE, idle | busy
        made.append(tasks)
    return made


def _started(task: NssTask) -> _Units:
    flags = (task.dma_xr_start, task.dma_xw_start, *task.slc_start)
    return _named(flags)


def _waited(task: NssTask) -> _Units:
    flags = (task.dma_xr_wait, task.dma_xw_wait, *task.slc_wait)
    return _named(flags)


def _named(flags: Sequence[bool]) -> _Units:
    units = ("XR", "XW", "SLC0", "SLC1")
    return frozenset(unit for unit, flag in zip(units, flags, strict=True) if flag)


def _waiting(task: NssTask, units: _Units) -> NssTask:
    """The task with waits for these units."""
    return replace(
        task,
        dma_xr_wait="XR" in units,
        dma_xw_wait="XW" in units,
        slc_wait=("SLC0" in units, "SLC1" in units),
    )

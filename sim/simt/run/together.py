"""Runs several grids that nothing orders: where one leaves threads idle, the next one begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from .board import run_parts
from .boxes import Size
from .executable import Executable
from .grid import Grid
from .hazards import Uses
from .memory import Memory
from .settings import default_workers

# Grids that run at the same time: each is compared with all before it.
_MOST_GRIDS: Final = 16


@dataclass(slots=True)
class Request:
    """What `dispatch` takes for one grid."""

    executable: Executable
    memory: Memory
    arguments: Sequence[int]
    threads: Size | None
    threadgroups: Size | None


def dispatch_together(
    requests: Sequence[Request], *, workers: int | None = None, fuel: int | None = None
) -> None:
    """Run grids, with the results that they have one after another.

    At the same time run those of which none writes a buffer that another one uses, as far as
    buffers are bound to them. In which order they reach what they find through addresses in memory
    is open.

    Args:
        requests: in the order in which they were asked for.
        workers: threads to use; `ASSAY_WORKERS` or the number of cores if None.
        fuel: as for `dispatch`.

    Raises:
        KernelFault: the first one, in that order. Grids behind it may have run in part.
        DispatchError: if arguments or sizes do not fit, after the grids before have run.
    """
    if workers is None:
        workers = default_workers()
    grids, error = _made(requests, fuel)
    for batch in _batches(grids) if workers > 1 else ([grid] for grid in grids):
        _run(batch, workers)
    if error is not None:
        raise error


def _made(requests: Sequence[Request], fuel: int | None) -> tuple[list[Grid], Exception | None]:
    """The grids, up to the first that cannot be made, and why it cannot."""
    grids: list[Grid] = []
    for each in requests:
        try:
            grid = Grid.of(
                each.executable,
                each.memory,
                each.arguments,
                each.threads,
                each.threadgroups,
                fuel,
            )
        except Exception as error:
            return grids, error
        grids.append(grid)
    return grids, None


def _batches(grids: Sequence[Grid]) -> Iterator[list[Grid]]:
    """Neighbours that may run at the same time."""
    batch: list[Grid] = []
    uses: Uses | None = None
    for grid in grids:
        its = Uses(grid)
        if uses is None or len(batch) == _MOST_GRIDS or not uses.admit(its):
            if batch:
                yield batch
            batch, uses = [], its
        batch.append(grid)
    if batch:
        yield batch


def _run(grids: Sequence[Grid], workers: int) -> None:
    """Run grids at the same time. Raises the first KernelFault."""
    if len(grids) == 1:
        grids[0].run(workers)
        return
    owned = [(number, part) for number, grid in enumerate(grids) for part in grid.parts]
    failure = run_parts([part for _, part in owned], workers)
    if failure is None:
        return
    number = owned[failure.number][0]
    grids[number].explain(failure, workers)
    for grid in grids[number + 1 :]:
        grid.run(workers)

"""`assay.sweep`: all points of a space, in parallel, kept as they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.hw.apple.core.sample import WAVES

from ..tracebacks import ends_in_caller
from .declaration import read_space
from .declaration import space as space_of
from .points import Space
from .rows import Row, whole_row
from .store import Store
from .workers import Progress, workers_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """A finished sweep.

    Attributes:
        space: what was tried.
        rows: one for each point in the space's order, by column.
        table: the Parquet file that has them.
        measured: how many of them were not there before.
    """

    space: Space
    rows: Sequence[Row] = field(repr=False)
    table: Path
    measured: int

    @property
    def failures(self) -> list[Row]:
        """Rows without a time; `reason` says why."""
        return [row for row in self.rows if row["status"] != "ok"]

    def save_page(self, path: str | Path) -> None:
        """Write the page: one HTML file that needs no network."""
        from .page import page

        Path(path).write_text(page(self.space.name, self.rows), encoding="utf-8")


@ends_in_caller
def sweep(
    space: Space | Mapping[str, Any] | str | Path,
    folder: str | Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> SweepResult:
    """Predict all points of a space; called again after an end of any kind, it goes on.

    Args:
        space: a declared space, a declaration as a dict, or the path of a `.toml` or `.py` file.
        folder: where rows are kept: `sweep.parquet` when all are there.
        workers: processes, as many as the machine has cores when not given.
        scheduler: address of a Dask scheduler, whose workers are taken instead.
        progress: told how many rows there are, and how many there will be.

    Raises:
        SweepError: for a space, a folder or a scheduler that cannot be used.
    """
    declared = as_space(space)
    store = Store(Path(folder), declared)
    missing = [point for point in declared.points if not store.has(point.key)]
    total = len(declared.points)
    done = total - len(missing)
    if progress is not None:
        progress(done, total)
    with workers_of(workers, scheduler) as working:
        for rows in working.measure(missing, WAVES):
            store.append([whole_row(point, row, store.columns) for point, row in rows])
            done += len(rows)
            if progress is not None:
                progress(done, total)
    store.finish()
    return SweepResult(space=declared, rows=store.rows(), table=store.table, measured=len(missing))


def as_space(given: Space | Mapping[str, Any] | str | Path) -> Space:
    """A space however it is given. Raises SweepError."""
    if isinstance(given, Space):
        return given
    return space_of(given) if isinstance(given, Mapping) else read_space(Path(given))

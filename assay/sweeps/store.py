"""Rows on disk: a folder of Parquet files while a sweep runs, one file when it is done.

    FOLDER/parts/*.parquet   rows as they came; each file is whole or is not there
    FOLDER/sweep.parquet     all rows of the space in its order, once all are there

A row is known by the key of its point, so that nothing is measured twice, whoever was killed when.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final
from uuid import uuid4

from .errors import SweepError
from .points import Space
from .rows import LOST, Row, arrow, columns_of, rows_of, table_of

_MOST_PARTS: Final = 128
TABLE: Final = "sweep.parquet"


class Store:
    """The rows of a space in a folder.

    Args:
        folder: made if it is not there. Rows of other spaces in it stay until the sweep is done.
        space: what the rows are of.

    Raises:
        SweepError: for a folder that holds something else.
        MissingExtra: without Arrow.
    """

    def __init__(self, folder: Path, space: Space) -> None:
        arrow()
        self.table = folder / TABLE
        self._parts = folder / "parts"
        self._columns = columns_of(space)
        self._space = space
        _refuse_other(folder)
        self._parts.mkdir(parents=True, exist_ok=True)
        self._rows = {str(row["key"]): row for row in self._read()}
        self._count = len(list(self._parts.glob("*.parquet")))

    @property
    def columns(self) -> Sequence[tuple[str, str]]:
        """Names and types, in order."""
        return self._columns

    def rows(self) -> list[Row]:
        """Those of the space that are there, in its order."""
        keys = (point.key for point in self._space.points)
        return [self._rows[key] for key in keys if key in self._rows]

    def has(self, key: str) -> bool:
        """Whether the row of a point is there. A point that was lost is tried again."""
        return key in self._rows and self._rows[key].get("rule") != LOST

    def append(self, rows: Sequence[Row]) -> None:
        """Keep rows for good: after this, no end of the process loses them."""
        self._rows.update((str(row["key"]), row) for row in rows)
        self._write(self._parts / _fresh(), rows)
        self._count += 1
        if self._count > _MOST_PARTS:
            self._gather()

    def finish(self) -> None:
        """Write the one file of all rows. The parts go: their rows are in it."""
        self._write(self.table, self.rows())
        self._remove(self._part_files())
        self._parts.rmdir()

    def _gather(self) -> None:
        """Make one part of all."""
        files = self._part_files()
        self._write(self._parts / _fresh(), list(self._rows.values()))
        self._remove(files)
        self._count = 1

    def _part_files(self) -> list[Path]:
        return sorted(self._parts.glob("*.parquet"))

    def _remove(self, files: Iterable[Path]) -> None:
        for file in files:
            file.unlink()
        for left in self._parts.glob("*.tmp"):  # of a process that was killed while it wrote
            left.unlink()

    def _read(self) -> list[Row]:
        _, parquet = arrow()
        files = [*([self.table] if self.table.exists() else []), *self._part_files()]
        found: list[Row] = []
        for file in files:
            try:
                found += rows_of(parquet.read_table(file))
            except (OSError, ValueError) as error:
                raise SweepError(
                    f"{file}: is no table of rows ({error}); remove it, and its rows are made again"
                ) from None
        return [row for row in found if "key" in row]

    def _write(self, path: Path, rows: Iterable[Row]) -> None:
        """Write a file that is whole as soon as it is there."""
        _, parquet = arrow()
        beside = path.with_suffix(f".{os.getpid()}.tmp")
        with beside.open("wb") as file:
            parquet.write_table(table_of(rows, self._columns), file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)


def read_rows(path: Path) -> list[Row]:
    """The rows of a finished sweep: its folder, or its Parquet file. Raises SweepError."""
    _, parquet = arrow()
    file = path / TABLE if path.is_dir() else path
    if not file.exists():
        raise SweepError(f"{file}: there is no such file; the sweep is not done")
    try:
        return rows_of(parquet.read_table(file))
    except (OSError, ValueError) as error:
        raise SweepError(f"{file}: is no table of rows ({error})") from None


def _fresh() -> str:
    return f"{uuid4().hex}.parquet"


def _refuse_other(folder: Path) -> None:
    """A folder of somebody's own things is no place for rows."""
    if folder.exists() and not folder.is_dir():
        raise SweepError(f"{folder}: is a file; expected a folder")
    if folder.is_dir() and any(folder.iterdir()):
        known = folder / TABLE, folder / "parts"
        if not any(each.exists() for each in known):
            raise SweepError(f"{folder}: holds something else; choose an empty folder or a new one")

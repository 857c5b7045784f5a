"""What both comparisons of PyTorch's kernels do with their tasks: work, rows kept, and a sum."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from .comparing import Row
from .workers import done, kept, stored

_SECONDS_OF_ONE = 300.0
_Task = TypeVar("_Task")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where rows are kept, and how long and by how many processes they are made."""
    parser.add_argument("--into", type=Path, required=True, help="lines of results, kept")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for this run")


def known_of(into: Path, against: str) -> set[str]:
    """The kernels of a comparison that have a row."""
    return {row.kernel for row in stored(into, Row) if row.against == against}


def told(
    options: argparse.Namespace,
    against: str,
    tasks: Sequence[_Task],
    make: Callable[[_Task], Row],
    refuse: Callable[[_Task, str], Row],
) -> int:
    """Do the tasks and print what is not equal, and a sum of all rows; how many differ."""
    rows = done(
        tasks,
        make,
        refuse,
        workers=options.workers,
        limit=_SECONDS_OF_ONE,
        seconds=options.seconds,
    )
    for row in kept(rows, options.into):
        if row.different or row.problem:
            print(f"{row.kernel}: {row.problem or f'{row.different} bytes differ'}", flush=True)
    counts = Counter(
        "not compared" if row.problem else "differ" if row.different else "equal"
        for row in stored(options.into, Row)
        if row.against == against
    )
    print(
        f"{against}: {counts['equal']} equal to the bit, {counts['differ']} differ, "
        f"{counts['not compared']} not compared"
    )
    return counts["differ"]

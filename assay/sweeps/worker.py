"""What a worker does: batches of points in, rows out; in a process of ours or on Dask."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from .measure import Bench
from .point import model, point_of
from .rows import Row

_turn = threading.Lock()
_benches: dict[int, Bench] = {}


def bench() -> Bench:
    """The one of this process."""
    return _benches.setdefault(os.getpid(), Bench())


def measured(points: Sequence[Mapping[str, Any]], waves: int) -> tuple[str, list[Row]]:
    """A batch on a worker of Dask: which model it has, and the rows."""
    with _turn:  # a worker may have several threads; compiled kernels are shared among them
        return model(), [bench().row(point_of(each), waves=waves) for each in points]


def main() -> None:
    """A line of JSON in for each point, a line out for each row, until the input ends."""
    # What else is printed must not stand between the answers.
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        task = json.loads(line)
        row = bench().row(point_of(task["point"]), waves=task["waves"])
        try:
            print(json.dumps(row), file=output, flush=True)
        except BrokenPipeError:
            os._exit(1)  # who asked was killed; at a usual end the row would be written again

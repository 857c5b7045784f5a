"""Parts by this Assay and by an earlier one, by turns: whether any row takes longer now.

Each side runs the benchmarks of its own tree in fresh processes, so both measure what rows of one
name say; rows that only one of them has are named.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .measure import Row

MOST = 1.03
"""Times what it took before that a row may take."""
_HERE = Path(__file__).parents[1]
_Seconds = dict[tuple[str, str], list[float]]
"""What each row of the product itself took, by what it says and of whom, in each turn."""


def rows(part: str, earlier: Path, *, threads: int, repetitions: int, turns: int) -> list[Row]:
    """Run one part here and in the folder `earlier` so often; a row each with their ratio.

    The ratio is that of the least times: what else runs can only make one longer.
    """
    now: _Seconds = {}
    before: _Seconds = {}
    for turn in range(turns):
        for folder, found in ((earlier, before), (_HERE, now))[:: 1 if turn % 2 else -1]:
            for key, seconds in _run(part, folder, threads, repetitions):
                found.setdefault(key, []).append(seconds)
    return [*_compared(now, before), *_alone(now, before, "new"), *_alone(before, now, "gone")]


def _run(
    part: str, folder: Path, threads: int, repetitions: int
) -> Sequence[tuple[tuple[str, str], float]]:
    options = ["--threads", str(threads), "--repetitions", str(repetitions), "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", part, *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder.resolve())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        found = json.loads(done.stdout)["rows"]
    except ValueError:
        raise SystemExit(
            f"{part} in {folder} gives no rows (exit code {done.returncode})"
        ) from None
    return [
        ((row["what"], row["who"]), row["seconds"])
        for row in found
        if row["seconds"] and row["what"]
    ]


def _compared(now: _Seconds, before: _Seconds) -> list[Row]:
    found = []
    for what, who in (key for key in now if key in before):
        mine, earlier = now[what, who], before[what, who]
        ratio = min(mine) / min(earlier)
        each = [new / old for new, old in zip(mine, earlier, strict=False)]
        found.append(
            Row(
                what=what,
                who=who,
                seconds=min(mine),
                rate=f"{min(earlier):.5f} before",
                ratio=f"{ratio:.3f} x ({min(each):.2f} to {max(each):.2f})",
                bar=f"<= {MOST:g} x",
                passed=statistics.median(each) <= MOST or ratio <= MOST,
            )
        )
    return found


def _alone(some: _Seconds, others: _Seconds, how: str) -> list[Row]:
    return [
        Row(what=what, who=who, seconds=min(seconds), rate=how)
        for (what, who), seconds in some.items()
        if (what, who) not in others
    ]

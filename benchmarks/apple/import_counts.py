"""`python -m benchmarks apple --import FILE...`: how many kernels are read, why others are not."""

from __future__ import annotations

import argparse
import json
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .importing import Import, import_all, tasks
from .workers import stored

_SECONDS_OF_ONE = 120.0
_EVERY = 500
# What differs between refusals of one reason: names, numbers, and which kernel of which file it is.
_WHERE = re.compile(r"^.*?: kernel '[^']*': ")
_NUMBER = re.compile(r"\d+")


def main(arguments: Sequence[str]) -> int:
    """Read, count and print; 1 if a kernel was refused."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks apple", description=__doc__)
    parser.add_argument("--import", dest="libraries", nargs="+", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True, help="lines of results, kept")
    parser.add_argument("--share", type=float, default=1.0, help="of the kernels, 0 to 1")
    parser.add_argument("--seed", type=int, default=7, help="of the order")
    parser.add_argument(
        "--skip", type=int, default=0, help="as many kernels, that another run has read"
    )
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for this run")
    parser.add_argument(
        "--limit", type=float, default=_SECONDS_OF_ONE, help="seconds of one kernel"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    waiting = tasks(options.libraries, options.share, options.seed)[options.skip :]
    rows = import_all(
        waiting,
        options.into,
        workers=options.workers,
        limit=options.limit,
        seconds=options.seconds,
    )
    for number, row in enumerate(rows, 1):
        if not options.json and (row.problem or number % _EVERY == 0):
            print(f"{number}: {row.library} {row.kernel} {row.problem[:160]}", flush=True)
    chosen = {(path.name, name) for path, name in waiting}
    done = [row for row in stored(options.into, Import) if (row.library, row.kernel) in chosen]
    found = {path.name: counts(done, path.name) for path in options.libraries}
    print(json.dumps(found, indent=2))
    return int(any(row.problem for row in done))


def counts(rows: Sequence[Import], library: str) -> dict[str, Any]:
    """How many kernels of a library were tried and read, in what time, and why others were not."""
    own = [row for row in rows if row.library == library]
    well = [row for row in own if not row.problem]
    reasons = Counter(reason(row.problem) for row in own if row.problem)
    return {
        "tried": len(own),
        "read": len(well),
        "cold_ms": round(statistics.median(row.cold for row in well), 1) if well else None,
        "warm_ms": round(statistics.median(row.warm for row in well), 2) if well else None,
        "refused": dict(reasons.most_common()),
    }


def reason(problem: str) -> str:
    """A refusal without what is the kernel's own."""
    return _NUMBER.sub("N", _WHERE.sub("", problem.splitlines()[0]))

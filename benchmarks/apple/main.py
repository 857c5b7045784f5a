"""`python -m benchmarks apple --metallib FILE --sources FOLDER`: Apple's compiler as an oracle.

Kernels of MLX, as its wheel for Macs has them, and as we compile them from the headers and files of
its repository (the folder that holds `mlx/backend/metal/kernels`). Both run on the same bytes, with
functions of mathematics of our own: equal bits say that front end, choice of overloads, contraction
and order of operations are Apple's. `--newer` is the library of a wheel for a newer macOS, whose
kernels are compared with those of the older.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .comparing import KERNELS, NEWER, SOURCE, Row, compare_all, tasks
from .import_counts import main as import_counts
from .page import main as page
from .products import main as products
from .public import main as public
from .summary import summary
from .tensors import main as tensors
from .torch_comparing import main as torch
from .torch_sources import main as torch_sources
from .torch_versions import main as torch_versions
from .wheels import main as fetch
from .workers import stored

_SECONDS_OF_ONE = 120.0
_SHOWN = 5


def main(arguments: Sequence[str]) -> int:
    """Compare and print; 1 if bits differ."""
    if "--fetch" in arguments:
        return fetch(arguments)
    if "--import" in arguments:
        return import_counts(arguments)
    if "--public" in arguments:
        return public(arguments)
    if "--products" in arguments:
        return products(arguments)
    if "--tensors" in arguments:
        return tensors(arguments)
    if "--torch-newer" in arguments:
        return torch_versions(arguments)
    if "--torch" in arguments:
        return torch(arguments)
    if "--torch-sources" in arguments:
        return torch_sources(arguments)
    if "--page" in arguments:
        return page(arguments)
    parser = argparse.ArgumentParser(prog="python -m benchmarks apple", description=__doc__)
    parser.add_argument("files", nargs="*", help="files in the folder of kernels; all by default")
    parser.add_argument("--metallib", type=Path, required=True, help="mlx.metallib of the wheel")
    parser.add_argument("--newer", type=Path, help="that of a wheel for a newer macOS")
    parser.add_argument("--sources", type=Path, required=True, help="a checkout of MLX")
    parser.add_argument("--per-file", type=int, default=20, help="kernels of each file")
    parser.add_argument("--into", type=Path, required=True, help="lines of results, kept")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for this run")
    parser.add_argument(
        "--limit", type=float, default=_SECONDS_OF_ONE, help="seconds of one kernel"
    )
    parser.add_argument("--untimed", action="store_true", help="compare bits only")
    parser.add_argument("--json", action="store_true", help="print a summary as JSON")
    options = parser.parse_args(arguments)
    folder = options.sources / KERNELS
    files = options.files or sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*.metal")
    )
    every, refused = tasks(
        options.sources,
        files,
        options.metallib,
        options.newer,
        options.per_file,
        are_timed=not options.untimed,
    )
    for file, problem in refused.items():
        print(f"{file}: {problem}", file=sys.stderr)
    rows = compare_all(
        every,
        options.into,
        workers=options.workers,
        limit=options.limit,
        seconds=options.seconds,
    )
    for row in rows:
        if row.different and not options.json:
            print(
                f"{row.file} {row.kernel}: {row.different} bytes differ, {row.against}", flush=True
            )
    found = stored(options.into, Row)
    if options.json:
        print(json.dumps(summary(found), indent=2))
    else:
        for against in (SOURCE, NEWER):
            _tell([row for row in found if row.against == against], against)
    return int(any(row.different for row in found))


def _tell(rows: Sequence[Row], against: str) -> None:
    if not rows:
        return
    counts = summary(rows)[against]
    print(
        f"{against}: {counts['equal']} of {counts['compared']} equal to the bit, "
        f"{counts['not_compared']} not compared, "
        f"{counts['timed_alike']} of {counts['timed']} within a tenth of the other's time"
    )
    reasons = Counter(row.problem for row in rows if row.problem)
    for reason, count in reasons.most_common(_SHOWN):
        print(f"  {count} not compared: {reason}")

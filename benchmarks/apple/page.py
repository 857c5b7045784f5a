"""`python -m benchmarks apple --page`: what was counted, in `results.json` and on its page.

Files of rows that are given replace what is stored of them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .comparing import NEWER, SOURCE, Row
from .import_counts import counts
from .importing import Import
from .summary import summary
from .workers import stored

STORED = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[2] / "docs/how-it-works/apples-compiler.md"
BEGIN, END = "<!-- results.json -->", "<!-- end -->"


def main(arguments: Sequence[str]) -> int:
    """Store and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks apple", description=__doc__)
    parser.add_argument("--page", action="store_true", required=True)
    parser.add_argument("--imported", type=Path, nargs="*", default=[], help="rows of --import")
    parser.add_argument("--compared", type=Path, help="rows of a comparison")
    options = parser.parse_args(arguments)
    results = json.loads(STORED.read_text()) if STORED.exists() else {"import": {}, "compare": {}}
    for path in options.imported:
        rows = stored(path, Import)
        results["import"] |= {name: counts(rows, name) for name in {row.library for row in rows}}
    if options.compared:
        results["compare"] = summary(stored(options.compared, Row))
    STORED.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    PAGE.write_text(with_results(PAGE.read_text(), results))
    return 0


def with_results(page: str, results: Mapping[str, Any]) -> str:
    """The page with the results between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{results_text(results)}\n\n{END}{after}"


def results_text(results: Mapping[str, Any]) -> str:
    """The results as Markdown."""
    lines = [
        "| library | kernels tried | read | cold, median | warm, median | refused |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in sorted(results["import"].items()):
        refused = "; ".join(f"{count} {why}" for why, count in row["refused"].items()) or "none"
        lines.append(
            f"| {name.removesuffix('.metallib')} | {row['tried']} | {row['read']} "
            f"| {row['cold_ms']} ms | {row['warm_ms']} ms | {refused} |"
        )
    lines += [
        "",
        "| compared | kernels | equal to the bit | timed | within a tenth | not compared |",
        "|---|---|---|---|---|---|",
    ]
    for against, what in ((SOURCE, "our compilation, AIR 2.6"), (NEWER, "AIR 2.6, AIR 2.8")):
        row = results["compare"][against]
        lines.append(
            f"| {what} | {row['compared']} | {row['equal']} | {row['timed']} "
            f"| {row['timed_alike']} | {row['not_compared']} |"
        )
    apart = results["compare"][SOURCE]["timed_apart"]
    lines += ["", "| times apart | ours | Apple's |", "|---|---|---|"]
    lines += [f"| `{name}` | {a:g} us | {b:g} us |" for name, (a, b) in apart.items()]
    return "\n".join(lines)

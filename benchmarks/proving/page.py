"""`python -m benchmarks prove --page`: what was counted, in `results.json` and on its page.

Rows that are given replace what is stored of their kernels; with `--sources`, how many kernels the
projects have is counted anew.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .launches import launches_of
from .rows import RACE_FREE, THREADGROUP, Row, stored
from .units import PROJECTS, units_of

STORED = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[2] / "docs/how-it-works/public-kernels.md"
BEGIN, END = "<!-- results.json -->", "<!-- end -->"
_PLACE = re.compile(r" ?@[^ ]*:\d+")
_NUMBER = re.compile(r"\d+")
_LINES = re.compile(r"(?: at line N)+")
_MOST_REASONS = 15


def main(arguments: Sequence[str]) -> int:
    """Store and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks prove", description=__doc__)
    parser.add_argument("--page", action="store_true", required=True)
    parser.add_argument("--rows", type=Path, nargs="*", default=[], help="results of runs")
    parser.add_argument("--sources", type=Path, help="a folder of projects")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    results = json.loads(STORED.read_text()) if STORED.exists() else {"units": {}, "rows": []}
    rows = {_key(row): row for row in rows_in(results)}
    for path in options.rows:
        rows |= {_key(row): row for row in stored(path)}
    results["rows"] = [asdict(rows[key]) for key in sorted(rows)]
    for project in PROJECTS if options.sources else ():
        root = options.sources / project.name
        if root.exists():
            units, _ = units_of(project, root, options.seed)
            instances = sum(unit.instances for unit in units)
            results["units"][project.name] = {"units": len(units), "kernels": instances}
    STORED.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    PAGE.write_text(with_results(PAGE.read_text(), results))
    return 0


def _key(row: Row) -> tuple[str, str, str]:
    return row.project, row.file, row.kernel


def rows_in(results: Mapping[str, Any]) -> list[Row]:
    """The rows that are stored."""
    return [Row(**each) for each in results["rows"]]


def with_results(page: str, results: Mapping[str, Any]) -> str:
    """The page with the results between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{results_text(results)}\n\n{END}{after}"


def results_text(results: Mapping[str, Any]) -> str:
    """The results as Markdown: counts, reasons by how often they stand, what hosts see to."""
    rows = rows_in(results)
    parts = [_counts(rows, results["units"]), _refuted(rows), _reasons(rows), _assumed()]
    return "\n\n".join(parts)


def _counts(rows: Sequence[Row], units: Mapping[str, Mapping[str, int]]) -> str:
    lines = [
        "| project | units | tried | races and barriers proved | threadgroup memory alone "
        "| refuted | undecided | seconds, median | most |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    projects = sorted({row.project for row in rows})
    for name in projects:
        known = str(units[name]["units"]) if name in units else "-"
        lines.append(_count_line(name, known, [row for row in rows if row.project == name]))
    lines.append(_count_line("**all**", "", rows))
    return "\n".join(lines)


def _count_line(name: str, known: str, rows: Sequence[Row]) -> str:
    verdicts = Counter(row.verdict for row in rows)
    alone = sum(row.is_proved(THREADGROUP) for row in rows)
    seconds = [row.seconds for row in rows]
    return (
        f"| {name} | {known} | {len(rows)} | {_share(verdicts['proved'], len(rows))} "
        f"| {_share(alone, len(rows))} | {verdicts['refuted']} | {verdicts['undecided']} "
        f"| {statistics.median(seconds):.1f} | {max(seconds):.1f} |"
    )


def _share(count: int, total: int) -> str:
    return f"{count} ({100 * count / total:.0f}%)" if total else "-"


def _refuted(rows: Iterable[Row]) -> str:
    lines = ["| refuted by a run | property | what the run shows |", "|---|---|---|"]
    for row in rows:
        for about, verdict in sorted(row.verdicts.items()):
            if verdict == "refuted" and about in RACE_FREE:
                shown = "; ".join(row.reasons.get(about, [])[:1])
                lines.append(f"| `{row.kernel}` ({row.project}) | {about} | {shown} |")
    return "\n".join(lines)


def _reasons(rows: Iterable[Row]) -> str:
    counted: Counter[str] = Counter()
    for row in rows:
        if row.verdict == "undecided":
            counted.update(set(reasons_of(row)))
    lines = ["| why races or barriers are undecided | kernels |", "|---|--:|"]
    ranked = sorted(counted.items(), key=lambda each: (-each[1], each[0]))
    lines += [f"| {why} | {count} |" for why, count in ranked[:_MOST_REASONS]]
    return "\n".join(lines)


def reasons_of(row: Row) -> list[str]:
    """Why a unit is undecided, without what is its own: places and numbers."""
    found = [
        reason
        for about in RACE_FREE
        if row.verdicts.get(about) == "undecided"
        for reason in row.reasons.get(about, [])
    ]
    if not found and row.problem:
        found = [row.problem]
    return [_LINES.sub("", _NUMBER.sub("N", _PLACE.sub("", each))) for each in found]


def _assumed() -> str:
    lines = ["| project | kernels | threadgroup | assumed | seen to by |", "|---|---|---|---|---|"]
    for project in PROJECTS:
        for launch in launches_of(project.name):
            names = ", ".join(f"`{each}`" for each in launch.kernels)
            size = " x ".join(map(str, launch.threadgroup or ("usual",)))
            size += ", ragged" if launch.ragged else ""
            assumed = "; ".join(f"`{each}`" for each in launch.assume) or "-"
            lines.append(f"| {project.name} | {names} | {size} | {assumed} | {launch.host} |")
    return "\n".join(lines)

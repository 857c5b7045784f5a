"""`python -m benchmarks validation`: predicts the published rows and tells how far off it is."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .accuracy import accuracy_text
from .cases import Status
from .harness import chosen, predict, progress, read_json, write_json
from .page import page
from .plot import plot
from .ranking import rankings
from .summary import BARS, RANK_BAR, Prediction, summarise

ROOT = Path(__file__).resolve().parents[2]
PREDICTED = Path(__file__).with_name("predicted.json")
PAGE = ROOT / "docs" / "how-it-works" / "timing-validation.md"
ACCURACY = ROOT / "hw" / "apple" / "facts" / "accuracy.toml"
PICTURE = ROOT / "docs" / "images" / "timing-validation.svg"


def main(arguments: Sequence[str]) -> int:
    """Run; 1 if a bar is missed or a row could not be predicted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks validation", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="some rows of each group")
    parser.add_argument("--chip", action="append", default=[], help="rows of this chip only")
    parser.add_argument("--group", action="append", default=[], help="rows of this group only")
    parser.add_argument("--rows", default="", help="these rows only: 3,7,10-20")
    parser.add_argument("--all", action="store_true", help="print every row, not the worst")
    parser.add_argument(
        "--write",
        action="store_true",
        help="keep the results, and write the page of the documentation from all that are kept",
    )
    parser.add_argument(
        "--page", action="store_true", help="write the page from the results that are there"
    )
    options = parser.parse_args(arguments)
    if options.page:
        write_page(read_json(PREDICTED))
        return 0
    selected = chosen(
        chips=options.chip,
        rows=_numbers(options.rows, parser),
        groups=options.group,
        quick=options.quick,
    )
    if not selected:
        parser.error("no row is of that kind")
    predictions = predict(selected, progress)
    if options.write:
        write_json(PREDICTED, predictions)
        write_page(read_json(PREDICTED))
    return report(predictions, everything=options.all or bool(options.rows))


def _numbers(text: str, parser: argparse.ArgumentParser) -> list[int]:
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            parser.error(f"--rows: {part!r} is no number or range of numbers")
        found += range(int(first), int(last or first) + 1)
    return found


def write_page(predictions: Sequence[Prediction]) -> None:
    """The page and its picture, and the model's own errors that `assay time` states."""
    PAGE.write_text(page(predictions), "utf-8")
    PICTURE.write_text(plot(predictions), "utf-8")
    ACCURACY.write_text(accuracy_text(predictions), "utf-8")


def report(predictions: Sequence[Prediction], *, everything: bool) -> int:
    """Print rows and figures; returns 1 if a bar is missed or a row failed."""
    console = Console(width=150)
    rows = [p for p in predictions if p.value is not None or p.problem]
    if not everything:
        rows = sorted(rows, key=lambda p: -abs(p.error or 0))[:25]
    table = Table(title="Rows" if everything else "Worst rows")
    for name in ("row", "chip", "workload", "published", "predicted", "error", ""):
        table.add_column(name)
    for p in rows:
        row = p.case.row
        error = "" if p.error is None else f"{p.error:+.1%}"
        value = p.problem[:60] if p.value is None else f"{p.value:.4g}"
        table.add_row(
            str(row.ident),
            p.case.chip,
            f"{row.workload[:64]} {row.metric[:12]}",
            f"{row.value:g} {row.unit[:8]}",
            value,
            error,
            p.case.status.value,
        )
    console.print(table, markup=False)
    figures = Table(title="Figures")
    for name in ("group", "", "rows", "median", "p90", "bias", "bar"):
        figures.add_column(name)
    failed = any(p.problem for p in predictions)
    for s in summarise(predictions):
        bar = BARS.get(s.group)
        verdict = "" if s.passed is None or bar is None else "pass" if s.passed else "FAIL"
        failed |= s.passed is False
        figures.add_row(
            s.group,
            s.status.value,
            str(s.count),
            f"{s.median:.1%}",
            f"{s.p90:.1%}",
            f"{s.bias:+.1%}",
            verdict,
        )
    console.print(figures)
    for ranking in rankings(predictions):
        verdict = "pass" if ranking.correlation >= RANK_BAR else "FAIL"
        failed |= ranking.correlation < RANK_BAR
        console.print(
            f"order of {ranking.count} matrix products on {ranking.chip}: "
            f"{ranking.correlation:.3f} {verdict}"
        )
    counted = sum(p.case.status is Status.COUNTED and p.value is not None for p in predictions)
    console.print(f"{len(predictions)} rows, {counted} counted")
    return int(failed)

"""`python -m benchmarks pipelines`: predicts the runs of the note on pipelines."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .advice import ADVICE
from .page import page
from .pictures import PICTURES, picture
from .runs import Results, predict_all, read, runs, write

ROOT = Path(__file__).resolve().parents[2]
PREDICTED = Path(__file__).with_name("predicted.json")
PAGE = ROOT / "docs" / "how-it-works" / "pipeline-stages.md"
IMAGES = ROOT / "docs" / "images"


def main(arguments: Sequence[str]) -> int:
    """Predict, and say what comes of the recommendations."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pipelines", description=__doc__)
    parser.add_argument("--chip", action="append", default=[], help="runs on this chip only")
    parser.add_argument(
        "--write",
        action="store_true",
        help="keep the results, and write the page of the documentation from all that are kept",
    )
    parser.add_argument(
        "--page", action="store_true", help="write the page from the results that are there"
    )
    parser.add_argument(
        "--missing", action="store_true", help="only runs whose results are not kept"
    )
    options = parser.parse_args(arguments)
    kept = read(PREDICTED) if PREDICTED.exists() else {}
    if not options.page:
        chosen = [
            run
            for run in runs()
            if (not options.chip or run.chip in options.chip)
            and not (options.missing and run in kept)
        ]
        if not chosen and not options.missing:
            parser.error(f"no run is on {' or '.join(options.chip)}")
        kept |= predict_all(chosen, lambda text: print(text, file=sys.stderr))
    results = {run: kept[run] for run in runs() if run in kept}
    if options.write:
        write(PREDICTED, results)
    if options.write or options.page:
        PAGE.write_text(page(results), "utf-8")
        for name in PICTURES:
            (IMAGES / name).write_text(picture(name), "utf-8")
    report(results)
    return 0


def report(results: Results) -> None:
    """Print what comes of each recommendation."""
    for number, advice in enumerate(ADVICE, 1):
        verdict = advice.verdict(results)
        print(f"{number}. {advice.says}\n   {verdict.word}: {verdict.why}\n")

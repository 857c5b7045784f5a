"""`python -m benchmarks apple --page`: what was counted, in `results.json` and on its page.

Files of rows that are given replace what is stored of them, of comparisons those of their kind.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .comparing import (
    EXECUTORCH,
    NEWER,
    SOURCE,
    TORCH,
    TORCH_25,
    TORCH_26,
    TORCH_NEWER,
    Row,
)
from .import_counts import counts
from .importing import Import
from .products import STORED as PRODUCTS
from .summary import summary
from .tensors import STORED as TENSORS
from .workers import stored

STORED = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[2] / "docs/how-it-works/apples-compiler.md"
_COMPARISONS = {
    SOURCE: "MLX: our compilation, AIR 2.6",
    NEWER: "MLX: AIR 2.6, AIR 2.8",
    EXECUTORCH: "ExecuTorch: our compilation, AIR 2.6",
    TORCH: "PyTorch's functions: our compilation, AIR 2.6",
    TORCH_25: "PyTorch 2.6.0: our compilation, AIR 2.5",
    TORCH_26: "PyTorch 2.6.0: our compilation, AIR 2.6",
    TORCH_NEWER: "PyTorch: AIR 2.6, AIR 2.8",
}
BEGIN, END = "<!-- results.json -->", "<!-- end -->"
TENSORS_BEGIN, TENSORS_END = "<!-- tensors.json -->", "<!-- end of tensors.json -->"
PRODUCTS_BEGIN, PRODUCTS_END = "<!-- products.json -->", "<!-- end of products.json -->"


def main(arguments: Sequence[str]) -> int:
    """Store and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks apple", description=__doc__)
    parser.add_argument("--page", action="store_true", required=True)
    parser.add_argument("--imported", type=Path, nargs="*", default=[], help="rows of --import")
    parser.add_argument("--compared", type=Path, help="rows of a comparison")
    parser.add_argument("--executorch", type=Path, help="rows of one with ExecuTorch's library")
    options = parser.parse_args(arguments)
    results = json.loads(STORED.read_text()) if STORED.exists() else {"import": {}, "compare": {}}
    for path in options.imported:
        rows = stored(path, Import)
        results["import"] |= {name: counts(rows, name) for name in {row.library for row in rows}}
    compared = stored(options.compared, Row) if options.compared else []
    if options.executorch:
        rows = stored(options.executorch, Row)
        compared += [replace(row, against=EXECUTORCH) for row in rows]
    counted = summary(compared)
    results["compare"] |= {against: counted[against] for against in {r.against for r in compared}}
    STORED.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    page = with_results(PAGE.read_text(), results)
    page = with_products(page, json.loads(PRODUCTS.read_text()))
    PAGE.write_text(with_tensors(page, json.loads(TENSORS.read_text())))
    return 0


def with_results(page: str, results: Mapping[str, Any]) -> str:
    """The page with the results between its marks."""
    return _between(page, BEGIN, results_text(results), END)


def with_products(page: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The page with what products of matrices gave between its marks."""
    lines = ["| kernel | M x N x K | off by | half a step of its type |", "|---|---|---|---|"]
    for row in rows:
        m, n, k = row["sizes"]
        lines.append(
            f"| `{row['kernel']}` | {m} x {n} x {k} | {row['off']:.1e} | {row['step']:.1e} |"
        )
    return _between(page, PRODUCTS_BEGIN, "\n".join(lines), PRODUCTS_END)


def with_tensors(page: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The page with what PyTorch's tensor operations gave between its marks."""
    lines = [
        "| kernels | in the library | run | as near as their types are | off by at most |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        off = ", ".join(f"{name} {value:.1e}" for name, value in row["off"].items())
        lines.append(
            f"| {row['kind']} | {row['there']} | {row['run']} | {row['close']} | {off or '-'} |"
        )
    return _between(page, TENSORS_BEGIN, "\n".join(lines), TENSORS_END)


def _between(page: str, begin: str, text: str, end: str) -> str:
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


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
    for against, what in _COMPARISONS.items():
        row = results["compare"][against]
        lines.append(
            f"| {what} | {row['compared']} | {row['equal']} | {row['timed']} "
            f"| {row['timed_alike']} | {row['not_compared']} |"
        )
    compared = results["compare"]
    apart = {
        name: times
        for against in (SOURCE, EXECUTORCH, TORCH_25, TORCH_26, TORCH_NEWER)
        for name, times in compared[against]["timed_apart"].items()
    }
    lines += ["", "| times apart | ours | Apple's |", "|---|---|---|"]
    lines += [f"| `{name}` | {a:g} us | {b:g} us |" for name, (a, b) in apart.items()]
    return "\n".join(lines)

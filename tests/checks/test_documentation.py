"""The numbers in docs/how-it-works/checks.md are those of the corpus."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.checks.mutation.campaign import KERNELS
from tests.checks.mutation.mutants import single_mutants
from tests.checks.mutation.test_mutation import DOUBLES

from .cases import bugs, near_misses

PAGE = Path(__file__).parents[2] / "docs" / "how-it-works" / "checks.md"
_TITLES = {
    "race_threadgroup": "races in threadgroup memory",
    "race_device": "races in device memory",
    "init": "memory that nobody wrote",
    "bounds": "accesses outside of memory",
    "barrier": "barriers that not all reach",
    "budget": "limits of the hardware",
    "shuffle": "shuffles from inactive lanes",
    "uniform": "arguments that must be uniform",
    "lanes": "races that lock step hides",
    "nan": "births of NaN and infinity",
    "overflow": "overflow of indices",
    "banks": "lanes that wait for a bank",
    "rows": "indices that leave their row",
}


def _table() -> str:
    planted = Counter(case.folder for case in bugs())
    missed = Counter(case.folder for case in near_misses())
    rows = [f"| {title} | {planted[name]} | {missed[name]} |" for name, title in _TITLES.items()]
    total = f"| **all** | **{planted.total()}** | **{missed.total()}** |"
    return "\n".join([*rows, total])


def test_the_page_counts_the_corpus() -> None:
    assert _table() in PAGE.read_text()


def test_the_page_counts_the_mutants() -> None:
    singles = sum(len(single_mutants(path.read_text())) for path in KERNELS)
    doubles = DOUBLES * len(KERNELS)
    text = re.sub(r"\s+", " ", PAGE.read_text())
    assert f"takes {len(KERNELS)} correct kernels" in text
    assert f"makes {singles:,} mutants with one damage" in text
    assert f"and {doubles:,} with two" in text

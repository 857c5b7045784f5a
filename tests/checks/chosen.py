"""Which files of a corpus the fast tests take: some of each folder, and some of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest


def chosen(kinds: Mapping[Path, frozenset[str]], one_in: int) -> frozenset[Path]:
    """One in so many files of each folder, its first among them, and files with kinds of findings
    that no file before has.

    Args:
        kinds: those that are marked in each file.
        one_in: how many files of a folder there are for each that is taken.
    """
    found: set[Path] = set()
    seen: set[str] = set()
    numbers: Counter[Path] = Counter()
    for path, its in kinds.items():
        if numbers[path.parent] % one_in == 0 or not its <= seen:
            found.add(path)
            seen |= its
        numbers[path.parent] += 1
    return frozenset(found)


def slow_unless(is_chosen: bool) -> list[pytest.MarkDecorator]:
    """The marks of a case: none, or that it is slow."""
    return [] if is_chosen else [pytest.mark.slow]

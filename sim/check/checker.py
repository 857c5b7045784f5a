"""Collects findings: each defect once, with a count, and never more than a bounded number."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar, cast

from .finding import Finding
from .kinds import DEFAULT_CHECKS, OPTIONAL_CHECKS, WATCHING_CHECKS

T = TypeVar("T")

MAX_FINDINGS = 200


def parse_checks(
    text: str,
    *,
    usual: Iterable[str] = DEFAULT_CHECKS,
    others: Iterable[str] = OPTIONAL_CHECKS,
) -> frozenset[str]:
    """Names of checks from `race,init`; `all` stands for the `usual` ones.

    Raises:
        ValueError: for a name that is neither of these nor of the `others`.
    """
    every = (*usual, *others)
    chosen: set[str] = set()
    for name in filter(None, (part.strip() for part in text.split(","))):
        if name == "all":
            chosen.update(usual)
        elif name in every:
            chosen.add(name)
        else:
            known = ", ".join((*every, "all"))
            raise ValueError(f"'{name}' is no check; there are {known}")
    return frozenset(chosen)


class Checker:
    """What to check, and what was found so far. Thread-safe.

    Args:
        checks: names of checks; see `parse_checks`.
        seed: permutes the order in which simdgroups and threadgroups run, and the bytes that
            uninitialised memory holds; None leaves the natural order.
        limit: how many different findings are kept.
    """

    def __init__(
        self,
        checks: Iterable[str] = DEFAULT_CHECKS,
        *,
        seed: int | None = None,
        limit: int = MAX_FINDINGS,
    ) -> None:
        self.checks = frozenset(checks)
        self.seed = seed
        self.limit = limit
        self.dropped = 0  # different findings beyond the limit
        self._found: dict[tuple[object, ...], Finding] = {}
        self._lock = threading.RLock()
        self._states: dict[object, tuple[object, object]] = {}

    @property
    def observers(self) -> frozenset[str]:
        """What watches a kernel while it runs: checks, or the order alone."""
        wanted = self.checks & WATCHING_CHECKS
        return wanted or (frozenset({"order"}) if self.seed is not None else frozenset())

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in the order in which they were first seen."""
        with self._lock:
            return tuple(self._found.values())

    def state(self, owner: object, make: Callable[[], T]) -> T:
        """What the checker remembers of a device, one thing for each way of making it."""
        with self._lock:
            key = (id(owner), make)
            known = self._states.get(key)
            if known is None:
                # The owner is kept too, so that its id stays its own.
                known = self._states[key] = (owner, make())
            return cast(T, known[1])

    def report(self, finding: Finding) -> None:
        """Add a finding, or count it if it is known."""
        key = finding.key
        with self._lock:
            known = self._found.get(key)
            if known is not None:
                self._found[key] = replace(known, count=known.count + finding.count)
            elif len(self._found) < self.limit:
                self._found[key] = finding
            else:
                self.dropped += 1

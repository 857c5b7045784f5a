"""What rows say together: the best kernel of each target, fronts, and what a fixed choice costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Final

from .rows import NO_KNOBS, Row

Target = tuple[str, str, int, int, int]
"""What a kernel is chosen for: policy, chip, m, n, k."""

_AIMS: Final = (("seconds", 1), ("threadgroup_memory", 1), ("resident_simdgroups", -1))
"""What a front weighs against each other, and whether less or more of it is better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """What one kernel for all targets costs against the best for each.

    Attributes:
        kernel: its label.
        policy: of its weights.
        mean: times that it takes as long, geometric mean over the targets that it runs.
        worst: the same where it is worst; there is `where`.
        missing: targets of its policy that it does not run.
    """

    kernel: str
    policy: str
    mean: float
    worst: float
    where: Target
    missing: int


def label_of(row: Row) -> str:
    """Variant and knobs of a row, as people write them."""
    knobs = (f"{k}={v}" for k, v in row.items() if k not in NO_KNOBS and v is not None)
    return " ".join([str(row["variant"]), *knobs])


def target_of(row: Row) -> Target:
    """What the row's kernel was tried for."""
    return row["policy"], row["chip"], row["m"], row["n"], row["k"]


def by_target(rows: Iterable[Row]) -> dict[Target, list[Row]]:
    """Rows with a time by what they are for; best first, then by what they take."""
    found: dict[Target, list[Row]] = {}
    for row in rows:
        if row["status"] == "ok":
            found.setdefault(target_of(row), []).append(row)
    return {target: sorted(group, key=_order) for target, group in found.items()}


def best(rows: Iterable[Row]) -> dict[Target, Row]:
    """The fastest kernel for each target; of equal ones that which takes less memory."""
    return {target: group[0] for target, group in by_target(rows).items()}


def front(rows: Sequence[Row]) -> list[Row]:
    """Those of one target that no other beats: in time, threadgroup memory and residency."""
    aims = [tuple(sign * row[name] for name, sign in _AIMS) for row in rows]
    return [
        row
        for row, own in zip(rows, aims, strict=True)
        if not any(_beats(other, own) for other in aims)
    ]


def fixed_choices(rows: Iterable[Row]) -> list[Fixed]:
    """Each kernel as the only one of its policy: those that run everywhere first, best first."""
    targets = by_target(rows)
    of: dict[tuple[str, str], dict[Target, float]] = {}
    for target, group in targets.items():
        for row in group:
            times = row["seconds"] / group[0]["seconds"]
            of.setdefault((row["policy"], label_of(row)), {})[target] = times
    found = list(_fixed(of, targets))
    return sorted(found, key=lambda each: (each.missing, each.mean, each.kernel))


def _fixed(
    of: Mapping[tuple[str, str], Mapping[Target, float]], targets: Iterable[Target]
) -> Iterator[Fixed]:
    every = list(targets)
    for (policy, kernel), times in of.items():
        where = max(times, key=lambda target: times[target])
        yield Fixed(
            kernel=kernel,
            policy=policy,
            mean=exp(sum(map(log, times.values())) / len(times)),
            worst=times[where],
            where=where,
            missing=sum(target[0] == policy for target in every) - len(times),
        )


def _order(row: Row) -> tuple[float, int, str]:
    return row["seconds"], row["threadgroup_memory"], label_of(row)


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))

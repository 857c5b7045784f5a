"""How well the order of matrix products on one chip is predicted, by several definitions.

A chip's products differ by kernel, block, size, elements and library. What is compared is the rank
of the rate in operations per second; where sizes differ, the rank of the time as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .cases import Case, Status
from .summary import Prediction

LEAST = 8  # rows that a correlation is formed of
DRAWS = 2000
_SEED = 7
_UNITS = {"gflops": 1e9, "tflops": 1e12}
_PUBLIC = re.compile(r"GEMM (?:MFA|fp\d+ MLX|bf16 MLX)|MLX ")
_SOURCE = re.compile(r"GEMM (tile sweep|\w+ (?:naive|tiled|simdgroup))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A row of a product: operations per second as published and as predicted, and their number."""

    case: Case
    published: float
    predicted: float
    flops: float

    @property
    def workload(self) -> str:
        """What was run, as the source says it."""
        return self.case.row.workload

    @property
    def is_counted(self) -> bool:
        """Whether the row counts in the figures."""
        return self.case.status is Status.COUNTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Spearman's rank correlation over some rows of a chip."""

    chip: str
    what: str
    count: int
    correlation: float


def products(predictions: Sequence[Prediction]) -> list[Product]:
    """All rows that are products of matrices and have a prediction, those that are times too.

    Of a time, the operations follow from the rate that the table of rows derives from it.
    """
    rates = {
        (p.case.row.chip, p.case.row.workload): p.case.row.value * _UNITS[p.case.row.metric]
        for p in predictions
        if p.case.group == "gemm" and p.case.row.metric in _UNITS and p.case.predict is None
    }
    found = []
    for p in predictions:
        row = p.case.row
        if p.case.group != "gemm" or p.value is None or p.case.status is Status.FITTED:
            continue
        if row.metric in _UNITS:
            unit = _UNITS[row.metric]
            made = row.value * unit, p.value * unit, _cube(row.workload)
        elif row.metric == "time_ms" and (row.chip, row.workload) in rates:
            rate = rates[row.chip, row.workload]
            made = rate, rate * row.value / p.value, rate * row.value / 1e3
        else:
            continue
        found.append(Product(case=p.case, published=made[0], predicted=made[1], flops=made[2]))
    return found


def _cube(workload: str) -> float:
    found = re.search(r"(\d+)\^3", workload)
    return 2.0 * int(found[1]) ** 3 if found else float("nan")


def rankings(predictions: Sequence[Prediction], least: int = LEAST) -> list[Ranking]:
    """What the bar is for: each chip's counted rows that are published as a rate."""
    rows = [p for p in products(predictions) if p.is_counted and p.case.row.metric in _UNITS]
    return _by_chip(rows, "counted rates", least)


def definitions(predictions: Sequence[Prediction]) -> list[Ranking]:
    """The correlation by other definitions of which rows, and of what, are ranked."""
    everything = products(predictions)
    rates = [p for p in everything if p.case.row.metric in _UNITS]
    counted = [p for p in rates if p.is_counted]
    found = _by_chip(counted, "rates, the rows that count")
    mixed = [p for p in everything if p.is_counted]
    found += _by_chip(mixed, "with MLX's operations, whose times are published")
    found += _by_chip(mixed, "the same by time", key=_time)
    for what, wanted in _PARTS:
        found += _by_chip([p for p in mixed if wanted(p)], what, 5)
    return sorted(found, key=lambda r: r.chip)


def _is_public(product: Product) -> bool:
    return _PUBLIC.match(product.workload) is not None


def _is_own(product: Product) -> bool:
    return _SOURCE.match(product.workload) is not None


_PARTS: tuple[tuple[str, Callable[[Product], bool]], ...] = (
    ("only kernels that are public (MFA, MLX)", _is_public),
    ("only the source's own kernels (Forge)", _is_own),
    (
        "only libraries whose kernels are not public (MPS, MPP, torch)",
        lambda p: not (_is_public(p) or _is_own(p)),
    ),
)


def _time(product: Product, rate: float) -> float:
    return product.flops / rate


def _rate(product: Product, rate: float) -> float:
    return rate


def _by_chip(
    rows: Iterable[Product],
    what: str,
    least: int = LEAST,
    *,
    key: Callable[[Product, float], float] = _rate,
) -> list[Ranking]:
    chips: dict[str, list[Product]] = {}
    for product in rows:
        chips.setdefault(product.case.chip, []).append(product)
    return [
        Ranking(
            chip=chip,
            what=what,
            count=len(found),
            correlation=spearman(
                [key(p, p.published) for p in found], [key(p, p.predicted) for p in found]
            ),
        )
        for chip, found in sorted(chips.items())
        if len(found) >= least
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What the correlation of a chip would be if something were otherwise."""

    chip: str
    what: str
    correlation: float


def losses(predictions: Sequence[Prediction]) -> list[Loss]:
    """Where the order goes wrong, on each chip that the bar is for."""
    chips: dict[str, list[Product]] = {}
    for product in products(predictions):
        if product.is_counted and product.case.row.metric in _UNITS:
            chips.setdefault(product.case.chip, []).append(product)
    return [
        loss
        for chip, found in sorted(chips.items())
        if len(found) >= LEAST
        for loss in _losses(chip, found)
    ]


def _losses(chip: str, rows: Sequence[Product]) -> list[Loss]:
    published = np.array([p.published for p in rows])
    predicted = np.array([p.predicted for p in rows])
    hidden = np.array([not (_is_public(p) or _is_own(p)) for p in rows])
    errors = np.log(predicted / published)
    generator = np.random.default_rng(_SEED)

    def drawn(noise: Callable[[], NDArray[np.float64]]) -> float:
        values = [spearman(published, published * np.exp(noise())) for _ in range(DRAWS)]
        return float(np.mean(values))

    found = {
        "as predicted": spearman(published, predicted),
        "if MPS, MPP and torch were right": spearman(
            published, np.where(hidden, published, predicted)
        ),
    }
    if (~hidden).sum() >= LEAST:
        found["without MPS, MPP and torch"] = spearman(published[~hidden], predicted[~hidden])
    found |= {
        f"a perfect model, if measurements repeat to {share:.0%}": drawn(
            lambda share=share: generator.normal(0, share, len(rows))  # type: ignore[misc]
        )
        for share in (0.02, 0.05, 0.1)
    }
    found["the same errors, dealt to the rows at random"] = drawn(
        lambda: generator.permutation(errors)
    )
    return [Loss(chip=chip, what=what, correlation=value) for what, value in found.items()]


def repeated(predictions: Sequence[Prediction]) -> list[float]:
    """By how much pairs of rows differ that state the same product of the same chip twice."""
    seen: dict[tuple[str, str], float] = {}
    found = []
    for p in products(predictions):
        key = (p.case.chip, p.workload)
        if key in seen:
            found.append(abs(p.published / seen[key] - 1))
        seen.setdefault(key, p.published)
    return sorted(found)


def spearman(
    one: Sequence[float] | NDArray[np.float64], other: Sequence[float] | NDArray[np.float64]
) -> float:
    """The correlation of the ranks."""
    ranks = [_ranks(np.asarray(values, np.float64)) for values in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means = (ends - counts + ends - 1) / 2
    return np.asarray(means[inverse], np.float64)

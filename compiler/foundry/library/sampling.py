"""Choosing tokens: kernels, and twins in NumPy that choose the same.

Weights of tokens are integers, made of logits by one multiplication and a series in 32 bits, so
that sums have one value in any order: a kernel on any machine and NumPy choose the same token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, e, log2, prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..errors import FoundryError
from ..kernels import custom, derived, output, tensor, updated
from ..structs import struct
from ..structs.names import uint, ulong
from .base import Listed, Ready, defines_of, last_of, scalar_of, standalone

_THREADS: Final = 1024
MOST_COLUMNS: Final = 1 << 18
"""Of a vocabulary: sums of so many halves of weights fit in 32 bits."""
_ONE: Final = 1 << 28
"""The weight of the largest logit."""
_SERIES: Final = (0xFFE6, 0xA1849, 0x576200, 0x276556E, 0xE35846C, 0x3D7F7BFF, 0xB17217F8)
"""ln(2)^n / n! for n = 7 to 1, times 2^32; `sampling.metal` has them too."""


@struct
class SampleParams:
    """Of `sample`; `top_p` in 65536ths, `least` a weight of 2^28."""

    seed: ulong
    columns: uint
    step: uint
    top_k: uint
    top_p: uint
    least: uint
    factor: float


@struct
class PenaltyParams:
    """Of `penalise`."""

    rows: uint
    columns: uint
    count: uint
    repetition: float
    presence: float
    frequency: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How tokens are chosen.

    A temperature of 0 takes the largest logit. Then, in this order: `top_k` largest (0: all), those
    that are at least `min_p` times as likely as the likeliest, and of these the fewest that have
    `top_p` of what is left. Equal logits stand in the order of their places.

    Raises:
        FoundryError: for numbers that make no sense.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf") or self.top_k < 0:
            raise FoundryError("sampling", "temperature and top_k are 0 or more")
        if not (0 < self.top_p <= 1 and 0 <= self.min_p <= 1 and 0 <= self.seed < 1 << 64):
            raise FoundryError(
                "sampling", "top_p is in (0, 1], min_p in [0, 1], the seed a number of 64 bits"
            )

    def params(self, columns: int, step: int) -> SampleParams:
        """For a vocabulary of so many, at a step of a text. Raises FoundryError."""
        if not 1 <= columns <= MOST_COLUMNS:
            raise FoundryError("sampling", f"{columns} logits; 1 to {MOST_COLUMNS}")
        is_greedy = self.temperature == 0
        return SampleParams(
            seed=self.seed,
            columns=columns,
            step=step,
            top_k=1 if is_greedy else min(self.top_k or columns, columns),
            top_p=max(1, round(self.top_p * 65536)),
            least=max(1, ceil(self.min_p * _ONE)),
            factor=float(np.float32(1 if is_greedy else log2(e) / max(self.temperature, 1e-6))),
        )


GREEDY: Final = Sampling(temperature=0.0)
"""The largest logit; of equal ones the first."""


def sample(
    element: Any = float, *, sampling: Sampling = GREEDY, step: int | Callable[[], int] = 0
) -> Ready:
    """A token for each row of logits `x`, by temperature, top-k, min-p, top-p and a seed.

    `step` counts the tokens of a text, or tells it at each call; each row and step has its own
    random number.
    """
    scalar = scalar_of(element)

    def params(given: Mapping[str, Any]) -> SampleParams:
        return sampling.params(last_of(given), step if isinstance(step, int) else step())

    arguments = {
        "x": tensor(scalar),
        "y": output(uint, lambda given: given["x"].shape[:-1]),
        "params": derived(SampleParams, params),
    }
    defines = {"THREADS": _THREADS}
    made = standalone("sampling", "sample", scalar, arguments, defines=defines_of(defines))
    return made, custom(lambda given: (prod(given["x"].shape[:-1]),), (_THREADS,))


def penalise(
    element: Any = float,
    *,
    repetition: float = 1.0,
    presence: float = 0.0,
    frequency: float = 0.0,
) -> Ready:
    """Makes tokens less likely that stand in `recent` [rows, count]: changes logits `x`.

    Positive logits are divided by `repetition`, others multiplied; `presence`, and `frequency` for
    each time, are taken off. Numbers beyond the vocabulary stand for nothing.
    """
    scalar = scalar_of(element)

    def params(given: Mapping[str, Any]) -> PenaltyParams:
        *rows, count = given["recent"].shape
        return PenaltyParams(
            rows=prod(rows),
            columns=last_of(given),
            count=count,
            repetition=repetition,
            presence=presence,
            frequency=frequency,
        )

    arguments = {
        "x": updated(scalar),
        "recent": tensor(uint),
        "params": derived(PenaltyParams, params),
    }
    made = standalone("penalise", "penalise", scalar, arguments)
    return made, custom(lambda given: (-(-given["recent"].size // 64),), (64,))


def choose(logits: NDArray[Any], sampling: Sampling, step: int = 0) -> NDArray[np.uint32]:
    """What `sample` chooses for logits [rows, columns], to the token, in NumPy."""
    rows = np.asarray(logits).astype(np.float32)
    made = [_chosen(row, sampling, step, number) for number, row in enumerate(rows)]
    return np.array(made, np.uint32)


def penalised(
    logits: NDArray[Any],
    recent: NDArray[np.integer],
    *,
    repetition: float = 1.0,
    presence: float = 0.0,
    frequency: float = 0.0,
) -> NDArray[np.float32]:
    """What `penalise` makes of logits [rows, columns], in NumPy."""
    made = np.asarray(logits).astype(np.float32)
    for row, tokens in zip(made, recent, strict=True):
        there, times = np.unique(tokens[tokens < row.size], return_counts=True)
        ratio = np.float32(repetition)
        scaled = np.where(row[there] > 0, row[there] / ratio, row[there] * ratio)
        each = np.float32(frequency) * times.astype(np.float32)
        row[there] = scaled - np.float32(presence) - each
    return made


def _chosen(row: NDArray[np.float32], sampling: Sampling, step: int, number: int) -> int:
    params = sampling.params(row.size, step)
    most = np.finfo(np.float32).max
    values = np.where(row >= -most, np.minimum(row, most), -most) + np.float32(0)
    weights = _weights(values, np.float32(params.factor))
    order = np.argsort(-values, kind="stable")[: params.top_k]
    order = order[weights[order] >= params.least]
    sums = np.cumsum(weights[order])
    if params.top_p < 65536:
        target = max((int(sums[-1]) * params.top_p + 65535) >> 16, 1)
        order = order[: int(np.searchsorted(sums, target)) + 1]
    kept = np.sort(order)
    sums = np.cumsum(weights[kept])
    random = _random_bits(params.seed, (step << 32) + number) >> 32
    place = random * int(sums[-1]) >> 32
    return int(kept[np.searchsorted(sums, place + 1)])


def _weights(values: NDArray[np.float32], factor: np.float32) -> NDArray[np.uint64]:
    """2^28 * 2^-((largest - value) * factor), by a series in 32 bits."""
    with np.errstate(over="ignore"):
        z = (values.max() - values) * factor
    small = np.where(z < 28, z, np.float32(0))
    fixed = (small * np.float32(1 << 24)).astype(np.uint64)
    t = fixed << np.uint64(8) & np.uint64(0xFFFFFFFF)
    sums = np.zeros_like(t)
    for each in _SERIES:
        sums = np.uint64(each) - (t * sums >> np.uint64(32))
    found = (0x80000000 - (t * sums >> np.uint64(33))) >> (3 + (fixed >> np.uint64(24)))
    return np.where(z < 28, found, 0).astype(np.uint64)


def _random_bits(seed: int, counter: int) -> int:
    """64 bits: splitmix64 (Steele, Lea and Flood, 2014) at a place of its sequence."""
    mask = (1 << 64) - 1
    z = seed + 0x9E3779B97F4A7C15 * (counter + 1) & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return z ^ z >> 31


LISTED: Final = {"sample": Listed(sample), "penalise": Listed(penalise)}

"""Factors of products for tests, what their product is, and how far a kernel may be from it."""

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from assay.foundry import Format, Packed

UNIT = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Half of the distance from 1 to the next number: what one rounding changes at most."""
DTYPES = {"float": np.float32, "half": np.float16, "bfloat": ml_dtypes.bfloat16}


def drawn(seed: int, *shape: int, of: Any = np.float32) -> np.ndarray:
    made: np.ndarray = np.random.default_rng(seed).normal(size=shape).astype(of)
    return made


def assert_product(
    made: np.ndarray, a: np.ndarray, b: np.ndarray, *, factor: Any = None, sums: Any = np.float32
) -> None:
    """`made` is a b up to roundings: of b to `factor`, of every sum, and of the result.

    The bound is rigorous: each of k sums rounds, by a part of what all terms are together.
    """
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    whole, terms = wide_a @ wide_b, np.abs(wide_a) @ np.abs(wide_b)
    relative = a.shape[-1] * UNIT[np.dtype(sums).name]
    if factor is not None:
        relative += UNIT[np.dtype(factor).name]
    bound = terms * relative + np.abs(whole) * UNIT[made.dtype.name] + 1e-7
    over = np.abs(made.astype(np.float64) - whole) / bound
    assert made.shape == whole.shape
    assert over.max(initial=0) <= 1


@dataclass(frozen=True)
class Weighted:
    """x [m, k] and weights [n, k] in a format."""

    m: int
    n: int
    k: int
    weights: Format
    of: Any = np.float16
    seed: int = 0

    def values(self) -> dict[str, np.ndarray]:
        """Arguments of a kernel."""
        packed = self.packed()
        x = drawn(self.seed + 1, self.m, self.k, of=self.of)
        return {"matrix": packed.matrix, "scales": packed.scales, "x": x}

    def check(self, made: np.ndarray, *, sums: Any = np.float32) -> None:
        """A result is the product."""
        weights = self.weights.unpack(self.packed())
        x = self.values()["x"]
        assert_product(made, x, weights.T, factor=self.of, sums=sums)

    def packed(self) -> Packed:
        """The weights."""
        return self.weights.pack(drawn(self.seed, self.n, self.k))

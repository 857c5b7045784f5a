"""NumPy's sgemm in a process whose environment sets its threads: `peer_blas SIZE`.

For each number that it reads, a line, it prints the median of so many products' seconds as JSON.
"""

from __future__ import annotations

import sys

import numpy as np

from .measure import median_seconds
from .turns import answer_each


def main() -> None:
    size = int(sys.argv[1])
    a, b = np.random.default_rng(0).standard_normal((2, size, size), np.float32)
    out = np.empty_like(a)
    answer_each(lambda line: median_seconds(lambda: np.matmul(a, b, out=out), int(line)))


if __name__ == "__main__":
    main()

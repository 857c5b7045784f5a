"""NumPy's sgemm in a process whose environment sets its threads: `peer_blas SIZE REPETITIONS`."""

from __future__ import annotations

import json
import sys

import numpy as np

from .measure import median_seconds


def main() -> None:
    size, repetitions = (int(word) for word in sys.argv[1:3])
    a, b = np.random.default_rng(0).standard_normal((2, size, size), np.float32)
    out = np.empty_like(a)
    print(json.dumps({"seconds": median_seconds(lambda: np.matmul(a, b, out=out), repetitions, 3)}))


if __name__ == "__main__":
    main()

"""What is computed: inputs, the grid, the expected result and how much work it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .sources import SOFTMAX_THREADS, TILE, UNROLLED_MATRIX_MSL

Array = NDArray[np.generic]
Size = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One kernel on one size.

    `buffers` are its arguments in order, the result among them at `result`; `work` is in
    floating-point operations, or in bytes if `unit` says so.
    """

    kernel: str
    title: str
    buffers: Sequence[Array]
    result: int
    expected: Array
    tolerance: float  # largest difference, relative to the largest expected value
    threads: Size
    threadgroup: Size
    work: float
    unit: str = "GFLOP/s"
    source: str | None = None  # its text in MSL, where it is none of `sources`

    def rate(self, seconds: float) -> str:
        """How fast a run of so many seconds was."""
        return f"{self.work / seconds / 1e9:.2f} {self.unit}"

    def check(self, found: Array, who: str) -> None:
        """Compare a result with NumPy's.

        Raises:
            SystemExit: if it is wrong; a wrong result has no speed.
        """
        scale = float(np.abs(self.expected).max())
        error = float(np.abs(found - self.expected).max()) / scale
        if not error <= self.tolerance:
            raise SystemExit(
                f"{self.title} by {who}: wrong result, off by {error:.3g} of the largest value; "
                f"at most {self.tolerance:.3g} is right"
            )


def tiled_gemm(size: int) -> Workload:
    """f32 GEMM with 16x16 tiles in threadgroup memory."""
    a, b = np.random.default_rng(1).standard_normal((2, size, size), np.float32)
    return Workload(
        kernel="tiled_gemm",
        title=f"tiled GEMM {size}^3, f32",
        buffers=[a, b, np.zeros_like(a), np.array([size], np.uint32)],
        result=2,
        expected=a @ b,
        tolerance=1e-5,
        threads=(size, size, 1),
        threadgroup=(TILE, TILE, 1),
        work=2.0 * size**3,
    )


def matrix_gemm(size: int = 1024, *, unrolled: bool = False) -> Workload:
    """GEMM by simdgroup matrices: half in, float sums; its loops over matrices may be unrolled."""
    a, b = np.random.default_rng(2).standard_normal((2, size, size), np.float32).astype(np.float16)
    return Workload(
        kernel="matrix_gemm",
        title=f"simdgroup-matrix GEMM {size}^3, half" + (", unrolled" if unrolled else ""),
        buffers=[a, b, np.zeros((size, size), np.float32), np.array([size], np.uint32)],
        result=2,
        expected=a.astype(np.float32) @ b.astype(np.float32),
        tolerance=1e-5,
        threads=(size // 64 * 128, size // 64, 1),
        threadgroup=(128, 1, 1),
        work=2.0 * size**3,
        source=UNROLLED_MATRIX_MSL if unrolled else None,
    )


def softmax(size: int) -> Workload:
    """Softmax of every row, with a reduction in threadgroup memory."""
    x = np.random.default_rng(3).standard_normal((size, size), np.float32) * 3
    exact = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return Workload(
        kernel="softmax_rows",
        title=f"softmax {size}x{size}",
        buffers=[x, np.zeros_like(x), np.array([size], np.uint32)],
        result=1,
        expected=exact / exact.sum(axis=1, keepdims=True),
        tolerance=1e-5,
        threads=(size * SOFTMAX_THREADS, 1, 1),
        threadgroup=(SOFTMAX_THREADS, 1, 1),
        work=8.0 * x.size,
        unit="GB/s",
    )


def vector_add(count: int) -> Workload:
    """Sum of two long vectors."""
    a, b = np.random.default_rng(4).standard_normal((2, count), np.float32)
    return Workload(
        kernel="vector_add",
        title=f"vector add {count >> 20} M",
        buffers=[a, b, np.zeros_like(a)],
        result=2,
        expected=a + b,
        tolerance=0.0,
        threads=(count, 1, 1),
        threadgroup=(256, 1, 1),
        work=12.0 * count,
        unit="GB/s",
    )


# The kernels that the peers run too, each by the size of its problem.
BY_KERNEL: Mapping[str, Callable[[int], Workload]] = {
    "tiled_gemm": tiled_gemm,
    "softmax_rows": softmax,
    "vector_add": vector_add,
}
# The sizes that all but Oclgrind, which would take minutes, run on.
SIZES: Mapping[str, int] = {"tiled_gemm": 512, "softmax_rows": 1024, "vector_add": 1 << 24}

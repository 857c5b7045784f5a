"""Stockham's Fourier transform in threadgroup memory."""

import numpy as np
import pytest

from tests.support.metal_kernel import Scratch, kernel, run


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("size", "passes", "inverse", "real", "threads"),
    [
        (512, (0, 0, 3), False, False, 64),
        (128, (1, 0, 2), True, False, 32),
        (64, (1, 1, 1), False, True, 96),
        (16, (0, 2, 0), True, False, 8),
    ],
)
def test_batches_of_transforms(
    size: int, passes: tuple[int, int, int], inverse: bool, real: bool, threads: int
) -> None:
    rng = np.random.default_rng(size)
    batch, together = 5, 2
    x = rng.standard_normal((batch, size)).astype(np.float32)
    if not real:
        x = (x + 1j * rng.standard_normal(x.shape)).astype(np.complex64)
    result = np.zeros((batch, size), dtype=np.complex64)
    counts = (size, *passes, together)
    constants = {2 + i: np.int32(count) for i, count in enumerate(counts)}

    run(
        kernel("fft", "fft", {0: inverse, 1: real} | constants),
        x,
        result,
        np.int32(batch),
        Scratch(2 * together * size * 8),
        threadgroups=-(-batch // together),
        threadgroup=threads,
    )

    expected = (np.fft.ifft if inverse else np.fft.fft)(x.astype(np.complex128), axis=1)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)

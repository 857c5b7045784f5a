"""Generated kernels on which the engines once disagreed; each file is named by what went wrong."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.kernels import assemble, on_engine, on_reference

SEEDS = sorted((Path(__file__).parent / "seeds").glob("*.ll"))


@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: path.stem)
def test_engines_agree_on_kernels_that_once_went_wrong(seed: Path) -> None:
    kernel = assemble(seed.read_text(), "in out")
    threads = (70, 1, 1)
    for start in range(4):
        numbers = np.random.default_rng(start).integers(0, 1 << 32, 70).astype(np.uint32)
        numbers[::3] = start
        buffers = [numbers, np.zeros(70 * 5, np.uint32)]
        expected = on_reference(kernel, [b.copy() for b in buffers], threads=threads)
        found = on_engine(kernel, [b.copy() for b in buffers], threads=threads)
        np.testing.assert_array_equal(found[1], expected[1])

"""Five hundred of MLX's compiled kernels, drawn with a seed, against NumPy and PyTorch."""

from __future__ import annotations

import random

import numpy as np
import pytest

from assay.compiler.air import AirLibrary, open_library
from assay.sim.simt import Memory, dispatch
from tests.support.wheels import member

pytest.importorskip("torch")
from tests.support.mlx_elements import Case, agrees, case_of, empty

pytestmark = pytest.mark.slow
_COUNT = 300
_RUNS = 500
_STEPS = 8  # of the type of the result; kernels compute halves in halves


def ran(library: AirLibrary, name: str, case: Case) -> np.ndarray:
    """What the kernel leaves in its output, launched as MLX launches it."""
    kernel = library.function(name)
    memory, output = Memory(), empty(case.output, _COUNT)
    # Without a vector to read, a kernel is not told how many elements there are.
    given = [*case.inputs, output, np.uint32([_COUNT])][: len(kernel.arguments)]
    arguments = [
        memory.register(each.view(np.uint8), name=str(at)) for at, each in enumerate(given)
    ]
    executable = kernel.program().specialise((256, 1, 1), quick=True)
    dispatch(executable, memory, arguments, threads=(_COUNT, 1, 1))
    return output


def test_five_hundred_kernels_compute_what_numpy_computes(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = member("mlx-metal==0.32.4", "mlx/lib/mlx.metallib", tmp_path_factory.mktemp("wheels"))
    library = open_library(path)
    known = [name for name in library.function_names if case_of(name, _COUNT)]
    chosen = random.Random(16).sample(known, _RUNS)
    wrong = []
    for name in chosen:
        case = case_of(name, _COUNT)
        assert case is not None
        if not agrees(ran(library, name, case), case, _STEPS):
            wrong.append(name)
    assert wrong == []

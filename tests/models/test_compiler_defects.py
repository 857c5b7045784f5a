"""Defects of IREE 3.13 that users meet: reproduced as IREE has them, never hidden."""

import numpy as np
import pytest

import assay
from assay.hal.vm import VmError
from assay.reference import CpuError, CpuModule

from .conftest import Builds
from .zoo import MLIR, find

# What jax.random gives for seed 7 (JAX 0.10.2 on a CPU).
UNIFORM = [0.6740899085998535, 0.9746168851852417, 0.3028435707092285, 0.4439585208892822]
INTEGERS = [99, 22, 0, 37, 22, 86, 84, 54, 13, 71, 88, 47, 56, 38, 93, 73]


@pytest.mark.slow
def test_random_numbers_are_those_of_jax(builds: Builds) -> None:
    uniform, integers = assay.load(builds.model(find("jax_random"), "metal")).main(np.int32(7))
    assert uniform[:4].tolist() == UNIFORM
    assert integers.tolist() == INTEGERS


def test_a_reference_moved_twice_fails_as_in_irees_runtime(builds: Builds) -> None:
    source, seed = MLIR / "jax_normal.mlir", np.array(7, np.int32)
    with pytest.raises(CpuError, match="OUT_OF_RANGE"):
        CpuModule(builds.module(source, "llvm-cpu")).invoke("main", [seed])
    with pytest.raises(VmError, match="OUT_OF_RANGE"):
        assay.load(builds.module(source, "metal")).main(seed)

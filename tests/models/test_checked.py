"""Kernels that IREE generates have no findings: what the checks say of them would be false."""

import pytest

import assay
from assay.hal.metal.emulated import checking
from assay.sim.check import Checker

from .conftest import Builds
from .test_zoo import parameters
from .zoo import MODELS, Model

QUICK = ("matmul_f16_f32", "softmax", "scatter_add", "topk")


@pytest.mark.parametrize(
    "model",
    [pytest.param(m, marks=[] if m.name in QUICK else [pytest.mark.slow]) for m in MODELS],
    ids=lambda model: model.name,
)
def test_nothing_is_found_in_a_model(model: Model, builds: Builds) -> None:
    with checking(Checker()) as checker:
        module = assay.load(builds.model(model, "metal"), parameters=parameters(model, builds))
        module[model.function].invoke(model.arguments())
    assert not checker.findings

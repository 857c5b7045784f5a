"""Every model family runs on the emulated device and equals IREE's own CPU backend."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.compare import Tolerance, compare
from assay.compiler.models import ModelError, compile_model
from assay.reference import CpuModule

from .conftest import Builds
from .zoo import MLIR, MODELS, REFUSED, Model


def parameters(model: Model, builds: Builds) -> dict[str, Path]:
    return {scope: make(builds.work) for scope, make in model.parameters.items()}


def expected(model: Model, builds: Builds) -> list[list[Any]]:
    """The results of every call on the CPU."""
    arguments = model.arguments()
    if model.reference is not None:
        return [model.reference(*arguments) for _ in range(model.calls)]
    cpu = CpuModule(builds.model(model, "llvm-cpu"), parameters=parameters(model, builds))
    return [cpu.invoke(model.function, arguments) for _ in range(model.calls)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_model_gives_the_numbers_of_the_cpu_and_leaves_its_inputs(
    model: Model, builds: Builds
) -> None:
    arguments, untouched = model.arguments(), model.arguments()
    module = assay.load(builds.model(model, "metal"), parameters=parameters(model, builds))
    tolerance = Tolerance(relative=model.relative, absolute=model.absolute, widen=False)
    for wanted in expected(model, builds):
        got = module[model.function].invoke(arguments)
        assert len(got) == len(wanted)
        for position, (a, b) in enumerate(zip(got, wanted, strict=True)):
            result = compare(a, np.asarray(b) if isinstance(a, np.ndarray) else b, tolerance)
            assert result.equal, f"result {position}: {result}"
    for a, b in zip(arguments, untouched, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "model", [model for model in MODELS if model.works_around], ids=lambda model: model.name
)
def test_a_work_around_is_told(model: Model, builds: Builds) -> None:
    notes = " ".join(compile_model(model.source(builds.work)).notes)
    assert {"dot-product": "dot product", "attention": "attention"}[model.works_around] in notes


@pytest.mark.parametrize("model", REFUSED, ids=lambda model: model.name)
def test_what_iree_cannot_compile_is_named(model: Model, builds: Builds) -> None:
    with pytest.raises(ModelError, match=model.refused) as refusal:
        compile_model(model.source(builds.work))
    assert f"{model.name}.mlir:" in str(refusal.value), "the source line is named"


def test_every_file_of_the_zoo_is_used() -> None:
    used = {model.file or f"{model.name}.mlir" for model in (*MODELS, *REFUSED)}
    assert {path.name for path in MLIR.glob("*.mlir")} <= used


def test_every_wider_tolerance_has_a_reason() -> None:
    for model in MODELS:
        if model.relative > 2e-4 or model.absolute > 2e-5:
            assert model.reason, model.name

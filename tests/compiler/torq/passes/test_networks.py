"""After every pass a network computes what it computes in TOSA, to the bit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from assay.compiler.graph.tosa import ops
from assay.compiler.models.errors import ModelError
from assay.compiler.torq.hl.dialect import parsed
from assay.compiler.torq.hl.interpret import interpreted
from assay.compiler.torq.passes.pipeline import passes_named, run_passes, usual_passes
from tests.compiler.graph import models

needs_importer = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in models.LARGE]


def _counts(module: ModuleOp) -> Counter[str]:
    return Counter(op.name.removeprefix("torq_hl.") for op in ops.body(models.main(module)).ops)


@needs_importer
@pytest.mark.parametrize("name", [*models.SMALL, *SLOW])
def test_every_pass_keeps_what_a_network_computes(name: str, folder: Path) -> None:
    inputs, expected = models.reference(name, folder)
    module = models.imported(name, folder)

    def check(done: str, module: ModuleOp) -> None:
        found = interpreted(models.main(module), inputs)
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"after {done}")

    run_passes(module, usual_passes(), after=check)


@needs_importer
def test_a_network_without_softmax_is_products_only(folder: Path) -> None:
    module = models.imported("small", folder)
    run_passes(module, usual_passes())
    assert set(_counts(module)) == {
        "const",
        "transpose",
        "convolution",
        "pool",
        "view",
        "fully_connected",
        "func.return",
    }


@needs_importer
@pytest.mark.slow
@pytest.mark.parametrize("name", ["mobilenet_v2", "resnet18"])
def test_large_networks_keep_few_transposes(name: str, folder: Path) -> None:
    module = models.imported(name, folder)
    run_passes(module, usual_passes())
    counts = _counts(module)
    assert counts["transpose"] == 2  # the image, by DMA, and what the mean reads
    assert counts["add"] == {"mobilenet_v2": 10, "resnet18": 8}[name]
    assert counts["clamp"] == 0


@needs_importer
def test_what_passes_leave_is_printed_as_it_is_read(folder: Path) -> None:
    module = models.imported("ds_cnn", folder)
    run_passes(module, usual_passes())
    assert str(parsed(str(module))) == str(module)


def test_a_pass_that_there_is_not_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ModelError, match="no pass fold-everything; there are legalise-tosa"):
        passes_named(["fold-everything"])

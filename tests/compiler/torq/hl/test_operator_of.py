"""TorqHL's operations are operators of kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.compiler.graph.tosa import ops
from assay.compiler.torq.hl.moves import Const, View
from assay.compiler.torq.hl.operation import HlOp
from assay.compiler.torq.hl.operator_of import NoOperator, operator_of
from assay.compiler.torq.kernels.variants import refusal, variants
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from tests.compiler.graph import models

_NO_KERNEL_YET = ("no product of int32 and int32",)
"""The products of 32 bits in a softmax."""


@pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
@pytest.mark.parametrize(
    "name", [*models.SMALL, *(pytest.param(n, marks=pytest.mark.slow) for n in models.LARGE)]
)
def test_kernels_accept_what_networks_become(name: str, folder: Path) -> None:
    module = models.imported(name, folder)
    run_passes(module, usual_passes())
    refused = []
    for op in ops.body(models.main(module)).ops:
        if not isinstance(op, HlOp) or isinstance(op, Const | View):
            continue
        try:
            operator = operator_of(op)
        except NoOperator as error:
            assert "done by dma" in str(error)
            continue
        reason = "" if variants(operator) else refusal(operator)
        if reason and not any(known in reason for known in _NO_KERNEL_YET):
            refused.append(reason)
    assert refused == []

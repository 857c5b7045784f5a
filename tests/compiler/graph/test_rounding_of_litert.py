"""Where LiteRT and TOSA differ by a step: fully connected layers, whose sums LiteRT rounds once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from xdsl.ir import Operation

from assay.compiler.graph.elements import Array
from assay.compiler.graph.meaning import arithmetic
from assay.compiler.graph.tosa import evaluate, ops
from assay.reference import run_by_litert

from . import models

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
_MOVES = ("tosa.reshape", "tosa.transpose")


def _scales_a_layer(op: Operation) -> bool:
    """Whether an operator scales what a convolution, as TOSA calls a layer, has summed."""
    source = op.operands[0].owner
    while isinstance(source, Operation) and ops.name_of(source) in _MOVES:
        source = source.operands[0].owner
    return isinstance(source, Operation) and ops.name_of(source) == "tosa.conv2d"


def _rounds_layers_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rescaled, apply_scale = evaluate.MEANINGS["tosa.rescale"], arithmetic.apply_scale
    once = False

    def rescale(op: Operation, x: Sequence[Array]) -> Array:
        nonlocal once
        once = _scales_a_layer(op)
        try:
            return rescaled(op, x)
        finally:
            once = False

    def scale(
        value: Array, multiplier: Array | int, shift: Array | int, *, double_round: bool = False
    ) -> Array:
        return apply_scale(value, multiplier, shift, double_round=double_round and not once)

    monkeypatch.setitem(evaluate.MEANINGS, "tosa.rescale", rescale)
    monkeypatch.setattr(arithmetic, "apply_scale", scale)


@pytest.mark.slow
def test_a_transformer_is_to_the_bit_what_litert_makes_when_its_layers_round_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ai_edge_litert")
    given, (twice,) = models.reference("transformer", folder)
    (litert,) = run_by_litert(models.tflite_file("transformer", folder), given)
    assert (np.asarray(litert) != twice).any()
    _rounds_layers_once(monkeypatch)
    (once,) = evaluate.evaluated(models.main(models.imported("transformer", folder)), given)
    np.testing.assert_array_equal(once, litert)

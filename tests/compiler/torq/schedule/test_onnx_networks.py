"""Quantised ONNX networks on the NPU give what their integers are in TOSA, free of hazards."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.compiler.graph.tosa.evaluate import evaluated
from tests.compiler.graph import models
from tests.compiler.graph.onnx.runs import random_inputs, taken
from tests.models.onnx.cases import CASES
from tests.models.onnx.network import Network
from tests.models.onnx.networks import NETWORKS

from .running import assert_exact_and_clean, lowered

pytest.importorskip("onnx")
QUICK = (
    "conv in groups",
    "transposed conv",
    "slice",
    "resize by parts",
    "resize linearly",
)
"""Of the operators: those that no other importer makes this way."""
_SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in CASES if name not in QUICK]


def _assert_exact_and_clean(data: bytes, folder: Path) -> None:
    _, network = taken(data, folder)
    inputs = random_inputs(network)
    expected = evaluated(models.main(network.module), inputs)
    assert_exact_and_clean(lowered(network.module), inputs, expected)


@pytest.mark.parametrize("name", [*QUICK, *_SLOW])
def test_an_operator_is_exact_and_clean(name: str, tmp_path: Path) -> None:
    _assert_exact_and_clean(CASES[name](Network(1)), tmp_path)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_exact_and_clean(name: str, tmp_path: Path) -> None:
    _assert_exact_and_clean(NETWORKS[name](Network(1)), tmp_path)

"""ONNX's operators in integers are within a step of what they are in floats."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.compiler.graph.onnx.convert import OPERATORS
from tests.models.onnx.cases import CASES
from tests.models.onnx.network import Network
from tests.models.onnx.networks import NETWORKS

from .runs import steps_apart

pytest.importorskip("onnx")
FINE = ("conv", "gemm", "product with weights", "sum", "max pool", "concat", "pad")
"""Cases that are exact to a step in 16 bits too: those without interpolated functions."""


@pytest.mark.parametrize("kind", ["int8", "uint8"])
@pytest.mark.parametrize("name", CASES)
def test_an_operator_is_within_a_step_of_onnx_runtime(name: str, kind: str, tmp_path: Path) -> None:
    assert steps_apart(CASES[name](Network(1, kind)), tmp_path).max() <= 1


@pytest.mark.parametrize("kind", ["int16", "uint16"])
@pytest.mark.parametrize("name", FINE)
def test_an_operator_of_16_bits_is_within_a_step(name: str, kind: str, tmp_path: Path) -> None:
    assert steps_apart(CASES[name](Network(1, kind)), tmp_path).max() <= 1


_ROWS = {
    "softmax": ("Softmax", 1 / 32768, 5e-4, 0),
    "softmax of large numbers": ("Softmax", 1 / 32768, 0.3, 0),
    "layer normalisation": ("LayerNormalization", 8 / 32768, 2e-4, 2),
    "layer normalisation of small numbers": ("LayerNormalization", 8 / 32768, 1e-6, 2),
    "root mean squares": ("SimplifiedLayerNormalization", 8 / 32768, 2e-4, 1),
}


@pytest.mark.parametrize("spread", [32767, 900, 40])
@pytest.mark.parametrize("name", _ROWS)
def test_rows_of_16_bits_are_within_a_step_of_onnx_runtime(
    name: str, spread: int, tmp_path: Path
) -> None:
    op, scale, step, factors = _ROWS[name]
    net = Network(1, "int16")
    x = net.qdq(net.input((6, 300)), step)
    more = [net.const(net.random.normal(0, 0.5, 300), "float32") for _ in range(factors)]
    data = net.finish(net.qdq(net.node(op, x, *more), scale))
    assert steps_apart(data, tmp_path, spread=spread).max() <= 1


@pytest.mark.parametrize("name", NETWORKS)
def test_steps_of_a_networks_operators_do_not_add_up(name: str, tmp_path: Path) -> None:
    apart = steps_apart(NETWORKS[name](Network(1)), tmp_path)
    assert apart.mean() < 1 and (apart == 0).mean() > 0.4


def test_most_operators_have_a_case() -> None:
    onnx = pytest.importorskip("onnx")
    made = set()
    for make in CASES.values():
        graph = onnx.load_from_string(make(Network(1))).graph
        made |= {(node.domain, node.op_type) for node in graph.node}
    assert len(made & OPERATORS.keys()) > 0.8 * len(OPERATORS)

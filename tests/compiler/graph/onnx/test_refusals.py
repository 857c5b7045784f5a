"""ONNX models that cannot be compiled are refused by node and tensor, all at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.compiler.graph.errors import GraphRefused
from assay.compiler.graph.importer import import_model
from tests.models.onnx.network import Network
from tests.models.onnx.networks import residual_cnn

pytest.importorskip("onnx")
Make = Callable[[Network], bytes]


def _floats(net: Network) -> bytes:
    return net.finish(net.node("Relu", net.input((1, 4))))


def _dynamic(net: Network) -> bytes:
    return net.finish(net.qdq(net.input(("batch", 4))))


def _without_scale(net: Network) -> bytes:
    x = net.qdq(net.input((1, 4)))
    y = net.node("MatMul", x, net.weights((4, 4)))
    return net.finish(net.qdq(net.node("Sigmoid", y)))


def _float_weights(net: Network) -> bytes:
    x = net.qdq(net.input((1, 4)))
    return net.finish(net.qdq(net.node("MatMul", x, net.const(np.ones((4, 4)), "float32"))))


def _computed_scale(net: Network) -> bytes:
    x = net.input((1, 4))
    y, scale, point = net.nodes("DynamicQuantizeLinear", x, outputs=3)
    return net.finish(net.node("DequantizeLinear", y, scale, point))


def _others(net: Network) -> bytes:
    x = net.qdq(net.input((1, 4)))
    return net.finish(net.qdq(net.node("Mine", x, domain="my.own")))


def _unquantised_result(net: Network) -> bytes:
    x = net.qdq(net.input((1, 4)))
    return net.finish(net.node("MatMul", x, net.weights((4, 3), by_channel=1)))


def _wiring(net: Network) -> bytes:
    return net.finish(net.qdq(net.node("Relu", "nowhere")))


def _points(net: Network) -> bytes:
    x = net.input((1, 4))
    return net.finish(net.qdq(net.q(x, 0.1, 4, "int16"), 0.1, 4))


def _wide(net: Network) -> bytes:
    return net.finish(net.node("Identity", net.input((1, 4), "int64")), kinds=["int64"])


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_floats, "Relu at node n0_Relu: input input_0 is float and not quantised before it"),
        (_dynamic, r"input input_0: its shape \(batch, 4\) must be known"),
        (_without_scale, "Sigmoid at node n4_Sigmoid: .*scale"),
        (_float_weights, "MatMul at node n2_MatMul: its weights are not quantised"),
        (_computed_scale, "DynamicQuantizeLinear at node n0_DynamicQuantizeLinear"),
        (_others, "Mine at node n2_Mine: operators of my.own are not known"),
        (_unquantised_result, "result matmul_3: it is float and not quantised"),
        (_wiring, "Relu at node n0_Relu: it reads tensor nowhere, which no node before it makes"),
        (_points, "its zero point is 4: that of int16 must be 0"),
        (_wide, "input input_0: its elements are int64"),
    ],
)
def test_a_model_is_refused_with_its_reason(make: Make, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(make(Network(1)))
    with pytest.raises(GraphRefused, match=reason):
        import_model(path)


def test_all_that_is_wrong_is_named_at_once(tmp_path: Path) -> None:
    net = Network(1)
    x = net.qdq(net.input((1, 4)))
    first = net.qdq(net.node("Tan", x))
    second = net.qdq(net.node("Det", x))
    third = net.qdq(net.node("Mine", x, domain="my.own"))
    path = tmp_path / "model.onnx"
    path.write_bytes(net.finish(first, second, third))
    with pytest.raises(GraphRefused) as refused:
        import_model(path)
    problems = [(problem.operator, problem.where) for problem in refused.value.problems]
    assert problems == [
        ("Tan", "node n2_Tan"),
        ("Det", "node n5_Det"),
        ("Mine", "node n8_Mine"),
    ]
    assert str(refused.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("constant_11", np.zeros(0, np.int8), "QuantizeLinear at .*its zero point has no elements"),
        (
            "constant_7",
            np.full(16, np.nan, np.float32),
            "Conv at .*its bias has numbers that are not finite",
        ),
    ],
)
def test_constants_that_say_nothing_are_refused_by_node(
    name: str, values: NDArray[Any], reason: str, tmp_path: Path
) -> None:
    import onnx

    model = onnx.load_from_string(residual_cnn(Network(1)))
    (found,) = [each for each in model.graph.initializer if each.name == name]
    found.CopyFrom(onnx.numpy_helper.from_array(values, name))
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(GraphRefused, match=reason):
        import_model(path)


def test_every_prefix_of_a_file_is_refused_plainly(tmp_path: Path) -> None:
    data, path = residual_cnn(Network(1)), tmp_path / "model.onnx"
    for end in range(0, len(data) - 1, 113):
        path.write_bytes(data[:end])
        with pytest.raises(Exception, match=r"model\.onnx: ") as refused:
            import_model(path)
        assert type(refused.value).__name__ in ("GraphRefused", "ModelError"), end


def test_files_of_noise_are_refused_plainly(tmp_path: Path) -> None:
    data, path = bytearray(residual_cnn(Network(1))), tmp_path / "model.onnx"
    random = np.random.default_rng(5)
    for _ in range(60):
        damaged = bytearray(data)
        for place in random.integers(0, len(data), 20):
            damaged[place] ^= int(random.integers(1, 256))
        path.write_bytes(damaged)
        try:
            import_model(path)
        except GraphRefused as refused:
            assert "model.onnx: " in str(refused)

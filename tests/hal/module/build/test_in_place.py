"""Results that are written over an input whose last use they are."""

import sys
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.assay_module import AssayModule, load_assay
from assay.examples.onnx_graph import OnnxGraph
from assay.hal.cpu.library import FORMAT

pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)
SHAPE = (37, 19)
BYTES = -(-37 * 19 * 4 // 64) * 64


def built(graph: OnnxGraph, folder: Path, device: str = "cpu") -> AssayModule:
    path = folder / "model.onnx"
    path.write_bytes(graph.to_bytes())
    names = {"cpu": "cpu", "metal": "emulated"}
    return load_assay(assay.build(path, devices=[device]), names[device])


def arena(module: AssayModule) -> int:
    return module.opened.module.models[0].arenas[0].size


def data(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(SHAPE).astype(np.float32)


def residual(views: bool) -> OnnxGraph:
    """tanh(t + u) where t = x' x'' and u = softmax(t); with `views` u is read transposed, too."""
    graph = OnnxGraph("residual")
    t = graph.node("Softmax", graph.input("x", SHAPE), axis=1)
    u = graph.node("Softmax", t, axis=0)
    y = graph.node("Tanh", graph.node("Add", t, u))
    if views:
        turned = graph.node("Reshape", u, graph.weight(np.array([19, 37], np.int64)))
        y = graph.node("Add", y, graph.node("Softmax", graph.node("Transpose", turned), axis=0))
    graph.output(y, SHAPE)
    return graph


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    powers: np.ndarray = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def expected(x: np.ndarray) -> np.ndarray:
    t = softmax(x, 1)
    return np.tanh(t + softmax(t, 0))


@pytest.mark.parametrize("device", ["cpu", pytest.param("metal", marks=pytest.mark.slow)])
def test_a_sum_is_written_over_a_summand_that_nobody_needs_any_more(
    tmp_path: Path, device: str
) -> None:
    module = built(residual(views=False), tmp_path, device)
    model = module.opened.module.models[0]
    places = {tensor.offset for tensor in model.tensors if tensor.size}
    assert len(places) == 2 and arena(module) == 2 * BYTES  # of three tensors
    for seed in range(3):
        assert np.allclose(module(data(seed)), expected(data(seed)), atol=1e-6)


def test_what_is_read_later_is_not_written_over(tmp_path: Path) -> None:
    """Here by a view: the first sum may write over t, but not over u."""
    module = built(residual(views=True), tmp_path)
    for seed in range(3):
        u = softmax(softmax(data(seed), 1), 0)
        wanted = expected(data(seed)) + softmax(u.reshape(19, 37).T, 0)
        assert np.allclose(module(data(seed)), wanted, atol=1e-6)


def test_a_kernel_that_reads_a_view_of_its_input_too_writes_elsewhere(tmp_path: Path) -> None:
    graph = OnnxGraph("square")
    t = graph.node("Softmax", graph.input("x", (8, 8)), axis=1)
    row = graph.node("Reshape", t, graph.weight(np.array([1, 64], np.int64)))
    again = graph.node("Reshape", row, graph.weight(np.array([8, 8], np.int64)))
    graph.output(graph.node("Tanh", graph.node("Mul", t, again)), (8, 8))
    module = built(graph, tmp_path)
    assert arena(module) == 2 * 256
    x = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
    assert np.allclose(module(x), np.tanh(softmax(x, 1) ** 2), atol=1e-6)


def test_what_may_be_its_input_is_not_written_over_it(tmp_path: Path) -> None:
    """IREE makes a copy of x + 0, and copies within one place are not defined."""
    graph = OnnxGraph("nothing")
    t = graph.node("Softmax", graph.input("x", SHAPE), axis=1)
    zero = graph.weight(np.zeros(1, np.float32))
    first = graph.node("Reshape", t, graph.weight(np.array(SHAPE[::-1], np.int64)))
    graph.output(graph.node("Add", first, zero), SHAPE[::-1])
    graph.output(graph.node("Add", t, zero), SHAPE)
    module = built(graph, tmp_path)
    one, other = module(data(2))
    assert np.array_equal(one.reshape(SHAPE), other)

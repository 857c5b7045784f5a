"""Models in importers' formats, written at test time: ONNX, TFLite, parameter archives."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from assay.examples.onnx_graph import OnnxGraph

from .tflite.small import int8_cnn


def _normal(random: np.random.Generator, *shape: int, scale: float = 0.2) -> np.ndarray:
    return (random.standard_normal(shape) * scale).astype(np.float32)


def cnn(path: Path) -> None:
    """Convolution, pooling, a grouped convolution, a linear layer and a softmax.

    The grouped convolution is the one whose kernel is right in lock step only.
    """
    random = np.random.default_rng(1)
    graph = OnnxGraph("cnn")
    x = graph.input("image", (1, 3, 16, 16))
    x = graph.convolution(x, _normal(random, 8, 3, 3, 3), _normal(random, 8), pad=1)
    x = graph.node("Relu", x)
    x = graph.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = graph.convolution(x, _normal(random, 16, 4, 3, 3), _normal(random, 16), pad=1, groups=2)
    x = graph.node("Relu", x)
    x = graph.node("GlobalAveragePool", x)
    x = graph.node("Flatten", x)
    x = graph.linear(x, _normal(random, 16, 10), _normal(random, 10))
    graph.output(graph.node("Softmax", x, axis=1), (1, 10))
    path.write_bytes(graph.to_bytes())


def transformer(path: Path) -> None:
    """One transformer block of width 32 with two heads, the batch known only at run time."""
    random = np.random.default_rng(2)
    graph = OnnxGraph("transformer")
    length, width, heads, head = 12, 32, 2, 16
    x = graph.input("tokens", ("batch", length, width))
    normal = _layer_norm(graph, random, x, width)
    split = graph.weight(np.array([0, length, heads, head], np.int64))
    parts = []
    for _ in range(3):
        part = graph.node("MatMul", normal, graph.weight(_normal(random, width, width)))
        part = graph.node("Reshape", part, split)
        parts.append(graph.node("Transpose", part, perm=[0, 2, 1, 3]))
    q, k, v = parts
    scores = graph.node("MatMul", q, graph.node("Transpose", k, perm=[0, 1, 3, 2]))
    scores = graph.node("Mul", scores, graph.weight(np.array(head**-0.5, np.float32)))
    mixed = graph.node("MatMul", graph.node("Softmax", scores, axis=3), v)
    mixed = graph.node("Transpose", mixed, perm=[0, 2, 1, 3])
    mixed = graph.node("Reshape", mixed, graph.weight(np.array([0, length, width], np.int64)))
    mixed = graph.node("MatMul", mixed, graph.weight(_normal(random, width, width)))
    x = graph.node("Add", x, mixed)
    up = graph.node(
        "MatMul",
        _layer_norm(graph, random, x, width),
        graph.weight(_normal(random, width, 2 * width)),
    )
    down = graph.node("MatMul", _gelu(graph, up), graph.weight(_normal(random, 2 * width, width)))
    graph.output(graph.node("Add", x, down), ("batch", length, width))
    path.write_bytes(graph.to_bytes())


def _layer_norm(graph: OnnxGraph, random: np.random.Generator, x: str, width: int) -> str:
    scale = graph.weight(1 + _normal(random, width, scale=0.1))
    shift = graph.weight(_normal(random, width, scale=0.1))
    return graph.node("LayerNormalization", x, scale, shift, axis=-1)


def _gelu(graph: OnnxGraph, x: str) -> str:
    erf = graph.node("Erf", graph.node("Mul", x, graph.weight(np.array(0.5**0.5, np.float32))))
    half = graph.node("Mul", x, graph.weight(np.array(0.5, np.float32)))
    return graph.node("Mul", half, graph.node("Add", erf, graph.weight(np.array(1, np.float32))))


def quantized_matmul(path: Path) -> None:
    """A linear layer between quantise and dequantise nodes: an int8 product inside."""
    random = np.random.default_rng(3)
    graph = OnnxGraph("quantized_matmul")
    x = graph.input("x", (8, 32))
    scale, zero = graph.weight(np.array(0.05, np.float32)), graph.weight(np.array(0, np.int8))
    x = graph.node("QuantizeLinear", x, scale, zero)
    x = graph.node("DequantizeLinear", x, scale, zero)
    weights = graph.weight(random.integers(-127, 128, (32, 16)).astype(np.int8))
    weights = graph.node(
        "DequantizeLinear", weights, graph.weight(np.array(0.01, np.float32)), zero
    )
    y = graph.node("MatMul", x, weights)
    wide = graph.weight(np.array(0.1, np.float32))
    y = graph.node("QuantizeLinear", y, wide, zero)
    graph.output(graph.node("DequantizeLinear", y, wide, zero), (8, 16))
    path.write_bytes(graph.to_bytes())


def parameter_archive(folder: Path) -> Path:
    """The weights of `parameters.mlir` as an `.irpa` file."""
    import iree.runtime as runtime

    random = np.random.default_rng(4)
    path = folder / "parameters.irpa"
    entries = {"weights": _normal(random, 16, 8), "bias": _normal(random, 8)}
    runtime.save_archive_file(entries, str(path))
    return path


BUILDERS: Mapping[str, Callable[[Path], None]] = {
    "cnn.onnx": cnn,
    "transformer.onnx": transformer,
    "quantized_matmul.onnx": quantized_matmul,
    "int8_cnn.tflite": lambda path: path.write_bytes(int8_cnn()) and None,
}

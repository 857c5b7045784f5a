"""Networks of a size that people run, as ONNX: the models of the zoo are too small to time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from assay.examples import mobilenet
from assay.examples.onnx_graph import Array, OnnxGraph

_STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))  # channels, stride of the first block
_BLOCKS = 2


def resnet18(*, size: int = 224, classes: int = 1000) -> bytes:
    """ResNet-18 (He et al., 2015, table 1), its weights random, batch normalisation folded."""
    random, graph = np.random.default_rng(0), OnnxGraph("resnet18")

    def convolution(x: str, inputs: int, outputs: int, kernel: int, stride: int) -> str:
        scale = float(np.sqrt(2 / (inputs * kernel * kernel)))
        weights = _normal(random, scale, outputs, inputs, kernel, kernel)
        bias = _normal(random, 0.1, outputs)
        return graph.convolution(x, weights, bias, stride=stride, pad=kernel // 2)

    x = graph.input("image", (1, 3, size, size))
    x = graph.node("Relu", convolution(x, 3, 64, 7, 2))
    x = graph.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for outputs, first in _STAGES:
        for block in range(_BLOCKS):
            stride = first if block == 0 else 1
            y = graph.node("Relu", convolution(x, channels, outputs, 3, stride))
            y = convolution(y, outputs, outputs, 3, 1)
            if stride > 1:
                x = convolution(x, channels, outputs, 1, stride)
            x, channels = graph.node("Relu", graph.node("Add", x, y)), outputs
    x = graph.node("Flatten", graph.node("GlobalAveragePool", x))
    x = graph.linear(x, _normal(random, 0.05, channels, classes), _normal(random, 0.1, classes))
    graph.output(graph.node("Softmax", x, axis=1), (1, classes))
    return graph.to_bytes()


def transformer(*, length: int = 128, width: int = 768, heads: int = 12) -> bytes:
    """A block of BERT's base size: attention, a wider layer, norms before both."""
    random, graph = np.random.default_rng(2), OnnxGraph("transformer")
    head = width // heads

    def weights(inputs: int, outputs: int) -> str:
        return graph.weight(_normal(random, inputs**-0.5, inputs, outputs))

    def normalised(x: str) -> str:
        scale, shift = 1 + _normal(random, 0.1, width), _normal(random, 0.1, width)
        return graph.node(
            "LayerNormalization", x, graph.weight(scale), graph.weight(shift), axis=-1
        )

    x = graph.input("tokens", (1, length, width))
    normal, parts = normalised(x), []
    for _ in range(3):
        part = graph.node("MatMul", normal, weights(width, width))
        part = graph.node("Reshape", part, _integers(graph, 1, length, heads, head))
        parts.append(graph.node("Transpose", part, perm=[0, 2, 1, 3]))
    scores = graph.node("MatMul", parts[0], graph.node("Transpose", parts[1], perm=[0, 1, 3, 2]))
    scores = graph.node("Mul", scores, _number(graph, head**-0.5))
    mixed = graph.node("MatMul", graph.node("Softmax", scores, axis=3), parts[2])
    mixed = graph.node("Transpose", mixed, perm=[0, 2, 1, 3])
    mixed = graph.node("Reshape", mixed, _integers(graph, 1, length, width))
    x = graph.node("Add", x, graph.node("MatMul", mixed, weights(width, width)))
    up = graph.node("MatMul", normalised(x), weights(width, 4 * width))
    down = graph.node("MatMul", _gelu(graph, up), weights(4 * width, width))
    graph.output(graph.node("Add", x, down), (1, length, width))
    return graph.to_bytes()


def _gelu(graph: OnnxGraph, x: str) -> str:
    erf = graph.node("Erf", graph.node("Mul", x, _number(graph, 0.5**0.5)))
    half = graph.node("Mul", x, _number(graph, 0.5))
    return graph.node("Mul", half, graph.node("Add", erf, _number(graph, 1.0)))


def _normal(random: np.random.Generator, scale: float, *shape: int) -> Array:
    return (random.standard_normal(shape) * scale).astype(np.float32)


def _number(graph: OnnxGraph, value: float) -> str:
    return graph.weight(np.array(value, np.float32))


def _integers(graph: OnnxGraph, *values: int) -> str:
    return graph.weight(np.array(values, np.int64))


NETWORKS: Mapping[str, tuple[Callable[[], bytes], tuple[int, ...]]] = {
    "mobilenet_v2": (lambda: mobilenet.build(size=224), (1, 3, 224, 224)),
    "resnet18": (resnet18, (1, 3, 224, 224)),
    "transformer": (transformer, (1, 128, 768)),
}
"""What makes each network's file, and the shape of its input."""
BARS: Mapping[str, float] = {"mobilenet_v2": 3.0, "resnet18": 4.0, "transformer": 4.0}
"""The most times that the CPU backend's time may be taken."""

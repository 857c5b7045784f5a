"""A MobileNet-class network at any image size, with seeded weights, as ONNX.

The layers are those of MobileNetV2 (Sandler et al., 2018, table 2): inverted residuals of a
1x1 expansion, a 3x3 depthwise convolution and a 1x1 projection. Batch normalisation is folded
into weights and bias. The weights are random: the numbers mean nothing, the work is real.
"""

from __future__ import annotations

import math

import numpy as np

from .onnx_graph import Array, OnnxGraph

# Expansion, output channels, repeats, stride of the first.
BLOCKS = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
STEM_CHANNELS = 32
HEAD_CHANNELS = 1280


def build(*, size: int = 224, classes: int = 1000, width: float = 1.0, seed: int = 0) -> bytes:
    """The model as an `.onnx` file's contents: input 1x3x`size`x`size`, output 1x`classes`.

    `width` scales every channel count, as in the paper. With the defaults the model has 3.5
    million weights and does 300 million multiply-adds.
    """
    return assembled(Network(np.random.default_rng(seed), width), size, classes)


def assembled(network: Network, size: int, classes: int) -> bytes:
    """The file of a network of this kind."""
    graph = network.graph
    x = network.stored(graph.input("image", (1, 3, size, size)))
    x = network.activated(x, 3, network.channels(STEM_CHANNELS), kernel=3, stride=2)
    channels = network.channels(STEM_CHANNELS)
    for expansion, output, repeats, stride in BLOCKS:
        for repeat in range(repeats):
            step = stride if repeat == 0 else 1
            x = network.block(x, channels, network.channels(output), expansion, step)
            channels = network.channels(output)
    head = max(HEAD_CHANNELS, network.channels(HEAD_CHANNELS))
    x = network.activated(x, channels, head, kernel=1)
    x = graph.node("GlobalAveragePool", x)
    x = graph.node("Flatten", x)
    x = graph.linear(x, network.weights((head, classes), head), network.bias(classes))
    graph.output(graph.node("Softmax", x, name="probabilities", axis=1), (1, classes))
    return graph.to_bytes()


class Network:
    """The graph and the random weights of one model."""

    def __init__(self, random: np.random.Generator, width: float) -> None:
        self.graph = OnnxGraph("mobilenet")
        self._random = random
        self._width = width

    def channels(self, count: int) -> int:
        """A channel count scaled by the width, rounded to a multiple of 8."""
        return max(8, int(count * self._width + 4) // 8 * 8)

    def weights(self, shape: tuple[int, ...], fan_in: int) -> Array:
        """Normal weights with the deviation that keeps activations of order one."""
        return (self._random.standard_normal(shape) * math.sqrt(2 / fan_in)).astype(np.float32)

    def bias(self, count: int) -> Array:
        """Small normal biases."""
        return (self._random.standard_normal(count) * 0.05).astype(np.float32)

    def activated(self, x: str, inputs: int, outputs: int, *, kernel: int, stride: int = 1) -> str:
        """A full convolution followed by the activation."""
        shape = (outputs, inputs, kernel, kernel)
        weights = self.weights(shape, inputs * kernel * kernel)
        pad = kernel // 2
        x = self.convolution(x, weights, self.bias(outputs), stride=stride, pad=pad)
        return self.clipped(x)

    def convolution(
        self, x: str, weights: Array, bias: Array, *, stride: int = 1, pad: int = 0, groups: int = 1
    ) -> str:
        """A convolution by itself."""
        return self.graph.convolution(x, weights, bias, stride=stride, pad=pad, groups=groups)

    def clipped(self, x: str) -> str:
        """The activation."""
        return self.graph.clip(x, 0, 6)

    def stored(self, x: str) -> str:
        """A tensor without an activation, as it is kept."""
        return x

    def block(self, x: str, inputs: int, outputs: int, expansion: int, stride: int) -> str:
        """An inverted residual."""
        hidden = inputs * expansion
        y = x if expansion == 1 else self.activated(x, inputs, hidden, kernel=1)
        depthwise = self.weights((hidden, 1, 3, 3), 9)
        y = self.convolution(y, depthwise, self.bias(hidden), stride=stride, pad=1, groups=hidden)
        y = self.clipped(y)
        project = self.weights((outputs, hidden, 1, 1), hidden)
        y = self.stored(self.convolution(y, project, self.bias(outputs)))
        if stride == 1 and inputs == outputs:
            return self.stored(self.graph.node("Add", x, y))
        return y

"""The network of `mobilenet` with convolutions in int8, as quantisers write it, and a float head.

Each convolution has weights of int8 by channel behind a dequantiser, each tensor between them a
quantiser and a dequantiser: what an NPU takes. The head's pooling and classifier are floats.
"""

from __future__ import annotations

import numpy as np

from .mobilenet import Network, assembled
from .onnx_graph import Array

_ACTIVATED = 6 / 255
"""The scale of what is between 0 and 6."""
_LINEAR = 8 / 127
"""The scale of what has no limits: activations are of order one."""


def build(*, size: int = 224, classes: int = 1000, width: float = 1.0, seed: int = 0) -> bytes:
    """The model as an `.onnx` file's contents, with inputs and outputs as those of `mobilenet`."""
    return assembled(_Quantised(np.random.default_rng(seed), width), size, classes)


class _Quantised(Network):
    def convolution(
        self, x: str, weights: Array, bias: Array, *, stride: int = 1, pad: int = 0, groups: int = 1
    ) -> str:
        """Weights as integers, each output channel with a scale of its own."""
        graph = self.graph
        scale = (np.abs(weights).max(axis=(1, 2, 3)) / 127).astype(np.float32)
        integers = np.rint(weights / scale[:, None, None, None]).astype(np.int8)
        zeros = graph.weight(np.zeros(len(scale), np.int8))
        names = graph.weight(integers), graph.weight(scale), zeros
        return graph.node(
            "Conv",
            x,
            graph.node("DequantizeLinear", *names, axis=0),
            graph.weight(bias),
            kernel_shape=list(weights.shape[2:]),
            strides=[stride, stride],
            pads=[pad] * 4,
            group=groups,
        )

    def clipped(self, x: str) -> str:
        """The activation, quantised so that 0 is the least integer."""
        return self._quantised(super().clipped(x), _ACTIVATED, -128)

    def stored(self, x: str) -> str:
        """Quantised around 0."""
        return self._quantised(x, _LINEAR, 0)

    def _quantised(self, x: str, scale: float, zero: int) -> str:
        graph = self.graph
        names = graph.weight(np.array(scale, np.float32)), graph.weight(np.array(zero, np.int8))
        integers = graph.node("QuantizeLinear", x, *names)
        return graph.node("DequantizeLinear", integers, *names)

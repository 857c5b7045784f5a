"""Whole quantised ONNX networks with random weights, by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .network import Network


def residual_cnn(net: Network, size: int = 16) -> bytes:
    """Convolutions by channel and whole, a sum, pooling, a classifier."""
    x = net.qdq(net.input((1, 3, size, size)), 0.02, 0)
    x = _conv(net, x, 16, 3, stride=2)
    y = _conv(net, x, 32, 1)
    y = _conv(net, y, 32, 3, by_channel=True)
    y = net.qdq(net.node("Conv", y, net.weights((16, 32, 1, 1), by_channel=0), net.bias(16)), 0.3)
    x = net.qdq(net.node("Add", x, y), 0.3)
    x = net.qdq(net.node("GlobalAveragePool", x), 0.1)
    x = net.node("Flatten", x)
    x = net.node("Gemm", x, net.weights((16, 40), by_channel=1), net.bias(40))
    return net.finish(net.qdq(x, 0.05))


def _conv(
    net: Network, x: str, channels: int, kernel: int, *, stride: int = 1, by_channel: bool = False
) -> str:
    read = {3: 3, 16: 16, 32: 32}[_channels(net, x)]
    shape = (channels, 1 if by_channel else read, kernel, kernel)
    made = net.node(
        "Conv",
        x,
        net.weights(shape, by_channel=0),
        net.bias(channels),
        pads=[kernel // 2] * 4,
        strides=[stride, stride],
        group=channels if by_channel else 1,
    )
    y = net.qdq(net.node("Clip", made, net.const(0, "float32"), net.const(6, "float32")), 0.05, -60)
    net.channels[y] = channels
    return y


def _channels(net: Network, x: str) -> int:
    return net.channels.get(x, 3)


def encoder(net: Network, tokens: int = 8, width: int = 32, heads: int = 4) -> bytes:
    """An encoder block: attention, and a GELU in parts between two products."""
    x = net.qdq(net.input((1, tokens, width)), 0.03, 2)
    head = width // heads
    split = net.const([1, tokens, heads, head])

    def part(order: list[int]) -> str:
        made = net.node("MatMul", x, net.weights((width, width), by_channel=1))
        made = net.qdq(net.node("Add", made, net.bias(width)), 0.04)
        return net.node("Transpose", net.node("Reshape", made, split), perm=order)

    q, k, v = part([0, 2, 1, 3]), part([0, 2, 3, 1]), part([0, 2, 1, 3])
    scores = net.qdq(net.node("MatMul", q, k), 0.1)
    scores = net.qdq(net.node("Div", scores, net.const(np.float32(head**0.5))), 0.05)
    chances = net.qdq(net.node("Softmax", scores, axis=-1), 1 / 256, -128)
    mixed = net.node("Transpose", net.qdq(net.node("MatMul", chances, v), 0.03), perm=[0, 2, 1, 3])
    mixed = net.node("Reshape", mixed, net.const([1, tokens, width]))
    y = net.qdq(net.node("MatMul", mixed, net.weights((width, width), by_channel=1)), 0.03)
    y = net.qdq(net.node("Add", x, y), 0.04)
    up = net.qdq(net.node("MatMul", y, net.weights((width, 2 * width), by_channel=1)), 0.03)
    error = net.node("Erf", net.node("Div", up, net.const(np.float32(2**0.5))))
    gelu = net.node("Mul", up, net.node("Add", error, net.const(np.float32(1))))
    gelu = net.qdq(net.node("Mul", gelu, net.const(np.float32(0.5))), 0.02)
    down = net.qdq(net.node("MatMul", gelu, net.weights((2 * width, width), by_channel=1)), 0.03)
    return net.finish(net.qdq(net.node("Add", y, down), 0.05))


def detector(net: Network) -> bytes:
    """SiLU in parts, split and concatenated, resized twice: the parts of a detector."""
    x = net.qdq(net.input((1, 3, 16, 16)), 0.02, 0)
    x = _silu(net, x, 3, 16, stride=2)
    a, b = net.nodes("Split", x, net.const([8, 8]), outputs=2, axis=1)
    b = net.qdq(net.node("Add", b, _silu(net, b, 8, 8)), 0.06)
    x = net.qdq(net.node("Concat", a, b, axis=1), 0.06)
    pooled = net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    factors = net.const([1, 1, 2, 2], "float32")
    fields = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    wide = net.node("Resize", pooled, "", factors, mode="nearest", **fields)
    x = net.qdq(net.node("Concat", x, wide, axis=1), 0.06)
    x = net.qdq(net.node("Conv", x, net.weights((20, 32, 1, 1), by_channel=0), net.bias(20)), 0.1)
    x = net.node("Reshape", x, net.const([1, 20, 64]))
    return net.finish(net.node("Transpose", x, perm=[0, 2, 1]))


def _silu(net: Network, x: str, read: int, channels: int, *, stride: int = 1) -> str:
    weights = net.weights((channels, read, 3, 3), by_channel=0)
    fields = {"pads": [1, 1, 1, 1], "strides": [stride, stride]}
    y = net.qdq(net.node("Conv", x, weights, net.bias(channels), **fields), 0.06)
    return net.qdq(net.node("Mul", y, net.node("Sigmoid", y)), 0.05)


NETWORKS: dict[str, Callable[[Network], bytes]] = {
    "residual cnn": residual_cnn,
    "encoder": encoder,
    "detector": detector,
}
"""Each with the size that it usually has."""

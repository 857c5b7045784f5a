"""Quantised ONNX networks of one operator each, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .network import Network

CASES: dict[str, Callable[[Network], bytes]] = {}
"""Between one or two inputs and one or two results, all of them quantised."""


def _case(name: str) -> Callable[[Callable[[Network], bytes]], Callable[[Network], bytes]]:
    def keep(make: Callable[[Network], bytes]) -> Callable[[Network], bytes]:
        CASES[name] = make
        return make

    return keep


def _around(
    name: str,
    op: str,
    *shapes: Sequence[int],
    scale: float = 0.05,
    more: Callable[[Network], Sequence[str]] = lambda net: (),
    outputs: int = 1,
    **fields: Any,
) -> None:
    """A case of one node between quantisers; `more` are its other operands."""

    def make(net: Network) -> bytes:
        scales = (0.05, 0.03)
        operands = [
            net.qdq(net.input(shape), scales[n], 3 if n == 0 and net.kind == "int8" else None)
            for n, shape in enumerate(shapes)
        ]
        made = net.nodes(op, *operands, *more(net), outputs=outputs, **fields)
        point = -5 if net.kind == "int8" else None
        return net.finish(*(net.qdq(y, scale, point) for y in made))

    CASES[name] = make


def _weights(*shape: int, by_channel: int | None = None, bias: int = 0) -> Any:
    def more(net: Network) -> Sequence[str]:
        made = [net.weights(shape, by_channel=by_channel)]
        return [*made, net.bias(bias)] if bias else made

    return more


_IMAGE = (1, 6, 9, 11)
_around(
    "conv",
    "Conv",
    _IMAGE,
    scale=0.2,
    more=_weights(10, 6, 3, 3, by_channel=0, bias=10),
    pads=[1, 1, 1, 1],
)
_around(
    "conv with stride",
    "Conv",
    _IMAGE,
    scale=0.2,
    more=_weights(8, 6, 3, 3),
    strides=[2, 2],
    pads=[1, 1, 1, 1],
)
_around(
    "conv with rest",
    "Conv",
    _IMAGE,
    scale=0.2,
    more=_weights(8, 6, 2, 3),
    strides=[2, 3],
    pads=[1, 0, 0, 1],
)
_around(
    "conv by channel",
    "Conv",
    _IMAGE,
    scale=0.1,
    more=_weights(6, 1, 3, 3, by_channel=0, bias=6),
    group=6,
    auto_pad="SAME_UPPER",
    strides=[2, 2],
)
_around(
    "conv of two each",
    "Conv",
    _IMAGE,
    scale=0.1,
    more=_weights(12, 1, 3, 3, by_channel=0),
    group=6,
    auto_pad="SAME_LOWER",
    strides=[2, 2],
)
_around(
    "conv in groups",
    "Conv",
    _IMAGE,
    scale=0.2,
    more=_weights(8, 3, 3, 3, by_channel=0, bias=8),
    group=2,
    dilations=[2, 2],
)
_around(
    "conv of a row",
    "Conv",
    (2, 6, 15),
    scale=0.2,
    more=_weights(8, 6, 3, by_channel=0, bias=8),
    pads=[1, 1],
    strides=[2],
)
_around(
    "transposed conv",
    "ConvTranspose",
    _IMAGE,
    scale=0.2,
    more=_weights(6, 8, 3, 3, bias=8),
    strides=[2, 2],
    pads=[1, 1, 1, 1],
    output_padding=[1, 1],
)
_around("gemm", "Gemm", (5, 20), scale=0.2, more=_weights(20, 12, by_channel=1, bias=12))
_around(
    "gemm transposed",
    "Gemm",
    (5, 20),
    scale=0.2,
    more=_weights(12, 20, by_channel=0, bias=12),
    transB=1,
)
_around(
    "product with weights", "MatMul", (2, 5, 20), scale=0.2, more=_weights(20, 12, by_channel=1)
)
_around("product of two", "MatMul", (2, 3, 5, 20), (2, 3, 20, 7), scale=0.2)
_around("product of batches", "MatMul", (2, 3, 5, 20), (20, 7), scale=0.2)
_around("sum", "Add", _IMAGE, _IMAGE)
_around("sum with broadcast", "Add", _IMAGE, (6, 1, 1))
_around("difference", "Sub", (4, 7), (7,))
_around("product", "Mul", _IMAGE, _IMAGE, scale=0.1)
_around(
    "sum with a constant",
    "Add",
    _IMAGE,
    more=lambda net: [net.const(net.random.normal(0, 2, (6, 1, 1)), "float32")],
)
_around(
    "product with constants",
    "Mul",
    _IMAGE,
    more=lambda net: [net.const(net.random.normal(0, 1, (6, 1, 1)), "float32")],
)
_around("largest", "Max", _IMAGE, _IMAGE)
_around(
    "limited",
    "Clip",
    _IMAGE,
    more=lambda net: [net.const(-0.5, "float32"), net.const(2.0, "float32")],
)
_around("quotient by a number", "Div", _IMAGE, more=lambda net: [net.const(2.5, "float32")])
_around("power", "Pow", _IMAGE, more=lambda net: [net.const(2.0, "float32")], scale=0.3)
_FUNCTIONS = (
    "Relu Sigmoid Tanh Erf Exp Neg Abs HardSwish HardSigmoid Elu LeakyRelu Gelu Softplus Mish Selu "
    "Ceil Floor Round Sin Cos Atan Softsign Celu ThresholdedRelu"
)
for _name in _FUNCTIONS.split(" "):
    _around(_name.lower(), _name, (1, 3, 5, 7))
_around("slopes", "PRelu", (1, 3, 5, 7), more=lambda net: [net.const([0.3], "float32")])
_around("softmax", "Softmax", (3, 10), scale=1 / 256)
_around("softmax over channels", "Softmax", (1, 6, 4, 5), scale=1 / 256, axis=1)


def _gamma_beta(*shape: int) -> Callable[[Network], Sequence[str]]:
    return lambda net: [
        net.const(net.random.normal(0, 1, shape), "float32"),
        net.const(net.random.normal(0, 0.5, shape), "float32"),
    ]


_around("layer normalisation", "LayerNormalization", (2, 5, 24), scale=0.03, more=_gamma_beta(24))
_around(
    "layer normalisation of planes",
    "LayerNormalization",
    (2, 3, 4, 5),
    scale=0.03,
    axis=1,
    epsilon=0.3,
    more=_gamma_beta(3, 4, 5),
)
_around(
    "root mean squares",
    "SimplifiedLayerNormalization",
    (4, 33),
    scale=0.03,
    more=lambda net: _gamma_beta(33)(net)[:1],
)
_around("planes each", "InstanceNormalization", _IMAGE, scale=0.04, more=_gamma_beta(6))
_around("max pool", "MaxPool", _IMAGE, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
_around("max pool up", "MaxPool", _IMAGE, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
_around(
    "average pool",
    "AveragePool",
    _IMAGE,
    kernel_shape=[3, 3],
    strides=[2, 2],
    pads=[1, 1, 1, 1],
    scale=0.02,
)
_around(
    "average pool with padding",
    "AveragePool",
    _IMAGE,
    kernel_shape=[3, 3],
    pads=[1, 1, 1, 1],
    count_include_pad=1,
    scale=0.03,
)
_around("average pool of a row", "AveragePool", (1, 4, 13), kernel_shape=[3], strides=[2])
_around("mean of planes", "GlobalAveragePool", _IMAGE, scale=0.01)
_around("largest of planes", "GlobalMaxPool", _IMAGE)
_around("mean", "ReduceMean", (2, 5, 8), scale=0.02, more=lambda net: [net.const([-1])], keepdims=0)
_around("sum of a row", "ReduceSum", (2, 5, 8), scale=0.3, more=lambda net: [net.const([1])])
_around("largest of a row", "ReduceMax", (2, 5, 8), more=lambda net: [net.const([1])])
_around("reshape", "Reshape", _IMAGE, more=lambda net: [net.const([0, -1, 3])])
_around("flatten", "Flatten", _IMAGE)
_around("squeeze", "Squeeze", (1, 6, 1, 5), more=lambda net: [net.const([0, 2])])
_around("unsqueeze", "Unsqueeze", (6, 5), more=lambda net: [net.const([0, -1])])
_around("transpose", "Transpose", _IMAGE, perm=[0, 3, 1, 2])
_around("concat", "Concat", _IMAGE, (1, 4, 9, 11), axis=1, scale=0.06)
_around("split", "Split", _IMAGE, more=lambda net: [net.const([2, 4])], axis=1, outputs=2)
_around(
    "slice",
    "Slice",
    _IMAGE,
    more=lambda net: [
        net.const([1, -5]),
        net.const([6, 100]),
        net.const([1, 3]),
        net.const([2, 1]),
    ],
)
_around("gather", "Gather", (5, 8), more=lambda net: [net.const([[3, -1], [0, 3]])], axis=1)
_around(
    "pad",
    "Pad",
    (1, 3, 4, 5),
    more=lambda net: [net.const([0, 0, 1, 2, 0, 0, 3, 0]), net.const(0.6, "float32")],
)
_around("expand", "Expand", (3, 1, 5), more=lambda net: [net.const([2, 3, 4, 5])])
_around("tile", "Tile", (3, 5), more=lambda net: [net.const([2, 3])])
_around("depth to space", "DepthToSpace", (1, 12, 3, 4), blocksize=2, mode="CRD")
_around("depth to space by columns", "DepthToSpace", (1, 12, 3, 4), blocksize=2)
_around("space to depth", "SpaceToDepth", (1, 3, 4, 6), blocksize=2)


def _resize(*factors: float) -> Callable[[Network], Sequence[str]]:
    return lambda net: ["", net.const([1, 1, *factors], "float32")]


_nearest = {
    "mode": "nearest",
    "coordinate_transformation_mode": "asymmetric",
    "nearest_mode": "floor",
}
_around("resize twice", "Resize", (1, 3, 5, 7), more=_resize(2, 2), **_nearest)
_around("resize by parts", "Resize", (1, 3, 6, 8), more=_resize(1.5, 0.5), mode="nearest")
_around("resize linearly", "Resize", (1, 3, 5, 7), more=_resize(2, 2), mode="linear", scale=0.04)
_around(
    "resize linearly to corners",
    "Resize",
    (1, 3, 5, 7),
    more=_resize(2, 3),
    mode="linear",
    coordinate_transformation_mode="align_corners",
)


@_case("places of the largest")
def places(net: Network) -> bytes:
    x = net.qdq(net.input((2, 40, 9)), 0.05)
    y = net.node("Cast", net.node("ArgMax", x, axis=1, keepdims=0), to=6)
    return net.finish(y, kinds=["int32"])


@_case("normalisation and softmax of 16 bits")
def rows_of_16_bits(net: Network) -> bytes:
    x = net.dq(net.q(net.input((3, 40)), 2e-3, kind="int16"), 2e-3, kind="int16")
    y = net.node("LayerNormalization", x, *_gamma_beta(40)(net))
    y = net.dq(net.q(y, 2e-4, kind="int16"), 2e-4, kind="int16")
    return net.finish(net.q(net.node("Softmax", y), 1 / 32768, kind="int16"), kinds=["int16"])


@_case("silu in parts")
def silu(net: Network) -> bytes:
    x = net.qdq(net.input((1, 3, 5, 7)), 0.05, 3)
    return net.finish(net.qdq(net.node("Mul", x, net.node("Sigmoid", x)), 0.04))


@_case("gelu in parts")
def gelu(net: Network) -> bytes:
    x = net.qdq(net.input((2, 6)), 0.05, 3)
    error = net.node("Erf", net.node("Div", x, net.const(np.float32(2**0.5))))
    half = net.node("Mul", x, net.node("Add", error, net.const(np.float32(1))))
    return net.finish(net.qdq(net.node("Mul", half, net.const(np.float32(0.5))), 0.04))


@_case("conv, sum and relu without quantisers between")
def residual(net: Network) -> bytes:
    x = net.qdq(net.input((1, 6, 8, 8)), 0.05, 3)
    y = net.node("Conv", x, net.weights((6, 6, 3, 3), by_channel=0), net.bias(6), pads=[1] * 4)
    return net.finish(net.qdq(net.node("Relu", net.node("Add", y, x)), 0.2))


@_case("product and bias apart")
def linear(net: Network) -> bytes:
    x = net.qdq(net.input((2, 4, 16)), 0.05, 3)
    y = net.node("Add", net.node("MatMul", x, net.weights((16, 8), by_channel=1)), net.bias(8))
    return net.finish(net.qdq(y, 0.2))


@_case("integers in and out")
def integers(net: Network) -> bytes:
    x = net.input((1, 6, 8, 8), "uint8")
    w = net.const(net.random.integers(-127, 128, (8, 6, 3, 3)).astype(np.int8))
    scales = net.scales(net.random.uniform(0.005, 0.02, 8), 0, "int8")
    bias = net.const(net.random.integers(-2000, 2000, 8), "int32")
    made = net.scales(0.2, 120, "uint8")
    y = net.node("QLinearConv", x, *net.scales(0.05, 130, "uint8"), w, *scales, *made, bias)
    return net.finish(y, kinds=["uint8"])


@_case("product of integers")
def qlinear_matmul(net: Network) -> bytes:
    x, y = net.input((3, 16), "uint8"), net.input((16, 5), "uint8")
    a, b, c = (net.scales(s, z, "uint8") for s, z in ((0.02, 120), (0.03, 131), (0.1, 128)))
    return net.finish(net.node("QLinearMatMul", x, *a, y, *b, *c), kinds=["uint8"])


@_case("sums of integers, scaled as floats")
def conv_integer(net: Network) -> bytes:
    x = net.input((1, 6, 8, 8), "uint8")
    w = net.const(net.random.integers(-127, 128, (8, 6, 3, 3)).astype(np.int8))
    total = net.node("ConvInteger", x, w, net.const(np.uint8(121)), pads=[1] * 4)
    y = net.node("Mul", net.node("Cast", total, to=1), net.const(np.float32(0.0007)))
    return net.finish(net.q(y, 0.2, 7, "uint8"), kinds=["uint8"])


@_case("products of integers as they are")
def matmul_integer(net: Network) -> bytes:
    x = net.input((3, 16), "int8")
    w = net.const(net.random.integers(-127, 128, (16, 5)).astype(np.int8))
    return net.finish(net.node("MatMulInteger", x, w), kinds=["int32"])


def _microsoft(
    name: str, op: str, *shapes: Sequence[int], scale: float = 0.05, **fields: Any
) -> None:
    def make(net: Network) -> bytes:
        operands: list[str] = []
        for n, shape in enumerate(shapes):
            operands += [net.input(shape, "uint8"), *net.scales((0.05, 0.03)[n], 131 + n, "uint8")]
        y = net.microsoft(op, *operands, *net.scales(scale, 119, "uint8"), **fields)
        return net.finish(y, kinds=["uint8"])

    CASES[name] = make


_microsoft("sum of integers", "QLinearAdd", (2, 3, 4), (2, 3, 4))
_microsoft("products of elements of integers", "QLinearMul", (2, 3, 4), (2, 3, 4), scale=0.1)
_microsoft("sigmoid of integers", "QLinearSigmoid", (2, 3, 4), scale=1 / 256)
_microsoft("leaky relu of integers", "QLinearLeakyRelu", (2, 3, 4), alpha=0.1)
_microsoft(
    "mean of planes of integers",
    "QLinearGlobalAveragePool",
    (1, 4, 5, 5),
    scale=0.02,
    channels_last=0,
)
_microsoft(
    "average pool of integers",
    "QLinearAveragePool",
    (1, 4, 6, 6),
    kernel_shape=[2, 2],
    strides=[2, 2],
)
_microsoft("softmax of integers", "QLinearSoftmax", (3, 10), scale=1 / 256, opset=13, axis=-1)


@_case("fully connected of integers")
def qgemm(net: Network) -> bytes:
    x = net.input((3, 16), "uint8")
    w = net.const(net.random.integers(-127, 128, (16, 5)).astype(np.int8))
    bias = net.const(net.random.integers(-2000, 2000, 5), "int32")
    scales = net.scales(np.full(5, 0.01), 0, "int8")
    y = net.microsoft(
        "QGemm",
        x,
        *net.scales(0.05, 130, "uint8"),
        w,
        *scales,
        bias,
        *net.scales(0.1, 120, "uint8"),
    )
    return net.finish(y, kinds=["uint8"])


@_case("parts of integers in a row")
def qlinear_concat(net: Network) -> bytes:
    x, y = net.input((2, 3, 4), "uint8"), net.input((2, 5, 4), "uint8")
    a, b, c = (net.scales(s, z, "uint8") for s, z in ((0.05, 120), (0.03, 131), (0.05, 125)))
    return net.finish(net.microsoft("QLinearConcat", *c, x, *a, y, *b, axis=1), kinds=["uint8"])

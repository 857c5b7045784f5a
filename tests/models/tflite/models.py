"""Whole networks with random weights, by name: what people run on small NPUs."""

from collections.abc import Callable

from .network import NONE, RELU, RELU6, SAME, VALID, Network, Tensor
from .recurrent import lstm, mamba


def ds_cnn(seed: int = 1) -> bytes:
    """The depthwise separable CNN of MLPerf Tiny's keyword spotting: 49x10 features, 12 words."""
    net = Network(seed)
    x = net.input((1, 49, 10, 1), 0.6, 83)
    x = net.convolution(x, 64, (10, 4), stride=2, activation=RELU)
    for _ in range(4):
        x = net.depthwise(x, 3, activation=RELU)
        x = net.convolution(x, 64, 1, activation=RELU)
    x = net.pool(x, 5, stride=5, op="AVERAGE") if x.shape[1] == x.shape[2] else net.mean(x)
    x = net.fully_connected(net.reshape(x, (1, 64)), 12)
    return net.finish(net.softmax(x))


def mobilenet_v2(seed: int = 2, size: int = 224) -> bytes:
    """MobileNetV2 1.0 with 1000 classes."""
    net = Network(seed)
    x = net.convolution(net.input((1, size, size, 3)), 32, 3, stride=2, activation=RELU6)
    blocks = (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    )
    for expansion, channels, many, stride in blocks:
        for index in range(many):
            x = _inverted_residual(net, x, expansion, channels, stride if index == 0 else 1)
    x = net.convolution(x, 1280, 1, activation=RELU6)
    x = net.fully_connected(net.mean(x), 1000)
    return net.finish(net.softmax(x))


def _inverted_residual(
    net: Network, x: Tensor, expansion: int, channels: int, stride: int
) -> Tensor:
    y = x
    if expansion > 1:
        y = net.convolution(y, x.shape[3] * expansion, 1, activation=RELU6)
    y = net.depthwise(y, 3, stride=stride, activation=RELU6)
    y = net.convolution(y, channels, 1)
    return net.binary("ADD", x, y) if stride == 1 and x.shape == y.shape else y


def resnet18(seed: int = 3, height: int = 224, width: int = 224) -> bytes:
    """ResNet-18 with 1000 classes, batch normalisation folded."""
    net = Network(seed)
    x = net.convolution(net.input((1, height, width, 3)), 64, 7, stride=2, activation=RELU)
    x = net.pool(x, 3, stride=2, padding=SAME)
    for channels, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        for index in range(2):
            x = _basic_block(net, x, channels, stride if index == 0 else 1)
    return net.finish(net.fully_connected(net.mean(x), 1000))


def _basic_block(net: Network, x: Tensor, channels: int, stride: int) -> Tensor:
    y = net.convolution(x, channels, 3, stride=stride, activation=RELU)
    y = net.convolution(y, channels, 3)
    if stride != 1 or x.shape[3] != channels:
        x = net.convolution(x, channels, 1, stride=stride, padding=VALID)
    return net.binary("ADD", x, y, RELU)


def resnet18_480x640(seed: int = 3) -> bytes:
    """ResNet-18 for larger images."""
    return resnet18(seed, 480, 640)


def wide_cnn(seed: int = 7) -> bytes:
    """Few layers whose tensors are larger than the NPU's memory, two of them read twice."""
    net = Network(seed)
    x = net.convolution(net.input((1, 96, 96, 8)), 16, 3, activation=RELU)
    for stride in (1, 2):
        x = _inverted_residual(net, x, 4, 16, stride)
    x = net.binary("ADD", x, net.convolution(x, 16, 3, activation=RELU))
    return net.finish(net.fully_connected(net.mean(net.pool(x, 2, stride=2)), 10))


def yolov8n(seed: int = 4, size: int = 320) -> bytes:
    """A detector like YOLOv8n: SiLU, split and concatenate, upsample, three heads."""
    net = Network(seed)
    x = _silu(net, net.input((1, size, size, 3)), 16, stride=2)
    x = _c2f(net, _silu(net, x, 32, stride=2), 32, 1, shortcut=True)
    p3 = _c2f(net, _silu(net, x, 64, stride=2), 64, 2, shortcut=True)
    p4 = _c2f(net, _silu(net, p3, 128, stride=2), 128, 2, shortcut=True)
    p5 = _c2f(net, _silu(net, p4, 256, stride=2), 256, 1, shortcut=True)
    p5 = _pyramid_pool(net, p5)
    up = net.concatenation([net.resize_nearest(p5, 2), p4], 3)
    n4 = _c2f(net, up, 128, 1, shortcut=False)
    up = net.concatenation([net.resize_nearest(n4, 2), p3], 3)
    n3 = _c2f(net, up, 64, 1, shortcut=False)
    down = net.concatenation([_silu(net, n3, 64, stride=2), n4], 3)
    n4 = _c2f(net, down, 128, 1, shortcut=False)
    down = net.concatenation([_silu(net, n4, 128, stride=2), p5], 3)
    n5 = _c2f(net, down, 256, 1, shortcut=False)
    heads = [_head(net, level) for level in (n3, n4, n5)]
    return net.finish(net.concatenation(heads, 1))


def yolov8n_640(seed: int = 4) -> bytes:
    """YOLOv8n for larger images."""
    return yolov8n(seed, 640)


def _silu(net: Network, x: Tensor, channels: int, kernel: int = 3, stride: int = 1) -> Tensor:
    y = net.convolution(x, channels, kernel, stride=stride)
    return net.binary("MUL", y, net.unary("LOGISTIC", y))


def _c2f(net: Network, x: Tensor, channels: int, many: int, *, shortcut: bool) -> Tensor:
    y = _silu(net, x, channels, 1)
    half = channels // 2
    n, height, width, _ = y.shape
    parts = [net.slice(y, (0, 0, 0, first), (n, height, width, half)) for first in (0, half)]
    for _ in range(many):
        z = _silu(net, _silu(net, parts[-1], half), half)
        parts.append(net.binary("ADD", parts[-1], z) if shortcut else z)
    return _silu(net, net.concatenation(parts, 3), channels, 1)


def _pyramid_pool(net: Network, x: Tensor) -> Tensor:
    parts = [_silu(net, x, x.shape[3] // 2, 1)]
    for _ in range(3):
        parts.append(net.pool(parts[-1], 5, padding=SAME))
    return _silu(net, net.concatenation(parts, 3), x.shape[3], 1)


def _head(net: Network, x: Tensor) -> Tensor:
    boxes = net.convolution(_silu(net, _silu(net, x, 64), 64), 64, 1)
    classes = net.convolution(_silu(net, _silu(net, x, 80), 80), 80, 1)
    both = net.concatenation([boxes, classes], 3)
    return net.reshape(both, (1, both.shape[1] * both.shape[2], 144))


def int16_cnn(seed: int = 5) -> bytes:
    """A small CNN with activations of 16 bits."""
    net = Network(seed, "int16")
    x = net.convolution(net.input((1, 16, 16, 8), 0.0003, 0), 16, 3, activation=RELU)
    x = net.depthwise(x, 3, stride=2, activation=NONE)
    y = net.convolution(x, 16, 1)
    x = net.unary("LOGISTIC", net.binary("ADD", x, y))
    return net.finish(net.fully_connected(net.reshape(x, (1, 8 * 8 * 16)), 10))


def transformer(seed: int = 6, tokens: int = 64, width: int = 768, heads: int = 12) -> bytes:
    """An encoder block: attention, two products with a GELU between, each behind a layer norm."""
    net = Network(seed)
    x = net.input((1, tokens, width))
    y = net.binary("ADD", x, _attention(net, net.layer_norm(x), heads))
    z = net.fully_connected(net.layer_norm(y), 4 * width)
    z = net.fully_connected(net.unary("GELU", z), width)
    return net.finish(net.binary("ADD", y, z))


def _attention(net: Network, x: Tensor, heads: int) -> Tensor:
    _, tokens, width = x.shape
    split = (1, tokens, heads, width // heads)
    q, k, v = (
        net.transpose(net.reshape(net.fully_connected(x, width), split), (0, 2, 1, 3))
        for _ in range(3)
    )
    weights = net.softmax(net.batch_matmul(q, k, transpose_b=True))
    mixed = net.transpose(net.batch_matmul(weights, v), (0, 2, 1, 3))
    return net.fully_connected(net.reshape(mixed, x.shape), width)


MODELS: dict[str, Callable[[], bytes]] = {
    "ds_cnn": ds_cnn,
    "mobilenet_v2": mobilenet_v2,
    "resnet18": resnet18,
    "resnet18_480x640": resnet18_480x640,
    "wide_cnn": wide_cnn,
    "yolov8n": yolov8n,
    "int16_cnn": int16_cnn,
    "transformer": transformer,
    "yolov8n_640": yolov8n_640,
    "lstm": lstm,
    "mamba": mamba,
}
"""Each with the seed and size that it usually has."""

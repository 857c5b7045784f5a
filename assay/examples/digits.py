"""A small convolutional network that reads hand-sized digits, fitted in a second on the spot.

Images are drawn from a 5x7 dot font with random shifts, sizes, slant and noise. The two
convolutions have fixed random filters; the last layer is fitted by ridge regression, so no
training loop and no download is needed and every run gives the same weights.
"""

from dataclasses import dataclass

import numpy as np

from .onnx_graph import Array, OnnxGraph

SIZE = 28
CLASSES = 10
_FONT = (
    "01110 10001 10011 10101 11001 10001 01110",
    "00100 01100 00100 00100 00100 00100 01110",
    "01110 10001 00001 00010 00100 01000 11111",
    "11111 00010 00100 00010 00001 10001 01110",
    "00010 00110 01010 10010 11111 00010 00010",
    "11111 10000 11110 00001 00001 10001 01110",
    "00110 01000 10000 11110 10001 10001 01110",
    "11111 00001 00010 00100 01000 01000 01000",
    "01110 10001 10001 01110 10001 10001 01110",
    "01110 10001 10001 01111 00001 00010 01100",
)
_EXAMPLES = 2500
_RIDGE = 10.0
_SHARPNESS = 12.0  # turns least-squares scores, about 0 to 1, into logits


@dataclass(frozen=True, kw_only=True, slots=True)
class DigitReader:
    """The network's weights. Filters are (out, in, k, k), the last layer (features, classes)."""

    filters1: Array
    bias1: Array
    filters2: Array
    bias2: Array
    weights: Array
    bias: Array

    def to_onnx(self, batch: int) -> bytes:
        """An `.onnx` file's contents: images (batch, 1, 28, 28) to probabilities (batch, 10)."""
        graph = OnnxGraph("digits")
        x = graph.input("images", (batch, 1, SIZE, SIZE))
        x = graph.node("Relu", graph.convolution(x, self.filters1, self.bias1))
        x = graph.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        x = graph.node("Relu", graph.convolution(x, self.filters2, self.bias2))
        x = graph.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        x = graph.linear(graph.node("Flatten", x), self.weights, self.bias)
        graph.output(graph.node("Softmax", x, name="probabilities", axis=1), (batch, CLASSES))
        return graph.to_bytes()


def draw(digits: Array, random: np.random.Generator) -> Array:
    """Images (n, 1, 28, 28) in [0, 1] of the given digits, each drawn differently."""
    return np.stack([_draw_one(int(digit), random) for digit in digits])[:, None]


def fit(*, seed: int = 0) -> DigitReader:
    """Makes the network: random filters, and a last layer that fits freshly drawn examples."""
    random = np.random.default_rng(seed)
    filters1 = _filters(random, 8, 1, 5)
    filters2 = _filters(random, 24, 8, 3)
    bias1, bias2 = (_small(random, count) for count in (8, 24))
    digits = random.integers(0, CLASSES, _EXAMPLES)
    features = _features(draw(digits, random), filters1, bias1, filters2, bias2)
    weights, bias = _ridge(features, digits)
    return DigitReader(
        filters1=filters1,
        bias1=bias1,
        filters2=filters2,
        bias2=bias2,
        weights=(weights * _SHARPNESS).astype(np.float32),
        bias=(bias * _SHARPNESS).astype(np.float32),
    )


def _draw_one(digit: int, random: np.random.Generator) -> Array:
    font = np.array([[c == "1" for c in row] for row in _FONT[digit].split()], np.float32)
    height, width = random.uniform(16, 22), random.uniform(10, 16)
    top, left = random.uniform(2, 26 - height), random.uniform(3, 25 - width)
    slant = random.uniform(-0.2, 0.2)
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    row = (y - top) / height * 7
    column = (x - left + slant * (y - SIZE / 2)) / width * 5
    inside = (row >= 0) & (row < 7) & (column >= 0) & (column < 5)
    ink = font[np.clip(row, 0, 6).astype(int), np.clip(column, 0, 4).astype(int)] * inside
    noisy = ink * random.uniform(0.7, 1.0) + random.normal(0, 0.08, ink.shape)
    image: Array = np.clip(noisy, 0, 1)
    return image.astype(np.float32)


def _filters(random: np.random.Generator, outputs: int, inputs: int, size: int) -> Array:
    shape = (outputs, inputs, size, size)
    weights: Array = random.standard_normal(shape) * (2 / (inputs * size * size)) ** 0.5
    return weights.astype(np.float32)


def _small(random: np.random.Generator, count: int) -> Array:
    values: Array = random.standard_normal(count) * 0.1
    return values.astype(np.float32)


def _features(images: Array, filters1: Array, bias1: Array, filters2: Array, bias2: Array) -> Array:
    hidden = _pool(_convolve(images, filters1, bias1))
    return _pool(_convolve(hidden, filters2, bias2)).reshape(len(images), -1)


def _convolve(x: Array, filters: Array, bias: Array) -> Array:
    """A convolution with relu, in NCHW order without padding."""
    size = filters.shape[2]
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))
    y = np.einsum("nchwij,ocij->nohw", windows, filters, optimize=True)
    result: Array = np.maximum(y + bias[:, None, None], 0)
    return result


def _pool(x: Array) -> Array:
    """2x2 max pooling; an odd last row or column is left out."""
    n, c, height, width = x.shape
    cut = x[:, :, : height // 2 * 2, : width // 2 * 2]
    pooled: Array = cut.reshape(n, c, height // 2, 2, width // 2, 2).max(axis=(3, 5))
    return pooled


def _ridge(features: Array, digits: Array) -> tuple[Array, Array]:
    """Weights (features, classes) and bias whose output is 1 for the digit and 0 elsewhere."""
    mean = features.mean(axis=0)
    centred = (features - mean).astype(np.float64)
    wanted = np.eye(CLASSES)[digits]
    gram = centred.T @ centred + _RIDGE * np.eye(centred.shape[1])
    weights = np.linalg.solve(gram, centred.T @ (wanted - wanted.mean(axis=0)))
    return weights, wanted.mean(axis=0) - mean @ weights

"""A very small CNN, for tests of whole tools."""

from .network import RELU, Network


def int8_cnn() -> bytes:
    """Convolution with relu, max pooling, reshape and a fully connected layer, all int8."""
    net = Network(5)
    x = net.convolution(net.input((1, 8, 8, 4), 0.05, 3), 8, activation=RELU)
    x = net.pool(x, 2, stride=2)
    return net.finish(net.fully_connected(net.reshape(x, (1, 128)), 10))


def open_cnn() -> bytes:
    """Two convolutions with pooling between them, for any number of images."""
    net = Network(5, open_batch=True)
    x = net.convolution(net.input((1, 8, 8, 4), 0.05, 3), 8, activation=RELU)
    return net.finish(net.convolution(net.pool(x, 2, stride=2), 4))

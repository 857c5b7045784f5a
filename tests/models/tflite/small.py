"""A very small CNN, for tests of whole tools."""

from .network import RELU, Network


def int8_cnn() -> bytes:
    """Convolution with relu, max pooling, reshape and a fully connected layer, all int8."""
    net = Network(5)
    x = net.convolution(net.input((1, 8, 8, 4), 0.05, 3), 8, activation=RELU)
    x = net.pool(x, 2, stride=2)
    return net.finish(net.fully_connected(net.reshape(x, (1, 128)), 10))

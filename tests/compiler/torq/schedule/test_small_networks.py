"""Networks of a few operators, each with something that is easily done wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.compiler.graph import models
from tests.models.tflite.network import SAME, VALID, Network

from .running import assert_file_is_exact_and_clean

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")

NETWORKS: dict[str, Callable[[Network], bytes]] = {}
Maker = Callable[[Network], bytes]


def _network(make: Maker) -> Maker:
    NETWORKS[make.__name__] = make
    return make


@_network
def rows_below_the_last_plane_of_lram_are_read(net: Network) -> bytes:
    x = net.convolution(net.input((1, 8, 224, 4)), 4, 1)
    return net.finish(net.convolution(x, 4, 5))


@_network
def a_result_is_another_shape_transposed(net: Network) -> bytes:
    x = net.fully_connected(net.input((6, 3)), 40)
    return net.finish(net.transpose(net.reshape(x, (15, 16)), (1, 0)))


@_network
def an_input_is_transposed_and_has_another_shape(net: Network) -> bytes:
    x = net.transpose(net.input((1, 4, 6, 8)), (0, 3, 1, 2))
    return net.finish(net.fully_connected(net.reshape(x, (8, 24)), 5))


@_network
def what_a_result_transposes_has_another_shape(net: Network) -> bytes:
    x = net.fully_connected(net.input((6, 8)), 12)
    return net.finish(net.fully_connected(net.reshape(x, (12, 6)), 3), net.transpose(x, (1, 0)))


@_network
def planes_are_padded(net: Network) -> bytes:
    x = net.convolution(net.input((1, 5, 5, 4)), 8, 1)
    x = net.unary("LOGISTIC", net.pad(x, [(0, 0), (1, 0), (0, 2), (1, 2)]))
    return net.finish(net.convolution(x, 4, 3))


@_network
def means_of_windows_are_padded(net: Network) -> bytes:
    x = net.convolution(net.input((1, 7, 6, 4)), 8, 1)
    x = net.pool(x, 3, padding=SAME, op="AVERAGE")
    return net.finish(net.convolution(x, 4, 1))


@_network
def means_of_windows_stride_over_odd_planes(net: Network) -> bytes:
    x = net.convolution(net.input((1, 7, 9, 4)), 8, 1)
    x = net.pool(x, 3, stride=2, op="AVERAGE")
    return net.finish(net.convolution(x, 4, 1))


@_network
def windows_stride_by_three(net: Network) -> bytes:
    x = net.convolution(net.input((1, 9, 9, 4)), 8, 1)
    return net.finish(net.convolution(net.pool(x, 3, stride=3), 4, 1))


@_network
def windows_are_wide_and_without_padding(net: Network) -> bytes:
    x = net.convolution(net.input((1, 12, 17, 5)), 6, 5, padding=VALID)
    x = net.depthwise(x, (1, 7), padding=VALID)
    return net.finish(net.pool(x, 6, op="AVERAGE", stride=1), net.pool(x, 7))


@_network
def windows_are_wide_and_stride_without_padding(net: Network) -> bytes:
    x = net.convolution(net.input((1, 11, 15, 5)), 6, 5, stride=2, padding=VALID)
    return net.finish(net.convolution(net.pad(x, [(0, 0), (0, 2), (0, 2), (0, 0)]), 4, 1))


@_network
def windows_have_padding_on_one_side(net: Network) -> bytes:
    x = net.depthwise(net.input((1, 8, 8, 5)), 7, stride=2, padding=SAME)
    return net.finish(net.convolution(x, 4, 1))


@_network
def rows_of_a_concatenation_need_only_some_of_its_parts(net: Network) -> bytes:
    x = net.convolution(net.input((1, 48, 64, 16)), 32, 3)
    parts = [
        net.depthwise(x, 3),
        net.unary("LOGISTIC", x),
        net.pad(x, [(0, 0), (9, 0), (0, 0), (0, 0)]),
    ]
    return net.finish(net.convolution(net.concatenation(parts, 1), 8, 3))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NETWORKS)
def test_a_small_network_is_exact_and_clean_where(name: str, tmp_path: Path) -> None:
    path = tmp_path / "network.tflite"
    path.write_bytes(NETWORKS[name](Network(3)))
    assert_file_is_exact_and_clean(path)


def test_a_table_whose_steps_do_not_fit_16_bits_is_exact(tmp_path: Path) -> None:
    net = Network(3, "int16")
    x = net.input((1, 8, 64), 0.5, 0)
    path = tmp_path / "network.tflite"
    path.write_bytes(net.finish(net.unary("TANH", x), net.unary("LOGISTIC", x)))
    assert_file_is_exact_and_clean(path)

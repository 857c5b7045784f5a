"""Channels of one shift come side by side, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from assay.compiler.graph.elements import Array
from assay.compiler.graph.importer import import_model
from assay.compiler.graph.tosa import ops
from assay.compiler.torq.hl.dialect import hl_context
from assay.compiler.torq.hl.interpret import interpreted
from assay.compiler.torq.hl.operation import HlOp
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.compiler.torq.passes.sort_channels import SortChannels
from assay.compiler.torq.slice.scaling import channel_runs, shift_classes
from tests.compiler.graph import models
from tests.models.tflite.network import RELU6, SAME, Network

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
_SHAPE = (1, 6, 6, 8)


def _inverted_residuals(net: Network) -> bytes:
    x = net.convolution(net.input(_SHAPE), 16, 1)
    for _ in range(2):
        y = net.convolution(x, 32, 1, activation=RELU6)
        y = net.convolution(net.depthwise(y, 3, activation=RELU6), 16, 1)
        x = net.binary("ADD", x, y)
    return net.finish(net.fully_connected(net.mean(x), 10))


def _parts(net: Network) -> bytes:
    x = net.convolution(net.input(_SHAPE), 24, 1)
    halves = [net.slice(x, (0, 0, 0, at), (1, 6, 6, 12)) for at in (0, 12)]
    y = net.depthwise(net.convolution(halves[1], 12, 3), 3)
    joined = net.concatenation([halves[0], y, net.pool(y, 3, padding=SAME)], 3)
    x = net.binary("MUL", joined, net.unary("LOGISTIC", joined))
    return net.finish(net.convolution(x, 8, 1))


def _before(network: Callable[[Network], bytes], folder: Path) -> tuple[ModuleOp, list[Array]]:
    """A network just before its channels are sorted, and inputs for it."""
    path = folder / "network.tflite"
    path.write_bytes(network(Network(5)))
    module = import_model(path, hl_context())
    inputs = models.random_inputs(models.main(module))
    before = [each for each in usual_passes() if each.name != "sort-channels"]
    run_passes(module, before)
    return module, inputs


def _tasks(module: ModuleOp) -> dict[str, tuple[int, int]]:
    """By operator: runs of channels, and how few there could be in any order."""
    found = {}
    for number, op in enumerate(ops.body(models.main(module)).ops):
        if isinstance(op, HlOp) and "convolution" in op.name:
            scaling = op.field("rescale")
            many = len(scaling.multipliers)
            runs, classes = channel_runs(scaling, many), shift_classes(scaling, many)
            found[f"{op.name} {number}"] = len(runs), max(classes) + 1
    return found


@pytest.mark.parametrize("network", [_inverted_residuals, _parts])
def test_a_network_with_sorted_channels_computes_the_same_in_fewer_tasks(
    network: Callable[[Network], bytes], tmp_path: Path
) -> None:
    module, inputs = _before(network, tmp_path)
    expected = interpreted(models.main(module), inputs)
    before = sum(runs for runs, _ in _tasks(module).values())
    run_passes(module, [SortChannels()])
    found = interpreted(models.main(module), inputs)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)
    assert sum(runs for runs, _ in _tasks(module).values()) < before / 2


def test_an_operator_that_shares_its_order_with_nobody_gets_as_few_tasks_as_there_can_be(
    tmp_path: Path,
) -> None:
    def network(net: Network) -> bytes:
        x = net.convolution(net.input(_SHAPE), 64, 1)
        return net.finish(net.fully_connected(net.mean(net.convolution(x, 32, 3)), 10))

    module, _ = _before(network, tmp_path)
    run_passes(module, [SortChannels()])
    assert all(runs == least for runs, least in _tasks(module).values())

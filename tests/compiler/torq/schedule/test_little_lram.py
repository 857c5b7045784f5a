"""A network fits an NPU's memory if the smallest tiles of its operators do, one at a time."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from assay.compiler.graph.importer import import_model
from assay.compiler.graph.tosa import ops
from assay.compiler.models.errors import ModelError
from assay.compiler.torq.hl.dialect import hl_context
from assay.compiler.torq.kernels.kernel import Kernel
from assay.compiler.torq.kernels.variants import variants
from assay.compiler.torq.operators.operator import Operator
from assay.compiler.torq.operators.tensors import Region
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.compiler.torq.schedule.allocate import fetched_by
from assay.compiler.torq.schedule.job_tiles import CODE_BYTES
from assay.compiler.torq.schedule.network import network_of
from assay.compiler.torq.schedule.options import Options
from assay.compiler.torq.slice.lram import ALIGNMENT
from assay.hw.torq.facts.machine import limit
from tests.compiler.graph import models
from tests.models.tflite.network import SAME, VALID, Network, Tensor

from .running import assert_file_is_exact_and_clean, lowered

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")

_STEP = 4096
"""Bytes in which the search for tiles counts."""


def _smallest(op: Operator, kernel: Kernel[Any]) -> int:
    """Bytes of the largest of an operator's smallest tiles, of a few all over it."""
    shape = op.y.shape
    sizes = list(shape)
    for dim in kernel.tile_dims(op):
        sizes[dim.axis] = min(dim.granularity, shape[dim.axis])
    starts = [
        sorted({0, n // 2 // size * size, (n - 1) // size * size})
        for n, size in zip(shape, sizes, strict=True)
    ]
    found = 0
    for at in itertools.product(*starts):
        ends = zip(at, sizes, shape, strict=True)
        out = Region(starts=at, sizes=tuple(min(size, n - a) for a, size, n in ends))
        parts = kernel.footprint(op, out).values()
        found = max(found, sum(-(-size // ALIGNMENT) * ALIGNMENT for size in parts))
    return found


def _least_lram(path: Path) -> int:
    """KiB of LRAM with which every operator of a network can be done, tile by smallest tile."""
    module = import_model(path, hl_context())
    run_passes(module, usual_passes())
    every = [job.op for job in network_of(ops.functions(module)[0]).jobs]
    need = max(min(_smallest(op, kernel) for kernel in variants(op)) for op in every)
    behind = max(map(fetched_by, every))
    room = limit("lram_pool_start") + 2 * CODE_BYTES + behind + _STEP
    return -(-(need + room) // 1024)


def _drawn(draw: random.Random) -> bytes:
    """A few operators whose tensors are wide, deep, or made of many."""
    net = Network(draw.randint(0, 99))
    shape = (1, draw.randint(3, 9), draw.choice((5, 40, 300, 900)), draw.choice((1, 3, 17, 60)))
    x = net.input(shape)
    for _ in range(draw.randint(1, 3)):
        x = _layer(net, x, draw)
    return net.finish(x)


def _layer(net: Network, x: Tensor, draw: random.Random) -> Tensor:
    channels, kernel = draw.choice((1, 5, 40)), draw.choice((1, 3, 5, 7))
    which = draw.choice(("conv", "depthwise", "stride", "pool", "concat", "add", "valid"))
    if which == "conv":
        return net.convolution(x, channels, kernel)
    if which == "depthwise":
        return net.depthwise(x, kernel)
    if which == "stride":
        return net.convolution(x, channels, 3, stride=2)
    if which == "pool":
        return net.pool(x, 3, padding=SAME)
    if which == "valid" and min(x.shape[1:3]) >= 3:
        return net.convolution(x, channels, 3, padding=VALID)
    if which == "concat":
        parts = [net.unary("LOGISTIC", x) for _ in range(draw.randint(2, 9))]
        return net.concatenation(parts, draw.choice((1, 3)))
    return net.binary("ADD", x, net.unary("LOGISTIC", x))


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 12))]
)
def test_a_network_fits_where_its_smallest_tiles_do(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "network.tflite"
    path.write_bytes(_drawn(random.Random(seed)))
    size = _least_lram(path)
    assert_file_is_exact_and_clean(path, Options(hardware=f"{size}:2:coral_v1:nss_v1"))


def test_a_row_that_does_not_fit_is_refused_by_its_operator(tmp_path: Path) -> None:
    net = Network(3)
    path = tmp_path / "network.tflite"
    path.write_bytes(net.finish(net.convolution(net.input((1, 3, 4000, 64)), 8, 3)))
    with pytest.raises(ModelError, match=r"convolution 0 at conv_\d+: even the smallest tile"):
        lowered(import_model(path, hl_context()), Options())

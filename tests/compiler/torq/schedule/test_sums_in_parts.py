"""Sums whose terms do not fit into LRAM, or are more than the ALU counts, are made part by part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.compiler.torq.schedule.options import Options
from tests.compiler.graph import models
from tests.models.tflite.network import VALID, Network

from .running import assert_file_is_exact_and_clean

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")

SMALL = "28:2:coral_v1:nss_v1"
"""An NPU with 28 KiB of LRAM."""
Maker = Callable[[], bytes]


def _layer(dtype: str = "int8") -> Network:
    return Network(3, dtype)


def _dense(shape: tuple[int, ...], outputs: int, dtype: str = "int8") -> Maker:
    def make() -> bytes:
        net = _layer(dtype)
        scale, zero = (0.02, -3) if dtype == "int8" else (0.0003, 0)
        return net.finish(net.fully_connected(net.input(shape, scale, zero), outputs))

    return make


def _convolution(shape: tuple[int, ...], channels: int, kernel: int, **options: int) -> Maker:
    def make() -> bytes:
        net = _layer()
        return net.finish(net.convolution(net.input(shape), channels, kernel, **options))

    return make


LAYERS: dict[str, tuple[Maker, Options]] = {
    "more inputs than the ALU counts": (_dense((1, 70_000), 9), Options()),
    "inputs that do not fit": (_dense((2, 1_500), 70), Options(hardware=SMALL)),
    "inputs of 16 bits": (_dense((1, 2_500), 40, "int16"), Options(hardware=SMALL)),
    "in turn on one slice": (
        _dense((1, 3_000), 70),
        Options(hardware=SMALL, both_slices=False, double_buffer=False, keep=False),
    ),
    "channels that do not fit": (_convolution((1, 3, 5, 500), 5, 3), Options(hardware=SMALL)),
    "windows without padding": (
        _convolution((1, 4, 7, 400), 5, 3, padding=VALID),
        Options(hardware=SMALL),
    ),
    "windows with strides": (
        _convolution((1, 4, 8, 300), 5, 3, stride=2),
        Options(hardware=SMALL),
    ),
}
QUICK = ("more inputs than the ALU counts",)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in LAYERS]
)
def test_sums_in_parts_are_exact_and_clean(name: str, tmp_path: Path) -> None:
    path = tmp_path / "layer.tflite"
    make, options = LAYERS[name]
    path.write_bytes(make())
    program = assert_file_is_exact_and_clean(path, options)
    runs = [task for run in program.notes.slice_runs for task in run.tasks]
    assert len(runs) > 4, "sums are not made in parts"

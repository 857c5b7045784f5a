"""Quantised ONNX networks in TOSA, and by ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.compiler.graph.elements import LIMITS, Array
from assay.compiler.graph.onnx.convert import Converted, converted
from assay.compiler.graph.tosa.evaluate import evaluated
from assay.compiler.torq.hl.dialect import hl_context
from assay.reference import run_by_onnxruntime
from tests.compiler.graph import models


def taken(data: bytes, folder: Path) -> tuple[Path, Converted]:
    """The file, and the network in TOSA."""
    path = folder / "network.onnx"
    path.write_bytes(data)
    return path, converted(path, hl_context())


def random_inputs(network: Converted, seed: int = 0, spread: int = 1 << 31) -> list[Array]:
    """Integers from the range of each input's type, at most `spread` from 0."""
    random = np.random.default_rng(seed)
    made = []
    for port in network.inputs:
        low, high = LIMITS[port.dtype]
        limits = max(low, -spread), min(high, spread)
        made.append(random.integers(*limits, port.shape, endpoint=True).astype(port.dtype))
    return made


def steps_apart(data: bytes, folder: Path, spread: int = 1 << 31) -> Array:
    """How far results in TOSA and by ONNX Runtime are apart."""
    pytest.importorskip("onnxruntime")
    path, network = taken(data, folder)
    inputs = random_inputs(network, spread=spread)
    found = evaluated(models.main(network.module), inputs)
    apart = []
    for one, value in zip(found, run_by_onnxruntime(path, list(inputs)), strict=True):
        other = np.asarray(value)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert len(np.unique(one)) > 2, "too few numbers to compare"
        apart.append(np.abs(one.astype(np.int64) - other.astype(np.int64)).reshape(-1))
    return np.concatenate(apart)

"""Small editions of networks with a state, and of attention in bfloat16, on the NPU."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from assay.compiler.graph.importer import import_model
from assay.compiler.graph.tosa.evaluate import evaluated
from assay.compiler.torq.hl.dialect import hl_context
from assay.hal.observe import checking
from assay.hw.torq.check.kinds import NPU_CHECKS
from assay.sim.check import Checker
from tests.compiler.graph import models
from tests.models.mlir.bf16_attention import bf16_attention
from tests.models.tflite.recurrent import lstm, mamba

from .running import assert_file_is_exact_and_clean, lowered, results

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")


def test_an_unrolled_lstm_is_exact_and_clean(tmp_path: Path) -> None:
    path = tmp_path / "lstm.tflite"
    path.write_bytes(lstm(steps=2, inputs=8, width=16))
    assert_file_is_exact_and_clean(path)


def test_a_scan_with_a_state_of_16_bits_is_exact_and_clean(tmp_path: Path) -> None:
    path = tmp_path / "mamba.tflite"
    path.write_bytes(mamba(steps=3, width=16, states=4))
    assert_file_is_exact_and_clean(path)


@pytest.mark.parametrize(
    ("tokens", "width"), [(8, 16), pytest.param(32, 64, marks=pytest.mark.slow)]
)
def test_attention_of_bfloat16_is_clean_and_close(tokens: int, width: int, tmp_path: Path) -> None:
    """Sums are rounded once; in which order they are made, TOSA leaves open."""
    path = tmp_path / "attention.mlir"
    path.write_text(bf16_attention(tokens=tokens, width=width))
    module = import_model(path, hl_context())
    x = np.random.default_rng(0).normal(0, 1, (1, tokens, width)).astype(ml_dtypes.bfloat16)
    expected = evaluated(models.main(module), [x])
    with checking(Checker(NPU_CHECKS)) as checker:
        (found,) = results(lowered(module), [x], expected)
    assert checker.findings == ()
    one, other = (values.astype(np.float64) for values in (found, expected[0]))
    assert np.abs(other).max() > 1
    np.testing.assert_allclose(one, other, rtol=0.02, atol=0.02)

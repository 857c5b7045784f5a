"""TOSA in the spelling of another release of MLIR is read as what it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.compiler.models.spelling import respelt
from tests.compiler.graph import models

_TEXT = """func.func @main(%x: tensor<1x6x6x4xi8>) -> tensor<1x3x3x4xi8> {
  %by = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<31> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>,
      stride = array<i64: 2, 2>} : (tensor<1x6x6x4xi8>) -> tensor<1x3x3x4xi8>
  %y = tosa.rescale %0, %by, %shift, %zero, %zero {input_unsigned = false, output_unsigned = false,
      per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x3x3x4xi8>,
      tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x3x3x4xi8>
  return %y : tensor<1x3x3x4xi8>
}
"""


def test_attributes_in_braces_become_the_generic_form_and_lines_stay() -> None:
    new = respelt(_TEXT)
    assert '"tosa.max_pool2d"(%x) {kernel' in new
    assert "rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>" in new
    assert new.count("\n") == _TEXT.count("\n")
    assert respelt(new) == new


def test_text_without_braces_stays_as_it_is() -> None:
    text = "%1 = tosa.slice %0, %a, %b : (tensor<4xi8>) -> tensor<2xi8> {} func.call @f() {a = 1}"
    assert respelt(text) == text


@pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
@pytest.mark.parametrize("device", ["emulated", "torq"])
def test_a_model_in_another_spelling_runs(device: str, tmp_path: Path) -> None:
    path = tmp_path / "model.mlir"
    path.write_text(_TEXT)
    x = np.random.default_rng(1).integers(-128, 127, (1, 6, 6, 4), np.int8)
    largest = x.reshape(1, 3, 2, 3, 2, 4).max(axis=(2, 4)).astype(np.int32)
    expected = (largest + 1) >> 1
    (found,) = next(iter(assay.load(path, device=device).functions.values())).invoke([x])
    np.testing.assert_array_equal(found, expected)

"""Graphs of TOSA that went wrong once, or would have if nobody had looked."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.compiler.torq.schedule.options import Options
from tests.compiler.graph import models

from .running import assert_file_is_exact_and_clean

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")

SMALL = "64:2:coral_v1:nss_v1"
"""An NPU with 64 KiB of LRAM."""
GRAPHS = {
    "rows of several batches are gathered by both slices": """
        func.func @main(%x: tensor<3x9x2xi32>) -> tensor<3x6x2xi32> {
          %i = "tosa.const"() <{values = dense<[[3, 6, 1, 6, 4, 8], [2, 3, 0, 3, 5, 4],
            [7, 5, 0, 0, 0, 4]]> : tensor<3x6xi32>}> : () -> tensor<3x6xi32>
          %y = "tosa.gather"(%x, %i)
            : (tensor<3x9x2xi32>, tensor<3x6xi32>) -> tensor<3x6x2xi32>
          return %y : tensor<3x6x2xi32>
        }""",
    "an input is a result, behind what does nothing to it": """
        func.func @main(%x: tensor<1x5x6xi16>, %z: tensor<4xi8>)
            -> (tensor<1x5x6xi16>, tensor<4xi8>, tensor<4xi8>) {
          %a = "tosa.const_shape"() <{values = dense<0> : tensor<3xindex>}> : () -> !tosa.shape<3>
          %b = "tosa.const_shape"() <{values = dense<[1, 5, 6]> : tensor<3xindex>}>
            : () -> !tosa.shape<3>
          %y = "tosa.slice"(%x, %a, %b)
            : (tensor<1x5x6xi16>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x5x6xi16>
          %w = tosa.clamp %z {min_val = -128 : i8, max_val = 127 : i8}
            : (tensor<4xi8>) -> tensor<4xi8>
          %v = "tosa.bitwise_not"(%z) : (tensor<4xi8>) -> tensor<4xi8>
          return %y, %w, %v : tensor<1x5x6xi16>, tensor<4xi8>, tensor<4xi8>
        }""",
    "an axis is reduced that has more steps than the ALU counts": """
        func.func @main(%x: tensor<1x70001x2xi8>) -> tensor<1x1x2xi8> {
          %y = "tosa.reduce_max"(%x) <{axis = 1 : i32, nan_mode = #tosa.nan_mode<PROPAGATE>}>
            : (tensor<1x70001x2xi8>) -> tensor<1x1x2xi8>
          return %y : tensor<1x1x2xi8>
        }""",
    "the middle one of many rows is reduced": """
        func.func @main(%x: tensor<1x5x60x100xi32>) -> tensor<1x5x1x100xi32> {
          %y = "tosa.reduce_max"(%x) <{axis = 2 : i32, nan_mode = #tosa.nan_mode<PROPAGATE>}>
            : (tensor<1x5x60x100xi32>) -> tensor<1x5x1x100xi32>
          return %y : tensor<1x5x1x100xi32>
        }""",
    "an input larger than LRAM is transposed by DMA alone": """
        func.func @main(%x: tensor<1x200x220x2xi8>) -> tensor<1x2x200x220xi8> {
          %y = "tosa.transpose"(%x) <{perms = array<i32: 0, 3, 1, 2>}>
            : (tensor<1x200x220x2xi8>) -> tensor<1x2x200x220xi8>
          return %y : tensor<1x2x200x220xi8>
        }""",
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_small_graph_is_exact_and_clean_where(name: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.mlir"
    path.write_text(GRAPHS[name])
    assert_file_is_exact_and_clean(path, Options(hardware=SMALL))

"""Models of every format become modules that say where each operator comes from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.compiler.graph.importer import import_model
from assay.compiler.graph.mlir import read_module
from assay.compiler.graph.tosa import ops
from assay.compiler.graph.tosa.evaluate import evaluated
from assay.compiler.models.errors import ModelError

from . import models

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")

_INT8 = [name for name in models.LARGE if name not in ("lstm", "mamba")]
"""Large networks that IREE's CPU backend runs rightly: its sums of 48 bits are wrong."""


def test_operators_keep_the_names_of_their_tensors(folder: Path) -> None:
    function = models.main(models.imported("small", folder))
    named = [(ops.name_of(op), ops.location(op)) for op in ops.body(function).ops]
    assert ("tosa.conv2d", "conv_2") in named
    assert ("tosa.max_pool2d", "pool_5") in named


@pytest.mark.parametrize(
    "name",
    ["small", "ds_cnn", *(pytest.param(n, marks=pytest.mark.slow) for n in _INT8)],
)
def test_the_reference_equals_what_iree_computes(name: str, folder: Path) -> None:
    pytest.importorskip("iree.runtime", reason="the second opinion needs IREE's runtime")
    inputs, expected = models.reference(name, folder)
    found = models.run_by_iree(models.tflite_file(name, folder), folder, inputs)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("element", ["i48", "i1", "bf16", "f16", "f32", "i64", "i8"])
@pytest.mark.parametrize("count", [3, 300])
def test_constants_of_any_type_are_taken_whole(element: str, count: int) -> None:
    values = [i % 2 if element == "i1" else i % 100 - 50 for i in range(count)]
    is_float = element.startswith(("f", "b"))
    written = ", ".join(f"{v}.0" if is_float else str(v) for v in values)
    if element == "i1":
        written = ", ".join("true" if v else "false" for v in values)
    kind = f"tensor<{count}x{element}>"
    text = (
        f"func.func @main() -> {kind} {{ "
        f'%0 = "tosa.const"() <{{values = dense<[{written}]> : {kind}}}> : () -> {kind} '
        f"return %0 : {kind} }}"
    )
    (found,) = evaluated(models.main(read_module(text.encode(), "text")), [])
    assert found.astype(np.int64).tolist() == values


def test_a_constant_that_is_one_number_everywhere_takes_no_space() -> None:
    text = (
        "func.func @main() -> tensor<512x512xi8> { "
        '%0 = "tosa.const"() <{values = dense<7> : tensor<512x512xi8>}> : () -> tensor<512x512xi8> '
        "return %0 : tensor<512x512xi8> }"
    )
    (found,) = evaluated(models.main(read_module(text.encode(), "text")), [])
    assert found.shape == (512, 512) and found.strides == (0, 0) and found.flat[5] == 7


def test_text_that_is_no_mlir_is_refused_with_the_place(tmp_path: Path) -> None:
    path = tmp_path / "model.mlir"
    path.write_text("func.func @main( {")
    with pytest.raises(ModelError, match=r"MLIR can read:\n.*\.mlir:\d+:\d+: "):
        import_model(path)

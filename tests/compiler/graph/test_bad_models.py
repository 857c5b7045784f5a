"""Models that cannot be compiled are refused by tensor and operator, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.compiler.graph.errors import GraphRefused
from assay.compiler.graph.importer import import_model
from assay.compiler.models.errors import ModelError
from assay.compiler.torq.passes.load import load
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.npu import compile_executable
from tests.models.tflite.small import int8_cnn
from tests.models.tflite.writer import Writer

from . import models

_ABS, _NONE = (number.to_bytes(4, "little") for number in (101, 9999))
"""Numbers of operators: one that is known, and one that is not."""


def _model(
    dtype: str,
    operator: str,
    *,
    scales: tuple[float, ...] = (0.1,),
    signature: tuple[int, ...] = (),
) -> bytes:
    writer = Writer()
    x, y = (
        writer.tensor(name, (1, 8), dtype, scales=scales, signature=signature)
        for name in ("first", "second")
    )
    writer.operator(operator, [x], [y], custom="Mine" if operator == "CUSTOM" else "")
    return writer.finish([x], [y])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (_model("int8", "CUSTOM"), "CUSTOM Mine at second: operators of others are not known"),
        (_model("int8", "ABS", signature=(-1, 8)), r"tensor first: its shape \(\?, 8\) must be"),
        (_model("int8", "LOGISTIC", scales=()), "LOGISTIC at second: tensor first is INT8 without"),
        (_model("int8", "ADD"), "ADD at second: its options are missing"),
        (
            _model("int8", "ABS").replace(_ABS, _NONE),
            "operator 9999 at second: TFLite has no operator",
        ),
        (int8_cnn()[:900], "it is cut short or damaged"),
        (int8_cnn()[:40], "it is cut short or damaged"),
        (int8_cnn()[:8] + bytes(200), "(no subgraph|cut short)"),
    ],
)
def test_a_bad_file_is_refused_before_it_is_converted(
    data: bytes, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.tflite"
    path.write_bytes(data)
    with pytest.raises(GraphRefused, match=reason):
        import_model(path)


def test_every_prefix_of_a_file_is_refused_plainly(tmp_path: Path) -> None:
    data, path = int8_cnn(), tmp_path / "bad.tflite"
    for end in range(8, len(data) - 64, 97):
        path.write_bytes(data[:end])
        with pytest.raises(ModelError):
            import_model(path)


@pytest.mark.skipif(not models.IMPORTABLE, reason="IREE is missing")
def test_unknown_operators_are_named_all_at_once(tmp_path: Path) -> None:
    path = tmp_path / "unknown.mlir"
    path.write_text(
        "func.func @main(%a: tensor<4xi8>) -> tensor<4xi8> {\n"
        '  %0 = "mine.first"(%a) : (tensor<4xi8>) -> tensor<4xi8>\n'
        '  %1 = "mine.second"(%0) : (tensor<4xi8>) -> tensor<4xi8>\n'
        "  return %1 : tensor<4xi8>\n}"
    )
    with pytest.raises(GraphRefused) as refused:
        run_passes(load(path), usual_passes(), source=str(path))
    assert str(refused.value).startswith(f"{path}: ")
    assert "mine.second at line 3, column 8: " in str(refused.value)
    assert [problem.operator for problem in refused.value.problems] == ["mine.first", "mine.second"]


@pytest.mark.skipif(not models.IMPORTABLE, reason="IREE is missing")
def test_operators_and_inputs_of_all_kinds_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(
        "func.func @main(%a: tensor<4xf32>, %b: tensor<4xi64>, %c: tensor<4xi8>)\n"
        "    -> tensor<4xf32> {\n"
        "  %0 = tosa.sin %a : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  %1 = tosa.exp %a : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  %2 = tosa.add %b, %b : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>\n"
        '  %3 = "mine.own"(%c) : (tensor<4xi8>) -> tensor<4xf32>\n'
        "  return %3 : tensor<4xf32>\n}"
    )
    with pytest.raises(GraphRefused) as refused:
        compile_executable(path)
    assert str(refused.value).startswith(f"{path}: ")
    told = {problem.where: problem.reason for problem in refused.value.problems}
    assert told == {
        "input 1 of the function, tensor<4xi64>": "the NPU has no numbers of int64",
        "line 3, column 8": "the NPU does not compute with float32",
        "line 4, column 8": "the NPU does not compute with float32",
        "line 5, column 8": "the NPU does not compute with int64",
        "line 6, column 8": "the NPU's compiler does not know this operator",
    }


@pytest.mark.skipif(not models.IMPORTABLE, reason="IREE is missing")
@pytest.mark.parametrize("element", ["f16", "f64", "i64"])
def test_types_that_the_npu_lacks_are_refused_of_inputs(element: str, tmp_path: Path) -> None:
    path, kind = tmp_path / "bad.mlir", f"tensor<4x{element}>"
    path.write_text(f"func.func @main(%a: {kind}) -> {kind} {{ return %a : {kind} }}")
    with pytest.raises(GraphRefused, match=rf"input 0 of the function, {kind}: the NPU has no"):
        compile_executable(path)


@pytest.mark.skipif(not models.IMPORTABLE, reason="IREE is missing")
def test_types_that_the_npu_lacks_are_refused_of_results(tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(
        "func.func @main(%a: tensor<4xf32>) -> tensor<4xf16> {\n"
        "  %0 = tosa.cast %a : (tensor<4xf32>) -> tensor<4xf16>\n"
        "  return %0 : tensor<4xf16>\n}"
    )
    with pytest.raises(GraphRefused, match=r"tosa.cast at line 2, column 8: "):
        compile_executable(path)


_TENSOR = "tensor<4xi8>"
_BRANCH = f"cf.br ^next ^next: return %a : {_TENSOR}"


@pytest.mark.skipif(not models.IMPORTABLE, reason="IREE is missing")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("module {}", "the module: the model has 0 functions; one is possible"),
        (f"func.func @a(%a: {_TENSOR}) {{ return }}", "function a: it returns nothing"),
        (
            f"func.func @b(%a: {_TENSOR}) -> {_TENSOR} {{ {_BRANCH} }}",
            "function b: it branches between 2 blocks",
        ),
    ],
)
def test_what_is_no_graph_is_refused_with_its_file(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(text)
    with pytest.raises(GraphRefused) as refused:
        compile_executable(path)
    assert str(refused.value).startswith(f"{path}: ") and reason in str(refused.value)


@pytest.mark.skipif(not models.IMPORTABLE, reason="IREE is missing")
@pytest.mark.parametrize("shift", [-1, 72])
def test_shifts_that_cannot_be_are_refused_by_operator(shift: int, tmp_path: Path) -> None:
    constants = {
        "by": ("1xi32", 5),
        "shift": ("1xi8", shift),
        "from": ("1xi32", 0),
        "to": ("1xi8", 0),
    }
    lines = [
        f'%{name} = "tosa.const"() <{{values = dense<{value}> : tensor<{kind}>}}> '
        f": () -> tensor<{kind}>"
        for name, (kind, value) in constants.items()
    ]
    path = tmp_path / "bad.mlir"
    path.write_text(
        "func.func @main(%x: tensor<4xi32>) -> tensor<4xi8> {\n  " + "\n  ".join(lines) + "\n"
        '  %y = "tosa.rescale"(%x, %by, %shift, %from, %to) <{input_unsigned = false, '
        "output_unsigned = false, per_channel = false, scale32 = true, "
        "rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>}> : (tensor<4xi32>, tensor<1xi32>, "
        "tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<4xi8>\n"
        "  return %y : tensor<4xi8>\n}"
    )
    with pytest.raises(GraphRefused, match=rf"tosa.rescale at line 6, .*shifts from {shift}"):
        compile_executable(path)


@pytest.mark.skipif(not models.IMPORTABLE, reason="IREE is missing")
@pytest.mark.parametrize("stride", [0, -1])
def test_slices_that_stand_still_or_go_back_are_refused(stride: int, tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(
        "func.func @main(%x: tensor<8xi8>) -> tensor<3xi8> {\n"
        f"  %y = tensor.extract_slice %x[2][3][{stride}] : tensor<8xi8> to tensor<3xi8>\n"
        "  return %y : tensor<3xi8>\n}"
    )
    message = f"tensor.extract_slice at line 2, column 8: offset 2 with stride {stride}"
    with pytest.raises(GraphRefused, match=message):
        compile_executable(path)


@pytest.mark.skipif(not models.IMPORTABLE, reason="IREE is missing")
def test_a_shape_that_is_not_known_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dynamic.mlir"
    path.write_text(
        "func.func @main(%a: tensor<?xi8>) -> tensor<?xi8> { return %a : tensor<?xi8> }"
    )
    with pytest.raises(GraphRefused, match="type or shape is not known"):
        run_passes(load(path), usual_passes())

"""Models in MLIR and TFLite as graphs: an operator for each operation, constants, sizes."""

import subprocess
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from assay.compiler.graph.errors import GraphRefused
from assay.compiler.graph.symbolic.dims import Element, Named
from assay.compiler.graph.symbolic.graph import Forward, Graph, Operator
from assay.compiler.graph.symbolic.mlir_model import MlirModel
from assay.compiler.models import ModelError, tools
from tests.models.tflite.small import int8_cnn
from tests.models.zoo import MLIR

DENSE = """
module {
  func.func private @activation(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %y = stablehlo.tanh %x : tensor<?x3xf32> loc("activated")
    return %y : tensor<?x3xf32>
  }
  func.func @main(%x: tensor<?x4xf32>) -> tensor<?x3xf32> {
    %w = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0],
                                   [1.5, 2.5, 3.5]]> : tensor<4x3xf32>
    %y = stablehlo.dot %x, %w : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
    %z = func.call @activation(%y) : (tensor<?x3xf32>) -> tensor<?x3xf32>
    %c = stablehlo.concatenate %z, %z, dim = 0
      : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    return %c : tensor<?x3xf32>
  }
}
"""
VIEWS = """
func.func @main(%x: tensor<4x6xf32>) -> (tensor<12xf32>, tensor<4x2xf32>, tensor<4x6xf32>) {
  %rows = stablehlo.slice %x [1:3, 0:6] : (tensor<4x6xf32>) -> tensor<2x6xf32>
  %flat = stablehlo.reshape %rows : (tensor<2x6xf32>) -> tensor<12xf32>
  %columns = stablehlo.slice %x [0:4, 1:3] : (tensor<4x6xf32>) -> tensor<4x2xf32>
  return %flat, %columns, %x : tensor<12xf32>, tensor<4x2xf32>, tensor<4x6xf32>
}
"""
COMPUTED = """
func.func @main(%n: tensor<2xi32>) -> tensor<?x?xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %m = stablehlo.multiply %n, %n : tensor<2xi32>
  %r = stablehlo.dynamic_broadcast_in_dim %one, %m, dims = []
    : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""
WIDE = """
func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  %a = stablehlo.convert %x : (tensor<6xf32>) -> tensor<6xf64>
  %b = stablehlo.reverse %a, dims = [0] : tensor<6xf64>
  %c = stablehlo.convert %b : (tensor<6xf64>) -> tensor<6xf32>
  return %c : tensor<6xf32>
}
"""
SORTED = """
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %t = stablehlo.tanh %x : tensor<?xf32>
  %s = "stablehlo.sort"(%t) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
  }) : (tensor<?xf32>) -> tensor<?xf32>
  return %s, %t : tensor<?xf32>, tensor<?xf32>
}
"""


def read(folder: Path, text: str) -> MlirModel:
    (folder / "model.mlir").write_text(text)
    return MlirModel(folder / "model.mlir")


def graph(folder: Path, text: str) -> Graph:
    model = read(folder, text)
    return model.graph(model.declared())


def kinds(made: Graph) -> list[str]:
    return [
        step.operator if isinstance(step, Forward) else step.node.op_type for step in made.steps
    ]


def test_each_operation_is_an_operator_and_constants_are_constants(tmp_path: Path) -> None:
    made = graph(tmp_path, DENSE)
    assert kinds(made) == ["stablehlo.dot", "stablehlo.tanh", "stablehlo.concatenate"]
    names = [step.name for step in made.steps]
    assert names == ["dot_1", "activated", "concatenate_3"]  # by location, else by place
    (name,) = made.constants
    assert made.constants[name].shape == (4, 3) and made.constants[name][3, 2] == 3.5
    (first, *_) = made.steps
    assert isinstance(first, Operator) and first.inputs == ("input0", name)


def test_sizes_are_expressions_of_those_of_inputs(tmp_path: Path) -> None:
    model = read(tmp_path, DENSE)
    made = model.graph(model.declared())
    assert made.tensors["activated"].dims == (Named("input0_0"), 3)
    assert str(made.tensors["output0"].dims[0]) == "(input0_0 + input0_0)"
    fixed = model.graph({"input0": (5, 4)})
    assert fixed.tensors["output0"].dims == (10, 3)


def test_bytecode_is_the_same_graph_as_text(tmp_path: Path) -> None:
    made = graph(tmp_path, DENSE)
    tool = Path(tools.iree_compile()[0]).with_name("iree-opt")
    command = [tool, "model.mlir", "--emit-bytecode", "-o", "model.mlirbc"]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    model = MlirModel(tmp_path / "model.mlirbc")
    again = model.graph(model.declared())
    assert kinds(again) == kinds(made) and again.tensors.keys() == made.tensors.keys()


def test_reshapes_and_slices_that_lie_together_move_nothing(tmp_path: Path) -> None:
    made = graph(tmp_path, VIEWS)
    rows, flat, columns, whole = made.steps
    assert isinstance(rows, Forward) and (rows.source, rows.offset) == ("input0", 6)
    assert isinstance(flat, Forward) and (flat.target, flat.offset) == ("output0", 0)
    assert isinstance(columns, Operator)
    assert isinstance(whole, Forward) and (whole.source, whole.target) == ("input0", "output2")


def test_tflite_operators_have_the_names_of_their_tensors(tmp_path: Path) -> None:
    (tmp_path / "cnn.tflite").write_bytes(int8_cnn())
    model = MlirModel(tmp_path / "cnn.tflite")
    made = model.graph(model.declared())
    assert [step.name for step in made.steps][:3] == ["conv_2/conv2d", "conv_2", "pool_5"]
    assert made.outputs == ("dense_8",) and [each.name for each in made.inputs] == ["input_1"]
    assert all(array.dtype in (np.int8, np.int32) for array in made.constants.values())


def test_a_reshaped_constant_is_a_constant(tmp_path: Path) -> None:
    (tmp_path / "cnn.tflite").write_bytes(int8_cnn())
    model = MlirModel(tmp_path / "cnn.tflite")
    made = model.graph(model.declared())
    assert (10, 1, 1, 128) in [array.shape for array in made.constants.values()]


def test_elements_on_which_shapes_depend_are_read(tmp_path: Path) -> None:
    made = graph(tmp_path, COMPUTED)
    (multiplied,) = made.reads
    assert made.tensors["output0"].dims == (Element(multiplied, 0), Element(multiplied, 1))


def test_what_goes_over_types_that_no_module_has_is_one_operator(tmp_path: Path) -> None:
    (step,) = graph(tmp_path, WIDE).steps
    assert isinstance(step, Operator)
    assert step.node.op_type == "stablehlo.convert+stablehlo.reverse+stablehlo.convert"
    assert (step.inputs, step.outputs) == (("input0",), ("output0",))


def test_what_is_written_over_is_a_copy(tmp_path: Path) -> None:
    made = graph(tmp_path, SORTED)
    assert kinds(made) == ["stablehlo.tanh", "copy", "stablehlo.sort"]
    copy, sort = made.steps[1:]
    assert isinstance(copy, Operator) and isinstance(sort, Operator)
    assert copy.inputs == ("output1",) and sort.inputs == copy.outputs
    assert made.tensors[copy.outputs[0]].dims == (Named("input0_0"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("func.func @main(%x: tensor<4xf32>) { return }\n func.func @b() { return }", "2 public"),
        (
            "func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> { return %x : tensor<4xf64> }",
            "f64",
        ),
        (
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %y : tensor<4xf32> }",
            "SSA",
        ),
        (
            "func.func @main(%x: tensor<f32>, %p: i1) -> tensor<f32> { return %x : tensor<f32> }",
            "i1, which is no tensor",
        ),
        (
            "func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {\n"
            "  %b = tensor.extract %p[] : tensor<i1>\n  cf.cond_br %b, ^a, ^b\n^a:\n"
            "  return %x : tensor<f32>\n^b:\n  %y = stablehlo.tanh %x : tensor<f32>\n"
            "  return %y : tensor<f32> }",
            "branches between 3 blocks",
        ),
        ("func.func @main(", "not a module that MLIR can read"),
        ("\x00\x01", "not a module that MLIR can read"),
    ],
)
def test_what_cannot_be_a_graph_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=said):
        read(tmp_path, text)


def test_what_the_parser_of_mlir_dies_of_is_refused(tmp_path: Path) -> None:
    text = """
func.func @main(%x: tensor<8xi32>) -> tensor<4x8xi32> {
  %e = tensor.empty() : tensor<4x8xi32>
  %y = linalg.broadcast ins(%x : tensor<8xi32>) outs(%e : tensor<4x8xi32>) dimensions = [0, 1,x 2]
  return %y : tensor<4x8xi32>
}
"""
    with pytest.raises(ModelError, match=r"model\.mlir: "):
        read(tmp_path, text)


@pytest.mark.slow
def test_damaged_models_are_read_or_refused(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    for _ in range(300):
        text = bytearray([VIEWS, SORTED, WIDE, DENSE][random.integers(4)].encode())
        for _ in range(random.integers(1, 3)):
            text[random.integers(len(text))] = random.integers(32, 127)
        with suppress(ModelError):
            graph(tmp_path, text.decode())


def test_an_operation_without_results_is_named(tmp_path: Path) -> None:
    text = """
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %b = tensor.extract %p[] : tensor<i1>
  cf.assert %b, "it must hold" loc("guard")
  return %x : tensor<4xf32>
}
"""
    with pytest.raises(GraphRefused, match=r"cf\.assert at guard: it gives nothing"):
        read(tmp_path, text)


def test_elements_that_are_computed_on_the_way_are_read_where_they_are_made(tmp_path: Path) -> None:
    text = """
func.func @main(%x: tensor<64xi32>) -> tensor<?xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %s = stablehlo.slice %x [3:4] : (tensor<64xi32>) -> tensor<1xi32>
  %w = stablehlo.convert %s : (tensor<1xi32>) -> tensor<1xf32>
  %v = stablehlo.convert %w : (tensor<1xf32>) -> tensor<1xi32>
  %r = stablehlo.dynamic_broadcast_in_dim %one, %v, dims = []
    : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""
    made = graph(tmp_path, text)
    (read_one,) = made.reads
    assert [step.name for step in made.steps if read_one in getattr(step, "outputs", ())]


def test_a_size_may_be_an_element_of_a_large_input(tmp_path: Path) -> None:
    text = """
func.func @main(%x: tensor<64xi64>) -> tensor<?xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %i = arith.constant 5 : index
  %n = tensor.extract %x[%i] : tensor<64xi64>
  %d = arith.index_cast %n : i64 to index
  %e = tensor.empty(%d) : tensor<?xf32>
  %z = arith.constant 1.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %m = math.tanh %f : tensor<?xf32> loc("squash")
  return %m : tensor<?xf32>
}
"""
    made = graph(tmp_path, text)
    assert made.reads == ("input0",)


def test_an_operator_whose_shape_cannot_be_told_is_named(tmp_path: Path) -> None:
    text = """
func.func @main(%x: tensor<f32>) -> tensor<?xf32> {
  %v = tensor.extract %x[] : tensor<f32>
  %n = arith.fptosi %v : f32 to i64
  %d = arith.index_cast %n : i64 to index
  %e = tensor.empty(%d) : tensor<?xf32>
  %z = arith.constant 1.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %m = math.tanh %f : tensor<?xf32> loc("squash")
  return %m : tensor<?xf32>
}
"""
    with pytest.raises(
        GraphRefused, match=r"math\.tanh at squash: .*a size comes from arith.fptosi"
    ):
        read(tmp_path, text)


def test_what_is_outside_of_the_function_is_named() -> None:
    with pytest.raises(
        GraphRefused, match=r"util\.global\.load at operation 0: it is about @total"
    ):
        MlirModel(MLIR / "globals.mlir")


def test_public_functions_may_say_so(tmp_path: Path) -> None:
    assert graph(tmp_path, DENSE.replace("func.func @main", "func.func public @main")).steps
